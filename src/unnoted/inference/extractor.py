"""Documents in, facts out: a stream, in the order of the documents, with bounded memory."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import ReadContext
from unnoted.data.ner import RecognizerSource, TextReader
from unnoted.errors import DataError, DefectLog
from unnoted.inference.facts import ExtractedFact, Extraction, ExtractionStream
from unnoted.inference.parallel import map_parallel
from unnoted.inference.scoring import (
    BatchScores,
    DecisionOptions,
    DocumentScores,
    find_facts,
    guided_sentences,
    score_batch,
    supporting_sentences,
)
from unnoted.losses import ScoreDecoder
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import Featuriser
from unnoted.models.samplers import BatchLimits, sort_batches

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only with a model
    from unnoted.models.model import RelationModel

CHUNK = 256
"""Documents that are taken from the stream, and sorted by length, at a time."""

BATCH = BatchLimits(documents=8, tokens=8192, pairs=16384)
"""How large a batch is by default."""

Source: TypeAlias = Document | Mapping[str, Any]
"""A document, or a dictionary with `text` or `sentences`, and `entities` (docs/reference/formats.md)."""

OnScores: TypeAlias = Callable[[DocumentScores], None]


class Extractor:
    """Extracts facts from documents with a trained model.

    One extractor may be used from several threads at once: each calls `extract` for its own documents, and gets
    what it would get alone, bit for bit. The stream that `extract` returns belongs to the thread that called.
    The model is put into evaluation mode: call its `train()` to go on training it.

    Args:
        model: with its tokenizer, as `from_encoder` and `from_pretrained` give it.
        batch: how large a batch may be.
        device: where to compute; by default where the model is.
        chunk: how many documents are taken from a stream at a time. They are sorted by length, so that
            little is padded, and their facts are returned in the order in which they came.
        any_types: predict relations also between types that they were never labelled with; of a model that
            restricts them (`RelationTypes`).

    Raises:
        ModelError: the model has no tokenizer.
        ValueError: there is no such device, or `chunk` is below 1.
    """

    def __init__(
        self,
        model: "RelationModel",
        batch: BatchLimits = BATCH,
        device: torch.device | str | None = None,
        chunk: int = CHUNK,
        *,
        any_types: bool = False,
    ) -> None:
        if model.tokenizer is None:
            from unnoted.models.model import ModelError

            raise ModelError("the model has no tokenizer: tokenizer.json must be in its folder")
        if chunk < 1:
            raise ValueError(f"chunk must be at least 1 document, not {chunk}")
        self.model = model if device is None else model.to(find_device(device))  # type: ignore[arg-type]
        self.batch = batch
        self.chunk = chunk
        self.any_types = any_types
        self._typed = None if any_types else model.type_constraints
        if model.config.undertrained is not None:
            problem = f"this model was {model.config.undertrained}: its facts mean little"
            warnings.warn(f"{problem} (docs/guides/troubleshooting.md#undertrained)", stacklevel=2)
        self._featurise = Featuriser(
            model.tokenizer, model.relations.ids, model.candidates, model.numbered_types, model.config.markers
        )
        model.encoder.prepare()  # not at the first document, which many threads may reach at once

    @classmethod
    def from_pretrained(
        cls,
        path: str | PathLike[str],
        batch: BatchLimits = BATCH,
        device: torch.device | str | None = None,
        chunk: int = CHUNK,
        *,
        any_types: bool = False,
        backend: str | None = None,
    ) -> "Extractor":
        """An extractor with a saved model.

        Args:
            path: a folder that `save_pretrained` wrote, or the name of one on the hub.
            batch: how large a batch may be.
            device: where to compute; by default on a GPU if there is one.
            chunk: how many documents are taken from a stream at a time.
            any_types: as for `Extractor`.
            backend: what runs the encoder, one of `BACKENDS`: `torch`, which is exact; `int8`, torch with
                8-bit matrix products; `onnx` for a folder that `unnoted export` wrote. By default the fastest
                (`choose_backend`), which on most CPUs is `int8`.

        Raises:
            ModelError: the folder is missing, incomplete, damaged or something else.
            ValueError: there is no such device.
        """
        from unnoted.inference.backends import choose_backend
        from unnoted.models.model import ModelError, RelationModel

        best = "cuda" if torch.cuda.is_available() else "cpu"
        chosen = find_device(best if device is None else device)  # before the long work
        model = RelationModel.from_pretrained(path)
        if model.tokenizer is None:
            raise ModelError(f"{path}: there is no tokenizer: tokenizer.json must be beside config.json")
        choose_backend(model.to(chosen), path, backend)  # type: ignore[arg-type]
        return cls(model, batch, chosen, chunk, any_types=any_types)

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
    def backend_digest(self) -> str | None:
        """What runs the encoder in place of torch: the SHA-256 of an export, or `int8`; None for torch."""
        digest: str | None = getattr(self.model.encoder.runner, "digest", None)
        return digest

    def extract(
        self,
        documents: Iterable[Source],
        *,
        threshold: float | DecisionOptions | None = None,
        log: DefectLog | None = None,
        on_scores: OnScores | None = None,
    ) -> ExtractionStream:
        """Extract facts: one `Extraction` for each document, in their order, also where nothing is found.

        Facts that the documents hold already are ignored. `to_pandas()` of the result has one row a fact.

        Args:
            documents: `Document`s, or dictionaries with `text` or `sentences`, and `entities`
                (docs/reference/formats.md). May be a stream without end: it is taken a chunk at a time.
            threshold: facts have a score above this; or how it is chosen, such as
                `DecisionOptions(target_precision=0.9)`; by default the threshold that the model stores.
            log: counts the defects of dictionaries, such as unknown fields.
            on_scores: called with the scores of every pair of each document that has any, as arrays.

        Raises:
            DataError: a dictionary is no document, or a document points outside itself.
            ValueError: a target of a model that is not calibrated, or one that no threshold reaches.
        """
        if isinstance(documents, Document | Mapping | str):
            raise TypeError(
                f"documents must be a list or another iterable, not one {type(documents).__name__}"
            )
        options = threshold if isinstance(threshold, DecisionOptions) else DecisionOptions(threshold)
        decoder = options.decoder(self.model.decoder)
        stream = iter_documents(documents, log)
        chunks = iter(lambda: list(islice(stream, self.chunk)), [])
        return ExtractionStream(
            extraction
            for chunk in chunks
            for extraction in self._extract_chunk(chunk, decoder, options.threshold, on_scores)
        )

    def extract_text(
        self,
        texts: Iterable[str],
        entities: RecognizerSource = None,
        *,
        types: Mapping[str, str] | None = None,
        threshold: float | DecisionOptions | None = None,
    ) -> ExtractionStream:
        """Extract facts from plain text: its entities are found first (`unnoted.data.ner`).

        Args:
            texts: one for each document; ids are their numbers from 1. May be a stream without end.
            entities: what finds them: a spaCy pipeline, the name of an installed one, a folder with a spaCy
                pipeline or a GLiNER model, or a recognizer of your own; None takes the one pipeline installed.
            types: what the model calls the types that are found, where that is not the usual name; an empty
                name leaves the entities of a type out.
            threshold: as for `extract`.

        Raises:
            MissingExtra: what finds the entities is not installed.
            DataError: a text cannot be used.
            ValueError: there is no such pipeline, type or target.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list or another iterable, not one str")
        reader = self.text_reader(entities, types)
        documents = reader.read((str(number), text) for number, text in enumerate(texts, start=1))
        return self.extract(documents, threshold=threshold)

    def text_reader(
        self,
        entities: RecognizerSource,
        types: Mapping[str, str] | None = None,
        log: Callable[[str], None] = warnings.warn,
    ) -> TextReader:
        """A reader of plain text whose documents have the entity types of this model.

        Args:
            entities: as for `extract_text`.
            types: as for `extract_text`.
            log: called with a line for each type that the model does not know.
        """
        return TextReader.load(entities, self.entity_types, types, log)

    def _extract_chunk(
        self,
        documents: list[Document],
        decoder: ScoreDecoder,
        threshold: float | None,
        on_scores: OnScores | None,
    ) -> Iterator[Extraction]:
        """The facts of some documents, which are computed in batches of similar length."""
        facts: list[tuple[ExtractedFact, ...]] = [()] * len(documents)
        with_pairs = [number for number, each in enumerate(documents) if self.model.candidates.count(each)]
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
                    decoder,
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
        return map(Extraction, documents, facts)

    def _extract_batch(
        self,
        batch: Batch,
        documents: list[Document],
        decoder: ScoreDecoder,
        threshold: float | None,
        with_scores: bool,
    ) -> "_BatchResult":
        """The facts of D documents with P pairs; several threads may call it at once."""
        model, moved = self.model, batch.to(self.model.device)
        scores = score_batch(model, moved, decoder, threshold, self._typed)
        found = find_facts(moved, scores)
        relations, calibrated = model.relations, decoder.is_calibrated
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


def iter_documents(sources: Iterable[Source], log: DefectLog | None = None) -> Iterator[Document]:
    """Documents as they are, dictionaries as documents; one that has no `id` is called by its number.

    Raises:
        DataError: a dictionary is no document: names its number, the field and what is wrong.
        TypeError: something is neither.

    Example:
        >>> ada = {"type": "PER", "mentions": [{"start": 0, "end": 3}]}
        >>> (document,) = iter_documents([{"text": "Ada met Bo.", "entities": [ada]}])
        >>> document.id, document.entities[0].name
        ('1', 'Ada')
    """
    for number, source in enumerate(sources, start=1):
        if isinstance(source, Document):
            yield source
            continue
        if not isinstance(source, Mapping):
            raise TypeError(
                f"document {number} is a {type(source).__name__}: give a Document, or a dictionary with `text` "
                "or `sentences`, and `entities`"
            )
        log = DefectLog() if log is None else log
        log.file = f"document {number}"
        try:
            # A reading of its own: ids need not be unique here, so that no table of them grows with a stream.
            yield document_from_record({"id": str(number), **source}, ReadContext(log))
        except DataError as error:
            raise log.located(error) from None


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
