"""From what was found to what is answered: JSON, or a drawing."""

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from unnoted.common.wording import counted
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.rendering import (
    FactCell,
    FactGroup,
    FactLine,
    FactTable,
    entity_types,
    render_document,
    render_types,
)
from unnoted.documents.schema import Document
from unnoted.extraction import ExtractedFact, Extraction
from unnoted.serve.graph_drawing import render_graph


def answer(extraction: Extraction, notes: Sequence[str] = (), entities: bool = False) -> dict[str, Any]:
    """One result; with the entities, where the client did not bring them."""
    record = extraction.to_json()
    if entities:
        record["entities"] = entities_of(extraction.document)
    return record | {"notes": list(notes)} if notes else record


def entities_of(document: Document) -> list[dict[str, Any]]:
    """The entities of a document that was given as text, with the characters of their mentions.

    Example:
        >>> from unnoted.documents.schema import Entity, Mention
        >>> bo = Entity((Mention(0, 2, 3, "PER", "Bo"),))
        >>> entities_of(Document("d", (("I", "met", "Bo", "."),), (bo,), text="I  met Bo."))
        [{'type': 'PER', 'name': 'Bo', 'mentions': [{'start': 7, 'end': 9, 'sentence': 0}]}]
    """
    text = document.text or ""
    starts: list[list[int]] = []
    place = 0
    for sentence in document.sentences:
        starts.append([])
        for word in sentence:
            place = text.index(word, place)
            starts[-1].append(place)
            place += len(word)
    return [
        {
            **({"id": entity.id} if entity.id else {}),
            "type": entity.type,
            "name": entity.name,
            "mentions": [
                {
                    "start": starts[one.sentence][one.start],
                    "end": starts[one.sentence][one.end - 1]
                    + len(document.sentences[one.sentence][one.end - 1]),
                    "sentence": one.sentence,
                }
                for one in entity.mentions
            ],
        }
        for entity in document.entities
    ]


def fact_table(facts: Iterable[ExtractedFact]) -> FactTable:
    """Predicted facts as they are drawn, the surest first."""
    ordered = sorted(facts, key=lambda fact: -fact.confidence)
    calibrated = any(fact.probability is not None for fact in ordered)
    lines = tuple(
        FactLine(
            *(fact.head, fact.tail, fact.relation, fact.evidence),
            cells=tuple(
                FactCell(f"{value:.2f}", strong=value >= 0.75)
                for value in (fact.confidence, fact.probability)
                if value is not None
            ),
        )
        for fact in ordered
    )
    return FactTable((FactGroup(lines),), ("confidence", "probability") if calibrated else ("confidence",))


def drawn(extractions: Sequence[Extraction], relations: RelationVocabulary) -> Markup:
    """Documents with their facts, as arcs and as a graph: a fragment of HTML, everything escaped."""
    types = entity_types(extraction.document for extraction in extractions)
    pieces = [Markup('<div class="unnoted-document">{}</div>').format(render_types(types))] if types else []
    for extraction in extractions:
        document, table = extraction.document, fact_table(extraction.facts)
        entities = counted(len(document.entities), "entity", "entities")
        told = f"{counted(len(extraction.facts), 'fact')} among {entities}"
        graph = render_graph(document, table, names=relations.names, types=types)
        drawing = render_document(document, table, names=relations.names, types=types)
        pieces.append(
            Markup('<section class="result"><p class="told">{}</p>{}{}</section>').format(
                told, drawing, graph
            )
        )
    return Markup("\n").join(pieces)
