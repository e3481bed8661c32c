"""One fact as a reviewer sees it: in its document, with examples of its relation."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document, Entity, Fact, Mention, Triple
from unnoted.data.entity_clustering import likely_duplicates
from unnoted.data.visualization import FactGroup, FactRow, FactTable, render_document
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
    same_as, read = store.same_as(row["document"]), store.document(row["document"])
    document = _merged(read, same_as)
    pair = same_as[row["head"]], same_as[row["tail"]]
    evidence = tuple(json.loads(row["evidence"]))
    for fact in document.facts:
        if fact.triple == (*pair, row["relation"]):
            evidence = evidence or fact.evidence
    facts = _known_facts(store, document, same_as)
    # From other documents, if there are enough.
    examples = store.query(
        """SELECT document, head_name, tail_name, head_type, tail_type, words FROM examples WHERE relation = ?
           ORDER BY document = ?, position LIMIT ?""",
        (row["relation"], document.id, EXAMPLES_SHOWN),
    )
    text = render_document(document, facts, names=names, highlighted=pair, evidence=evidence, types=types)
    columns = ("id", "document", "relation", "score", "rule", "state")
    alike = {(same_as[one], same_as[other]) for one, other in likely_duplicates(read.entities)}
    return {
        **{name: row[name] for name in columns},
        "head": pair[0],
        "tail": pair[1],
        "labelled": bool(row["labelled"]),
        "proposed": bool(row["proposed"]),
        "evidence": evidence,
        "ranks": {order.value: row[f"by_{order.value}"] for order in Order},
        "text": str(text),
        "facts": [[fact.head, fact.tail, fact.relation] for fact in facts.rows],
        "entities": [
            {"name": entity.name, "type": entity.type, "same_as": first}
            for entity, first in zip(read.entities, same_as, strict=True)
        ],
        "alike": sorted(each for each in alike if each[0] != each[1] and not set(each).isdisjoint(pair)),
        "decisions": store.decisions_of(item),
        "examples": [dict(each) | {"words": json.loads(each["words"])} for each in examples],
    }


def _merged(document: Document, same_as: Sequence[int]) -> Document:
    """The document as it is shown: an entity that is another one has no mentions, and each fact is there once.

    Entities keep their numbers, by which everybody who looks at the document refers to them.
    """
    mentions: defaultdict[int, list[Mention]] = defaultdict(list)
    facts: dict[Triple, Fact] = {}
    for first, entity in zip(same_as, document.entities, strict=True):
        mentions[first] += entity.mentions
    for fact in document.facts:
        triple = same_as[fact.head], same_as[fact.tail], fact.relation
        if triple[0] != triple[1]:
            facts.setdefault(triple, Fact(*triple, fact.evidence))
    entities = tuple(Entity(tuple(mentions[index])) for index in range(len(same_as)))
    return replace(document, entities=entities, facts=tuple(facts.values()))


def _known_facts(store: "ReviewStore", document: Document, same_as: Sequence[int]) -> FactTable:
    """The labelled facts without those that reviewers reject, and the facts that they accept."""
    rows = store.query(
        "SELECT head, tail, relation, evidence, state FROM items WHERE document = ? AND state != 'open'",
        (document.id,),
    )
    rejected, accepted, known = set(), [], document.labels
    for *ends, relation, evidence, state in rows:
        head, tail = (same_as[end] for end in ends)
        if state == "rejected":
            rejected.add((head, tail, relation))
        elif state == "accepted" and (head, tail, relation) not in known:
            accepted.append(FactRow(head, tail, relation, tuple(json.loads(evidence))))
    labelled = [
        FactRow(fact.head, fact.tail, fact.relation, fact.evidence)
        for fact in document.facts
        if fact.triple not in rejected
    ]
    groups = (FactGroup(tuple(labelled), "Labelled"), FactGroup(tuple(accepted), "Accepted here", "✓"))
    return FactTable(tuple(group for group in groups if group.rows))


def find_examples(documents: Iterable[Document]) -> Iterator[tuple[str, int, str, str, str, str, str, str]]:
    """A few labelled facts of each relation, best first, each from another document.

    The best is the shortest readable sentence that names both head and tail.

    Returns:
        Rows of the table of examples: the words are JSON, each with `head`, `tail` or nothing beside it.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> *_, words = next(find_examples(generate_documents(5)))
        >>> {mark for _, mark in json.loads(words)} == {"", "head", "tail"}
        True
    """
    best: dict[str, dict[str, tuple[int, Entity, Entity, str]]] = defaultdict(dict)
    for document in documents:
        for fact in document.facts:
            found, of_relation = _best_sentence(document, fact), best[fact.relation]
            if found is None or (document.id in of_relation and of_relation[document.id][0] <= found[0]):
                continue
            of_relation[document.id] = found
            if len(of_relation) > EXAMPLES_PER_RELATION:
                del of_relation[max(of_relation, key=lambda name: of_relation[name][0])]
    for relation, of_relation in best.items():
        rated = sorted(of_relation.items(), key=lambda each: each[1][0])
        for position, (name, (_, head, tail, words)) in enumerate(rated):
            yield relation, position, name, head.name, tail.name, head.type, tail.type, words


def _best_sentence(document: Document, fact: Fact) -> tuple[int, Entity, Entity, str] | None:
    """A fact in its best sentence, and how many words that has; many more if it is not readable."""
    head, tail = document.entities[fact.head], document.entities[fact.tail]
    pairs = [
        (one, other)
        for one, other in product(head.mentions, tail.mentions)
        if one.sentence == other.sentence and (one.end <= other.start or other.end <= one.start)
    ]
    if not pairs:
        return None

    def rate(pair: tuple[Mention, Mention]) -> int:
        words = len(document.sentences[pair[0].sentence])
        return words if words in READABLE else 1000 + words

    one, other = min(pairs, key=rate)
    marks = dict.fromkeys(range(one.start, one.end), "head") | dict.fromkeys(
        range(other.start, other.end), "tail"
    )
    words = [(word, marks.get(place, "")) for place, word in enumerate(document.sentences[one.sentence])]
    return rate((one, other)), head, tail, json.dumps(words)
