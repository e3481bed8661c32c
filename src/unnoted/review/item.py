"""One fact as a reviewer sees it: in its document, with examples of its relation."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document, Fact, Mention, Triple
from unnoted.data.visualization import FactGroup, FactRow, FactTable, render_document
from unnoted.review.queue import rank_column
from unnoted.suggestions import Order

if TYPE_CHECKING:
    from unnoted.review.store import ReviewStore

EXAMPLES_SHOWN = 2
EXAMPLES_PER_RELATION = 3
"""Two are shown; the third takes the place of one from the document that is looked at."""
READABLE = range(5, 41)
"""How many words a sentence has that is worth showing."""


def show_item(
    store: "ReviewStore", item: int, names: Mapping[str, str], types: Sequence[str]
) -> dict[str, Any]:
    """Everything about one fact, as JSON.

    Args:
        store: the review.
        item: the fact's number.
        names: readable names of the relations.
        types: all types of entities, in the order of their colours.

    Raises:
        LookupError: there is no such fact.
    """
    rows = store.query("SELECT * FROM items WHERE id = ?", (item,))
    if not rows:
        raise LookupError("There is no such suggestion.")
    row = rows[0]
    document = store.document(row["document"])
    pair = row["head"], row["tail"]
    evidence = tuple(json.loads(row["evidence"])) or _label_evidence(document, (*pair, row["relation"]))
    facts = _known_facts(store, document)
    text = render_document(document, facts, names=names, highlighted=pair, evidence=evidence, types=types)
    return {
        "id": item,
        "document": document.id,
        "head": row["head"],
        "tail": row["tail"],
        "relation": row["relation"],
        "score": row["score"],
        "rule": row["rule"],
        "labelled": bool(row["labelled"]),
        "proposed": bool(row["proposed"]),
        "state": row["state"],
        "evidence": evidence,
        "ranks": {order.value: row[rank_column(order)] for order in Order},
        "text": str(text),
        "facts": [[fact.head, fact.tail, fact.relation] for fact in facts.rows()],
        "entities": [{"name": entity.name, "type": entity.type} for entity in document.entities],
        "decisions": store.decisions_of(item),
        "examples": _examples(store, row["relation"], document.id),
    }


def usual_relations(store: "ReviewStore", head_type: str, tail_type: str) -> list[str]:
    """Relations that are labelled between two types of entities, the most frequent first."""
    rows = store.query(
        """SELECT relation FROM type_pairs WHERE head_type = ? AND tail_type = ?
           ORDER BY labelled DESC, relation""",
        (head_type, tail_type),
    )
    return [row["relation"] for row in rows]


def _label_evidence(document: Document, triple: Triple) -> tuple[int, ...]:
    return next((fact.evidence for fact in document.facts if fact.triple == triple), ())


def _known_facts(store: "ReviewStore", document: Document) -> FactTable:
    """The labelled facts without those that reviewers reject, and the facts that they accept."""
    rows = store.query(
        "SELECT head, tail, relation, evidence, state FROM items WHERE document = ? AND state != 'open'",
        (document.id,),
    )
    states = {(row["head"], row["tail"], row["relation"]): row["state"] for row in rows}
    labelled = [fact for fact in document.facts if states.get(fact.triple) != "rejected"]
    known = document.labels
    accepted = [
        Fact(row["head"], row["tail"], row["relation"], tuple(json.loads(row["evidence"])))
        for row in rows
        if row["state"] == "accepted" and (row["head"], row["tail"], row["relation"]) not in known
    ]
    groups = (FactGroup(_rows(labelled), "Labelled"), FactGroup(_rows(accepted), "Accepted here", "✓"))
    return FactTable(tuple(group for group in groups if group.rows))


def _rows(facts: Sequence[Fact]) -> tuple[FactRow, ...]:
    return tuple(FactRow(fact.head, fact.tail, fact.relation, fact.evidence) for fact in facts)


def _examples(store: "ReviewStore", relation: str, document: str) -> list[dict[str, Any]]:
    """Labelled facts of the relation; from other documents if there are enough."""
    rows = store.query(
        """SELECT document, head_name, tail_name, words FROM examples WHERE relation = ?
           ORDER BY document = ?, position LIMIT ?""",
        (relation, document, EXAMPLES_SHOWN),
    )
    return [dict(row) | {"words": json.loads(row["words"])} for row in rows]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled fact in a sentence.

    Attributes:
        document: the document's id.
        head_name: the head's name.
        tail_name: the tail's name.
        words: the sentence; each word with `head`, `tail` or nothing beside it.
    """

    document: str
    head_name: str
    tail_name: str
    words: tuple[tuple[str, str], ...]


def find_examples(documents: Iterable[Document]) -> dict[str, list[Example]]:
    """A few examples of each relation, best first, each from another document where there are enough.

    The best is the shortest readable sentence that names both head and tail.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> found = find_examples(generate_documents(5))
        >>> best = next(iter(found.values()))[0]
        >>> {mark for _, mark in best.words} == {"", "head", "tail"}
        True
    """
    best: dict[str, dict[str, tuple[int, Example]]] = defaultdict(dict)
    for document in documents:
        for fact in document.facts:
            if (rated := _rate(document, fact)) is None:
                continue
            of_relation = best[fact.relation]
            if document.id not in of_relation or rated[0] < of_relation[document.id][0]:
                of_relation[document.id] = rated
            if len(of_relation) > EXAMPLES_PER_RELATION:
                del of_relation[max(of_relation, key=lambda name: of_relation[name][0])]
    return {
        relation: [example for _, example in sorted(rated.values(), key=lambda each: each[0])]
        for relation, rated in best.items()
    }


def _rate(document: Document, fact: Fact) -> tuple[int, Example] | None:
    """A fact in its best sentence, and how many words that has; many more if it is not readable."""
    head, tail = document.entities[fact.head], document.entities[fact.tail]
    rated = []
    for one, other in product(head.mentions, tail.mentions):
        if one.sentence == other.sentence and (one.end <= other.start or other.end <= one.start):
            words = len(document.sentences[one.sentence])
            rated.append((words if words in READABLE else 1000 + words, one, other))
    if not rated:
        return None
    rating, one, other = min(rated, key=lambda each: each[0])
    marked = tuple(_mark(document.sentences[one.sentence], one, other))
    return rating, Example(document.id, head.name, tail.name, marked)


def _mark(sentence: Iterable[str], head: Mention, tail: Mention) -> Iterator[tuple[str, str]]:
    for position, word in enumerate(sentence):
        is_head, is_tail = (each.start <= position < each.end for each in (head, tail))
        yield word, "head" if is_head else "tail" if is_tail else ""
