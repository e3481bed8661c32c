"""A component for spaCy pipelines: `nlp.add_pipe("unnoted", config={"model": "runs/own"})`.

spaCy imports this module whenever a pipeline is made, so the model's libraries are imported with the model.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc

from unnoted.data.formats.reading import Reading
from unnoted.data.ner.spacy_mentions import mentions_of
from unnoted.errors import DefectLog

if TYPE_CHECKING:
    from unnoted.data.ner import TextReader
    from unnoted.inference import Extractor
    from unnoted.inference.scoring import Asked

DOCUMENTS = 128
"""Documents that `nlp.pipe` hands over at a time, unless it is told otherwise."""

if not Doc.has_extension("relations"):
    Doc.set_extension("relations", default=None)


class RelationComponent:
    """Finds the facts of spaCy documents, between the entities that the components before it have set.

    `doc._.relations` is then a list of dictionaries, the surest fact first: `head_name`, `relation`,
    `relation_name`, `tail_name`, `confidence`, `probability` (of a calibrated model), `evidence` and
    `sentences`, and for `doc.char_span` the places of both in `head_offsets` and `tail_offsets`. They
    hold nothing but text and numbers, so that documents can be stored with them.

    Args:
        extractor: with the model.
        reader: names and joins the entities.
        asked: the line, as `Extractor.extract` takes it.
    """

    def __init__(self, extractor: "Extractor", reader: "TextReader", asked: "Asked") -> None:
        self.extractor = extractor
        self.reader = reader
        self.asked = asked

    def __call__(self, doc: Doc) -> Doc:
        """Find the facts of one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = DOCUMENTS) -> Iterator[Doc]:
        """Find the facts of many documents, so many at a time."""
        documents = iter(stream)
        while docs := list(islice(documents, batch_size)):
            log = DefectLog()
            built = [
                self.reader.document(str(number), doc.text, mentions_of(doc), Reading(log))
                for number, doc in enumerate(docs, start=1)
            ]
            for doc, extraction in zip(docs, self.extractor.extract(built, **self.asked), strict=True):
                facts = extraction.to_json()["facts"]
                doc._.relations = sorted(facts, key=lambda fact: -float(fact["confidence"]))
                yield doc


@Language.factory(
    "unnoted",
    assigns=["doc._.relations"],
    requires=["doc.ents"],
    default_config={
        "types": {},
        "threshold": None,
        "target_precision": None,
        "target_recall": None,
        "device": None,
    },
)
def make_component(
    nlp: Language,
    name: str,
    model: str,
    types: dict[str, str],
    threshold: float | None,
    target_precision: float | None,
    target_recall: float | None,
    device: str | None,
) -> RelationComponent:
    """The component that a config asks for.

    Args:
        nlp: the pipeline.
        name: what the component is called there.
        model: a model's folder, or its name on the hub.
        types: what the model calls spaCy's entity types, where that is not the usual name.
        threshold: as for `Extractor.extract`.
        target_precision: as for `Extractor.extract`.
        target_recall: as for `Extractor.extract`.
        device: where to compute; by default on a GPU if there is one.
    """
    from unnoted.data.ner import SpacyMentions
    from unnoted.inference import Extractor
    from unnoted.inference.reading_text import text_reader
    from unnoted.inference.scoring import Asked

    extractor = Extractor.from_pretrained(model, device=device)
    reader = text_reader(extractor.model, SpacyMentions(nlp), types)
    asked = Asked(threshold=threshold, target_precision=target_precision, target_recall=target_recall)
    return RelationComponent(extractor, reader, asked)
