"""Documents in, facts out: a stream, in the order of the documents, with bounded memory."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import TypeIs

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import ReadContext
from unnoted.data.ner import RecognizerSource, TextReader
from unnoted.errors import DataError, DefectLog
from unnoted.inference.facts import ExtractedFact, Extraction, ExtractionStream
from unnoted.inference.parallel import map_parallel
from unnoted.inference.scoring import (
    BatchScores,
    Decision,
    DecisionOptions,
    DocumentScores,
    find_facts,
    guided_sentences,
    score_batch,
    supporting_sentences,
)
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import Featuriser
from unnoted.models.samplers import BatchLimits, sort_batches
from unnoted.utils import lookup

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only with a model
    from unnoted.models.model import RelationModel

CHUNK = 256
"""Documents that are taken from the stream, and sorted by length, at a time."""

BATCH = BatchLimits(documents=8, tokens=8192, pairs=16384)
"""How large a batch is by default."""

BACKENDS = ("torch", "int8")
"""What runs the encoder, by name: torch, which is exact, or torch with 8-bit matrix products."""

MIN_INT8_WIDTH = 256
"""Encoders whose states are narrower gain nothing from 8 bits."""

Source: TypeAlias = Document | Mapping[str, Any] | str
"""A document, a dictionary with `text` or `sentences`, and `entities` (docs/reference/formats.md), or a plain text: a
string, or a dictionary of `id` and `text`."""

OnScores: TypeAlias = Callable[[DocumentScores], None]
OnBatch: TypeAlias = Callable[[Sequence[Document]], None]


class Extractor:
    """Extracts facts from documents with a trained model.

    Called with one document, dictionary or plain text, it returns its `Extraction`; called with several, a
    stream of them, as `extract` does. One extractor may be used from several threads at once, but for plain
    texts: each gets what it would get alone, bit for bit. A stream belongs to the thread that asked for it. The
    model is put into evaluation mode: call its `train()` to go on training it.

    Args:
        model: a trained model, a folder that `save_pretrained` wrote, or the name of one on the hub.
        entities: what finds the entities of plain texts: a spaCy pipeline, the name of an installed one, a
            folder with a spaCy pipeline or a GLiNER model, or a recognizer of your own; by default the one
            pipeline that is installed.
        types: what the model calls the types of entities that are found, where that is not the usual name; an
            empty name leaves the entities of a type out.
        device: where to compute; by default where the model is, or on a GPU if it is loaded and there is one.
        batch: how large a batch may be.
        chunk: how many documents are taken from a stream at a time. They are sorted by length, so that
            little is padded, and their facts are returned in the order in which they came.
        any_types: predict relations also between types that they were never labelled with; of a model that
            restricts them (`RelationTypes`).
        backend: what runs the encoder, one of `BACKENDS`; by default, of a model that is loaded, `int8` where
            it is faster.

    Raises:
        ModelError: the folder is missing, incomplete, damaged or something else; or there is no tokenizer.
        ValueError: there is no such device, pipeline or type, or `chunk` is below 1.

    Example:
        >>> extractor = Extractor("runs/own", entities="en_core_web_sm")  # doctest: +SKIP
        >>> print(extractor("Ada Lorne lives in Kelm."))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: "RelationModel | str | PathLike[str]",
        *,
        entities: RecognizerSource = None,
        types: Mapping[str, str] | None = None,
        device: torch.device | str | None = None,
        batch: BatchLimits = BATCH,
        chunk: int = CHUNK,
        any_types: bool = False,
        backend: str | None = None,
    ) -> None:
        from unnoted.models.model import ModelError, RelationModel

        if chunk < 1:
            raise ValueError(f"chunk must be at least 1 document, not {chunk}")
        source = None if isinstance(model, RelationModel) else model
        if source is not None and device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        chosen = None if device is None else find_device(device)  # before the long work
        loaded = model if isinstance(model, RelationModel) else RelationModel.from_pretrained(model)
        if loaded.tokenizer is None:
            where = "the model" if source is None else str(source)
            raise ModelError(f"{where}: there is no tokenizer: tokenizer.json must be beside config.json")
        self.model = loaded if chosen is None else loaded.to(chosen)  # type: ignore[arg-type]
        if source is not None or backend is not None:
            choose_backend(self.model, backend)
        self.batch = batch
        self.chunk = chunk
        self.any_types = any_types
        self._typed = None if any_types else self.model.type_constraints
        if self.model.config.undertrained is not None:
            problem = f"this model was {self.model.config.undertrained}: its facts mean little"
            warnings.warn(f"{problem} (docs/guides/troubleshooting.md#undertrained)", stacklevel=2)
        self._featurise = Featuriser(
            loaded.tokenizer,
            loaded.relations.ids,
            loaded.candidates,
            loaded.numbered_types,
            loaded.config.markers,
        )
        self._types = types
        self._reader = None if entities is None else self.text_reader(entities, types)
        self.model.encoder.prepare()  # not at the first document, which many threads may reach at once

    @classmethod
    def from_pretrained(cls, path: str | PathLike[str], **options: Any) -> "Extractor":  # noqa: ANN401
        """`Extractor(path, **options)`, by the name that it has in transformers."""
        return cls(path, **options)

    @property
    def device(self) -> str:
        """The type of the device that computes."""
        return self.model.device.type

    @property
    def is_calibrated(self) -> bool:
        """Whether scores are calibrated probabilities."""
        return self.model.decoder.is_calibrated

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The entity types that the model was trained with, sorted; none if it does not distinguish them."""
        paired = self.model.candidates.types or ()
        return tuple(sorted({*self.model.entity_types, *(type for pair in paired for type in pair)}))

    @property
    def backend(self) -> str:
        """What runs the encoder, one of `BACKENDS`."""
        return "torch" if self.model.encoder.runner is None else "int8"

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a text is also an iterable of texts
        self, documents: Source, *, threshold: float | DecisionOptions | None = None
    ) -> Extraction: ...

    @overload
    def __call__(
        self, documents: Iterable[Source], *, threshold: float | DecisionOptions | None = None
    ) -> ExtractionStream: ...

    def __call__(
        self, documents: Source | Iterable[Source], *, threshold: float | DecisionOptions | None = None
    ) -> Extraction | ExtractionStream:
        """The facts of one document, dictionary or text, or a stream of those of several; see `extract`."""
        if _is_single(documents):
            return next(self.extract([documents], threshold=threshold))
        return self.extract(documents, threshold=threshold)

    def extract(
        self,
        documents: Iterable[Source],
        *,
        threshold: float | DecisionOptions | None = None,
        log: DefectLog | None = None,
        on_scores: OnScores | None = None,
        on_batch: OnBatch = lambda documents: None,
    ) -> ExtractionStream:
        """Extract facts: one `Extraction` for each document, in their order, also where nothing is found.

        Facts that the documents hold already are ignored. `to_pandas()` of the result has one row a fact.

        Args:
            documents: `Document`s, dictionaries with `text` or `sentences`, and `entities`
                (docs/reference/formats.md), or plain texts: strings, or dictionaries of `id` and `text`. May be
                a stream without end: it is taken a chunk at a time. What has no id is called by its number,
                from 1.
            threshold: facts have a score above this; or how it is chosen, such as
                `DecisionOptions(target_precision=0.9)`; by default the threshold that the model stores.
            log: counts the defects of dictionaries, such as unknown fields.
            on_scores: called with the scores of every pair of each document that has any, as arrays.
            on_batch: called with the documents of each batch that is computed, and with those of a chunk that
                have no pair to compute.

        Raises:
            DataError: a dictionary is no document, or a document points outside itself.
            MissingExtra: what finds the entities of texts is not installed.
            ValueError: a target of a model that is not calibrated, or one that no threshold reaches.
        """
        if _is_single(documents):
            raise TypeError("extract takes several documents: call the extractor itself with a single one")
        decided, log = self.decision(threshold), DefectLog() if log is None else log
        numbered = enumerate(documents, start=1)
        chunks = iter(lambda: list(islice(numbered, self.chunk)), [])
        return ExtractionStream(
            extraction
            for chunk in chunks
            for extraction in self._extract_chunk(
                self._build_documents(chunk, log), decided.threshold, on_scores, on_batch
            )
        )

    def decision(self, threshold: float | DecisionOptions | None = None) -> Decision:
        """Which threshold is used, and what it is expected to give; raises as `extract`."""
        options = threshold if isinstance(threshold, DecisionOptions) else DecisionOptions(threshold)
        return options.resolve(self.model.decoder)

    def text_reader(
        self,
        entities: RecognizerSource,
        types: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warnings.warn,
    ) -> TextReader:
        """A reader of plain text whose documents have the entity types of this model.

        Args:
            entities: as for `Extractor`.
            types: as for `Extractor`.
            log: called with a line for each type that the model does not know.
        """
        return TextReader.load(entities, self.entity_types, types, log)

    def _build_documents(self, sources: list[tuple[int, Source]], log: DefectLog) -> list[Document]:
        """The documents of what was given, with its numbers; texts are read together."""
        texts = {number: text for number, source in sources if (text := _plain_text(source, number))}
        if texts and self._reader is None:
            self._reader = self.text_reader(None, self._types)
        read = self._reader.read(texts.values(), log) if texts and self._reader else iter(())
        return [
            next(read) if number in texts else to_document(source, number, log) for number, source in sources
        ]

    def _extract_chunk(
        self,
        documents: list[Document],
        threshold: float,
        on_scores: OnScores | None,
        on_batch: OnBatch,
    ) -> Iterator[Extraction]:
        """The facts of some documents, which are computed in batches of similar length."""
        facts: list[tuple[ExtractedFact, ...]] = [()] * len(documents)
        with_pairs = [number for number, each in enumerate(documents) if self.model.candidates.count(each)]
        on_batch([documents[number] for number in set(range(len(documents))).difference(with_pairs)])
        if with_pairs:
            torch.get_num_threads()  # a new thread takes over the number that was set only when asked for it
            self.model.eval()
            unlabelled = [documents[number].with_facts(()) for number in with_pairs]
            features = self._featurise(unlabelled)
            collate = Collator(features)
            batches = sort_batches(features, self.batch)

            def extract_batch(indices: list[int]) -> "_BatchResult":
                return self._extract_batch(
                    collate([features[index] for index in indices]),
                    [unlabelled[index] for index in indices],
                    threshold,
                    on_scores is not None,
                )

            threads = None if self.device == "cpu" else 1
            for indices, result in zip(batches, map_parallel(extract_batch, batches, threads), strict=True):
                for index, found in zip(indices, result.facts, strict=True):
                    facts[with_pairs[index]] = tuple(found)
                for pairs in result.scored_pairs:
                    assert on_scores is not None  # they were asked for
                    on_scores(pairs)
                on_batch([unlabelled[index] for index in indices])
        return map(Extraction, documents, facts)

    def _extract_batch(
        self,
        batch: Batch,
        documents: list[Document],
        threshold: float,
        with_scores: bool,
    ) -> "_BatchResult":
        """The facts of D documents with P pairs; several threads may call it at once."""
        model, moved = self.model, batch.to(self.model.device)
        scores = score_batch(model, moved, threshold, self._typed)
        found = find_facts(moved, scores)
        relations, calibrated = model.relations, self.is_calibrated
        head, tail = (batch.entity_slot[side].numpy() for side in (batch.head, batch.tail))  # [P]
        document_of = batch.pair_document.tolist()
        facts: list[list[ExtractedFact]] = [[] for _ in documents]
        previous, evidence = -1, tuple[int, ...]()
        for row, (pair, number) in enumerate(zip(found.pair, found.relation, strict=True)):
            here, relation = document_of[pair], relations[number]
            if pair != previous:  # all facts of a pair have the same evidence
                shares = next(found.shares)[: len(documents[here].sentences)]
                previous, evidence = pair, self._evidence(documents[here], head[pair], tail[pair], shares)
            facts[here].append(
                ExtractedFact(
                    head=int(head[pair]),
                    tail=int(tail[pair]),
                    relation=relation,
                    relation_name=relations.name(relation),
                    score=found.score[row],
                    evidence=evidence,
                    calibrated=calibrated,
                    rule=None if found.rule is None else self._rule(found.rule[row]),
                )
            )
        return _BatchResult(facts, _scored_pairs(documents, batch, head, tail, scores) if with_scores else [])

    def _evidence(
        self, document: Document, head: int, tail: int, shares: NDArray[np.float64]
    ) -> tuple[int, ...]:
        threshold = self.model.config.evidence_threshold
        if threshold is not None:
            return guided_sentences(shares, threshold)
        return supporting_sentences(document.entities[head], document.entities[tail], shares)

    def _rule(self, number: int) -> str | None:
        propagation = self.model.rule_propagation
        if propagation is None or number < 0:
            return None
        return propagation.rules[number].to_text(self.model.relations.name)


class _BatchResult(NamedTuple):
    """The facts of each document of a batch, and the scores of all their pairs where these are asked for."""

    facts: list[list[ExtractedFact]]
    scored_pairs: list[DocumentScores]


def _scored_pairs(
    documents: list[Document],
    batch: Batch,
    head: NDArray[np.int64],
    tail: NDArray[np.int64],
    scores: BatchScores,
) -> list[DocumentScores]:
    """The scores of all pairs, document by document."""
    decoder, logits = scores.decoder, scores.logits
    columns = (decoder.scores(logits), decoder.probabilities(logits), scores.decided)  # [P, K] each
    ends = batch.pair_document.bincount(minlength=len(documents)).cumsum(0)[:-1].numpy()
    score, probability, decided = (np.split(each.cpu().numpy(), ends) for each in columns)
    heads, tails = np.split(head, ends), np.split(tail, ends)
    parts = zip(documents, heads, tails, score, probability, decided, strict=True)
    return [
        DocumentScores(document, one, other, scores, probabilities, predicted, decoder.is_calibrated)
        for document, one, other, scores, probabilities, predicted in parts
    ]


def _is_single(documents: object) -> TypeIs[Source]:
    """Whether it is one document, or nothing that holds several."""
    if isinstance(documents, Document | Mapping | str):
        return True
    try:
        iter(documents)  # type: ignore[call-overload]
    except TypeError:
        return True
    return False


def _plain_text(source: Source, number: int) -> tuple[str, str] | None:
    """The id and the text of a source whose entities are to be found; None for any other."""
    if isinstance(source, str):
        return str(number), source
    if (
        isinstance(source, Mapping)
        and source.keys() <= {"id", "text"}
        and isinstance(source.get("text"), str)
    ):
        return str(source.get("id", number)), source["text"]
    return None


def to_document(source: Source, number: int, log: DefectLog) -> Document:
    """A document as it is, a dictionary as a document; one that has no `id` is called by its number.

    Raises:
        DataError: a dictionary is no document: names its number, the field and what is wrong.
        TypeError: it is neither.

    Example:
        >>> ada = {"type": "PER", "mentions": [{"start": 0, "end": 3}]}
        >>> document = to_document({"text": "Ada met Bo.", "entities": [ada]}, 1, DefectLog())
        >>> document.id, document.entities[0].name
        ('1', 'Ada')
    """
    if isinstance(source, Document):
        return source
    if not isinstance(source, Mapping):
        raise TypeError(
            f"document {number} is a {type(source).__name__}: give a Document, a text, or a dictionary with `text` "
            "or `sentences`, and `entities`"
        )
    log.file = f"document {number}"
    try:
        # A reading of its own: ids need not be unique here, so that no table of them grows with a stream.
        return document_from_record({"id": str(number), **source}, ReadContext(log))
    except DataError as error:
        if error.defect.field == "entities" and "entities" not in source and "text" in source:
            expected = "this field, or only `id` and `text`, whose entities are found"
            error = DataError.from_defect(replace(error.defect, expected=expected))
        raise log.located(error) from None


def choose_backend(model: "RelationModel", name: str | None = None) -> None:
    """Let a model run its encoder by a backend.

    Args:
        model: on its device.
        name: one of `BACKENDS`; by default the faster one: `int8` on a CPU that has instructions for it, of an
            encoder that is a BERT of some width.

    Raises:
        ValueError: there is no such backend, or it cannot run this model.
    """
    from unnoted.models.encoders.packed_bert import Int8Bert, supports_int8

    encoder = model.encoder
    fits = (
        model.device.type == "cpu" and model.dtype == torch.float32 and encoder.can_pack and supports_int8()
    )
    if name is None:
        name = "int8" if fits and encoder.width >= MIN_INT8_WIDTH else "torch"
    lookup("backend", name, dict.fromkeys(BACKENDS))
    if name == "int8" and not fits:
        raise ValueError(
            "backend 'int8' needs a BERT encoder in torch.float32 on a CPU with VNNI instructions: this is "
            f"{encoder.model.config.model_type} in {model.dtype} on {model.device.type}"
        )
    encoder.runner = Int8Bert(encoder.model, encoder.attention) if name == "int8" else None


def find_device(name: torch.device | str) -> torch.device:
    """The device of a name, after a number was stored on it and read back.

    Raises:
        ValueError: there is no such device here, or it holds no values.

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    try:
        device = torch.device(name)
        if device.type == "meta":
            raise ValueError("it holds no values")
        torch.ones(1, device=device).cpu()
    except (RuntimeError, AssertionError, ImportError, TypeError, ValueError):  # by kind of device
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        usable = ", ".join(["cpu", *(f"cuda:{number}" for number in range(gpus))])
        raise ValueError(f"device {str(name)[:40]!a} cannot be used; usable here: {usable}") from None
    return device
