"""A generated corpus whose complete truth is known, for demonstrations, tests and load tests.

A document is a small random world (`world`), told in sentences (`sentences`, `writer`) made of a few hundred
words and invented names (`vocabulary.yaml`). Its facts are everything that is stated, and everything that
follows (`closure`). Some hold only across sentences, some only by combining two others; some sentences
mention entities without relating them, or deny a relation.
"""

from collections.abc import Iterator
from functools import cache

from unnoted.data.document import Document, Entity, Fact
from unnoted.data.synthetic.dice import Dice
from unnoted.data.synthetic.sentences import plan_sentences
from unnoted.data.synthetic.vocabulary import RELATION_IDS, RELATIONS
from unnoted.data.synthetic.world import World
from unnoted.data.synthetic.writer import Writer

__all__ = ["RELATIONS", "generate_document", "generate_documents", "relation_names"]


def relation_names() -> dict[str, str]:
    """The vocabulary as people read it: id to name.

    Example:
        >>> relation_names()["born_in"], len(relation_names())
        ('place of birth', 28)
    """
    return {key: relation.name for key, relation in RELATIONS.items()}


def generate_document(index: int, seed: int = 0) -> Document:
    """One document with its complete truth. It depends on the seed and the index, and nothing else.

    Example:
        >>> document = generate_document(7, seed=1)
        >>> document.id, document == generate_document(7, seed=1), document == generate_document(7, seed=2)
        ('generated-1-7', True, False)
    """
    _check("index", index)
    dice = document_dice(index, seed)
    world = World(dice)
    plans = plan_sentences(world, dice)
    writer = Writer(world.characters, dice)
    sentences_of: dict[int, int] = {}
    for plan in plans:
        sentences_of |= dict.fromkeys(plan.statements, writer.write(plan))
    evidence = {mask: _evidence(mask, sentences_of) for mask in set(world.truth.values())}
    # Sorted, so that the order does not tell stated facts from derived ones.
    facts = [
        Fact(fact[1], fact[2], RELATION_IDS[fact[0]], evidence[world.truth[fact]])
        for fact in sorted(world.truth)
    ]
    entities = tuple([Entity(tuple(mentions)) for mentions in writer.mentions])
    return Document(f"generated-{seed}-{index}", tuple(writer.sentences), entities, tuple(facts))


def document_dice(index: int, seed: int) -> Dice:
    """The source of everything random in one document."""
    return Dice(f"unnoted {seed} {index}")


@cache  # with so few statements and sentences, the same masks come again and again
def _bits(mask: int) -> tuple[int, ...]:
    """The positions of the set bits of a mask."""
    return tuple(position for position in range(mask.bit_length()) if mask >> position & 1)


def _evidence(provenance: int, sentences_of: dict[int, int]) -> tuple[int, ...]:
    """The sentences in which the statements stand that a fact rests on."""
    sentences = 0
    for statement in _bits(provenance):
        sentences |= sentences_of[statement]
    return _bits(sentences)


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
    _check("documents", documents)
    _check("start", start)
    return (generate_document(index, seed) for index in range(start, start + documents))


def _check(name: str, number: int) -> None:
    if number < 0:
        raise ValueError(f"{name}: found {number}, expected 0 or more")
