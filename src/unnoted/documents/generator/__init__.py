"""A generated corpus whose complete truth is known, for demonstrations, tests and load tests.

A document is a small random world (`world`), told in sentences (`plan`, `writer`) made of a few hundred
words (`templates`) and invented names (`names`). Its facts are everything that is stated, and everything
that follows (`relations`, `closure`). Some hold only across sentences, some only by combining two others;
`distractors` mention entities without relating them, or deny a relation.
"""

from collections.abc import Iterator
from random import Random

from unnoted.documents.generator.relations import RELATIONS, Relation, relation_names
from unnoted.documents.generator.render import render_document
from unnoted.documents.generator.world import World
from unnoted.documents.schema import Document

__all__ = ["RELATIONS", "Relation", "generate_document", "generate_documents", "relation_names"]


def document_random(index: int, seed: int) -> Random:
    """The source of everything random in one document."""
    # A string seed is hashed with SHA-512: the same in every process and on every machine.
    return Random(f"unnoted {seed} {index}")


def generate_document(index: int, seed: int = 0) -> Document:
    """One document with its complete truth. It depends on the seed and the index, and nothing else.

    Example:
        >>> document = generate_document(7, seed=1)
        >>> document.id, document == generate_document(7, seed=1), document == generate_document(7, seed=2)
        ('generated-1-7', True, False)
    """
    if index < 0:
        raise ValueError(f"index: found {index}, expected 0 or more")
    random = document_random(index, seed)
    return render_document(f"generated-{seed}-{index}", World(random), random)


def generate_documents(documents: int, seed: int = 0, start: int = 0) -> Iterator[Document]:
    """Stream documents with their complete truth.

    Args:
        documents: how many.
        seed: which corpus; any integer.
        start: the index of the first, so that a corpus can be made in parts.

    Example:
        >>> [document.id for document in generate_documents(2, seed=3, start=5)]
        ['generated-3-5', 'generated-3-6']
    """
    if documents < 0:
        raise ValueError(f"documents: found {documents}, expected 0 or more")
    if start < 0:
        raise ValueError(f"start: found {start}, expected 0 or more")
    return (generate_document(index, seed) for index in range(start, start + documents))
