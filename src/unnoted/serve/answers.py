"""From what was found to what is answered: JSON, or a drawing."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from unnoted.data.corpus import RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.tokenization import MentionLocator
from unnoted.data.visualization import entity_types, render_document, render_types
from unnoted.inference import Extraction
from unnoted.inference.writers import fact_table
from unnoted.serve.graph_drawing import render_graph
from unnoted.utils import plural


def answer(extraction: Extraction, notes: Sequence[str] = (), entities: bool = False) -> dict[str, Any]:
    """One result; with the entities, where the client did not bring them."""
    record = extraction.to_json()
    if entities:
        record["entities"] = entities_of(extraction.document)
    return record | {"notes": list(notes)} if notes else record


def entities_of(document: Document) -> list[dict[str, Any]]:
    """The entities of a document that was given as text, with the characters of their mentions.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> bo = Entity((Mention(0, 2, 3, "PER", "Bo"),))
        >>> entities_of(Document("d", (("I", "met", "Bo", "."),), (bo,), text="I  met Bo."))
        [{'type': 'PER', 'name': 'Bo', 'mentions': [{'start': 7, 'end': 9, 'sentence': 0}]}]
    """
    places = MentionLocator(document)
    return [
        {
            **({"id": entity.id} if entity.id else {}),
            "type": entity.type,
            "name": entity.name,
            "mentions": [
                {"start": start, "end": end, "sentence": mention.sentence}
                for (start, end), mention in zip(places.spans(entity), entity.mentions, strict=True)
            ],
        }
        for entity in document.entities
    ]


def drawn(extractions: Sequence[Extraction], relations: RelationVocabulary) -> Markup:
    """Documents with their facts, as arcs and as a graph: a fragment of HTML, everything escaped."""
    types = entity_types(extraction.document for extraction in extractions)
    pieces = [Markup('<div class="unnoted-document">{}</div>').format(render_types(types))] if types else []
    for extraction in extractions:
        document, table = extraction.document, fact_table(extraction.to_json())
        entities = plural(len(document.entities), "entity", "entities")
        told = f"{plural(len(extraction.facts), 'fact')} among {entities}"
        graph = render_graph(document, table, names=relations.names, types=types)
        drawing = render_document(document, table, names=relations.names, types=types)
        pieces.append(
            Markup('<section class="result"><p class="told">{}</p>{}{}</section>').format(
                told, drawing, graph
            )
        )
    return Markup("\n").join(pieces)
