"""Labelled facts that show a reviewer what a relation means."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from unnoted.data.document import Document, Fact, Mention

EXAMPLES_PER_RELATION = 3
"""Two are shown; the third takes the place of one from the document that is looked at."""

READABLE = range(5, 41)
"""How many words a sentence has that is worth showing."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled fact in a sentence.

    Attributes:
        document: the document's id.
        head_name: what the head is called.
        tail_name: what the tail is called.
        words: the sentence; each word with `head`, `tail` or nothing beside it.
    """

    document: str
    head_name: str
    tail_name: str
    words: tuple[tuple[str, str], ...]


def examples_of(documents: Iterable[Document]) -> dict[str, list[Example]]:
    """A few examples of each relation, best first, each from another document where there are enough.

    The best is the shortest sentence worth showing that names both head and tail.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> found = examples_of(generate_documents(5))
        >>> best = next(iter(found.values()))[0]
        >>> {mark for _, mark in best.words} == {"", "head", "tail"}
        True
    """
    best: dict[str, dict[str, tuple[int, Example]]] = defaultdict(dict)
    for document in documents:
        for fact in document.facts:
            if (found := _shown(document, fact)) is None:
                continue
            of_relation = best[fact.relation]
            if document.id not in of_relation or found[0] < of_relation[document.id][0]:
                of_relation[document.id] = found
            if len(of_relation) > EXAMPLES_PER_RELATION:
                del of_relation[max(of_relation, key=lambda name: of_relation[name][0])]
    return {
        relation: [example for _, example in sorted(rated.values(), key=lambda each: each[0])]
        for relation, rated in best.items()
    }


def _shown(document: Document, fact: Fact) -> tuple[int, Example] | None:
    """How badly a fact shows in its best sentence, and that sentence."""
    head, tail = document.entities[fact.head], document.entities[fact.tail]
    rated = [
        (_badness(len(document.sentences[one.sentence])), one, other)
        for one, other in product(head.mentions, tail.mentions)
        if one.sentence == other.sentence and (one.end <= other.start or other.end <= one.start)
    ]
    if not rated:
        return None
    badness, one, other = min(rated, key=lambda each: each[0])
    words = tuple(_marked(document.sentences[one.sentence], one, other))
    return badness, Example(document.id, head.name, tail.name, words)


def _badness(words: int) -> int:
    return words if words in READABLE else 1000 + words


def _marked(sentence: Iterable[str], head: Mention, tail: Mention) -> Iterator[tuple[str, str]]:
    for position, word in enumerate(sentence):
        is_head, is_tail = (each.start <= position < each.end for each in (head, tail))
        yield word, "head" if is_head else "tail" if is_tail else ""
