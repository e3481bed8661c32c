"""A component for spaCy pipelines: `nlp.add_pipe("unnoted", config={"model": "runs/own"})`.

spaCy imports this module whenever a pipeline is made, so the model's libraries are imported with the model.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from spacy.language import Language
from spacy.tokens import Doc

from unnoted.data.ner.recognizers import spans_of_doc
from unnoted.errors import DefectLog

if TYPE_CHECKING:
    from unnoted.data.ner import TextReader
    from unnoted.inference import DecisionOptions, Extractor

BATCH_SIZE = 128
"""Documents that `nlp.pipe` hands over at a time by default."""

if not Doc.has_extension("relations"):
    Doc.set_extension("relations", default=None)


class RelationComponent:
    """Extracts the facts of spaCy documents, between the entities that the components before it have set.

    `doc._.relations` is then a list of dictionaries by falling score, as `FactRecord`: `head_name`, `relation`,
    `relation_name`, `tail_name`, `score`, `evidence`, `sentences` and others; for `doc.char_span`, the places
    of both entities in `head_offsets` and `tail_offsets`. They hold nothing but text and numbers, so that
    documents can be stored with them.

    Args:
        extractor: with the model.
        reader: names and joins the entities.
        options: which facts are predicted.
    """

    def __init__(self, extractor: "Extractor", reader: "TextReader", options: "DecisionOptions") -> None:
        self.extractor = extractor
        self.reader = reader
        self.options = options

    def __call__(self, doc: Doc) -> Doc:
        """Extract the facts of one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Extract the facts of many documents, `batch_size` at a time."""
        documents = iter(stream)
        while docs := list(islice(documents, batch_size)):
            log = DefectLog()
            built = [
                self.reader.build_document(str(number), doc.text, spans_of_doc(doc), log)
                for number, doc in enumerate(docs, start=1)
            ]
            extractions = self.extractor.extract(built, threshold=self.options)
            for doc, extraction in zip(docs, extractions, strict=True):
                doc._.relations = sorted(extraction.to_json()["facts"], key=lambda fact: -fact["score"])
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
        "backend": None,
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
    backend: str | None,
) -> RelationComponent:
    """The component that a config asks for.

    Args:
        nlp: the pipeline.
        name: what the component is called there.
        model: a model's folder, or its name on the hub.
        types: what the model calls spaCy's entity types, where that is not the usual name.
        threshold: as for `DecisionOptions`.
        target_precision: as for `DecisionOptions`.
        target_recall: as for `DecisionOptions`.
        device: where to compute; by default on a GPU if there is one.
        backend: what runs the encoder: `torch` or `int8`; by default the faster one.
    """
    from unnoted.data.ner import SpacyRecognizer
    from unnoted.inference import DecisionOptions, Extractor

    options = DecisionOptions(threshold, target_precision, target_recall)
    extractor = Extractor(model, device=device, backend=backend)
    return RelationComponent(extractor, extractor.text_reader(SpacyRecognizer(nlp), types), options)
