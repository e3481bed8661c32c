"""Documents in, facts out: a stream, in the order of the documents, with bounded memory."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unnoted.data.document import Document
from unnoted.data.formats.jsonl import document_from_record
from unnoted.data.formats.records import ReadContext
from unnoted.data.ner import RecognizerSource, TextReader
from unnoted.errors import DataError, DefectLog
from unnoted.inference.facts import ExtractedFact, Extraction, ExtractionStream
from unnoted.inference.parallel import map_parallel
from unnoted.inference.scoring import (
    BatchFacts,
    BatchScores,
    DecisionOptions,
    ScoredPairs,
    Selection,
    find_facts,
    guided_sentences,
    score_batch,
    supporting_sentences,
)
from unnoted.models.batch import Batch, Collator
from unnoted.models.features import Featuriser
from unnoted.models.samplers import BatchLimits, SortedBatches

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only with a model
    from unnoted.models.model import RelationModel

CHUNK = 256
"""Documents that are taken from the stream, and sorted by length, at a time."""

BATCH = BatchLimits(documents=8, tokens=8192, pairs=16384)
"""How large a batch is by default."""

T = TypeVar("T")
Source: TypeAlias = Document | Mapping[str, Any]
"""A document, or a dictionary with `text` or `sentences`, and `entities` (docs/reference/formats.md)."""

OnScores: TypeAlias = Callable[[ScoredPairs], None]


class Extractor:
    """Extracts facts from documents with a trained model.

    One extractor may be used from several threads at once: each calls `extract` for its own documents, and gets
    what it would get alone, bit for bit. The stream that `extract` returns belongs to the thread that called.
    The model is in evaluation mode while facts are extracted, and afterwards in the mode in which it was.

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

    Example:
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> from transformers import BertConfig, PreTrainedTokenizerFast
        >>> from unnoted.models.model import RelationConfig, RelationModel
        >>> words = ["[UNK]", "[CLS]", "[SEP]", "*", "Ada", "met", "Bo"]
        >>> vocabulary = {word: number for number, word in enumerate(words)}
        >>> backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        >>> backend.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> encoder = BertConfig(vocab_size=7, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        ...                      intermediate_size=16, max_position_embeddings=16)
        >>> model = RelationModel(RelationConfig(
        ...     encoder_config=encoder.to_dict(), relations=["met"], embedding=8, block=4))
        >>> model.tokenizer = PreTrainedTokenizerFast(
        ...     tokenizer_object=backend, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
        >>> text = {"id": "d1", "text": "Ada met Bo.", "entities": [
        ...     {"type": "PER", "mentions": [{"start": 0, "end": 3}]},
        ...     {"type": "PER", "mentions": [{"start": 8, "end": 10}]}]}
        >>> (extraction,) = Extractor(model).extract([text], threshold=0.0)
        >>> [(fact.head, fact.relation, fact.tail, fact.evidence) for fact in extraction.facts]
        [(0, 'met', 1, (0,)), (1, 'met', 0, (0,))]
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
            warnings.warn(f"this model was {model.config.undertrained}: its facts mean little", stacklevel=2)
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
                (`fastest_backend`), which on most CPUs is `int8`.

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
        floor: float | None = None,
        log: DefectLog | None = None,
        on_scores: OnScores | None = None,
    ) -> ExtractionStream:
        """Extract facts: one `Extraction` for each document, in their order, also where nothing is found.

        Facts that the documents hold already are ignored. `to_pandas()` of the result has one row a fact.

        Args:
            documents: `Document`s, or dictionaries with `text` or `sentences`, and `entities`
                (docs/reference/formats.md). May be a stream without end: it is taken a chunk at a time.
            threshold: the least score of a predicted fact, or how it is chosen, such as
                `DecisionOptions(target_precision=0.9)`; by default the threshold that the model stores.
            floor: also return facts that are not predicted (`decided` is False) if their score is at least
                this: for rankings.
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
        selection = Selection.from_options(self.model.decoder, options, floor)
        chunks = _chunks(iter_documents(documents, log), self.chunk)
        return ExtractionStream(
            extraction for chunk in chunks for extraction in self._extract_chunk(chunk, selection, on_scores)
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
        self, documents: list[Document], selection: Selection, on_scores: OnScores | None
    ) -> list[Extraction]:
        candidates = self.model.candidates
        scored = [number for number, document in enumerate(documents) if candidates.count(document)]
        facts: list[tuple[ExtractedFact, ...]] = [()] * len(documents)
        torch.get_num_threads()  # a new thread takes over the number that was set only when asked for it
        with evaluation_mode(self.model):
            unlabelled = [documents[number].with_facts(()) for number in scored]
            for index, extracted in self._extract_facts(unlabelled, selection, on_scores):
                facts[scored[index]] += extracted
        return [Extraction(*each) for each in zip(documents, facts, strict=True)]

    def _extract_facts(
        self, documents: list[Document], selection: Selection, on_scores: OnScores | None
    ) -> Iterator[tuple[int, tuple[ExtractedFact, ...]]]:
        """The index of a document and facts of it; documents come in any order, facts of one in their order."""
        if not documents:
            return
        features = self._featurise(documents)
        collate = Collator(features)
        batches = list(SortedBatches(features, self.batch))

        def process(indices: list[int]) -> _BatchResult:
            return self._process(collate([features[index] for index in indices]), selection, on_scores)

        threads = None if self.device == "cpu" else 1
        for indices, result in zip(batches, map_parallel(process, batches, threads), strict=True):
            if on_scores is not None and result.scores is not None:
                for scored in result.scored_pairs([documents[index] for index in indices], result.scores):
                    on_scores(scored)
            for facts in result.facts:
                bounds = [0, *facts.pair.searchsorted(result.ends)]
                for place, index in enumerate(indices):
                    rows = range(bounds[place], bounds[place + 1])
                    yield index, self._facts_of_document(documents[index], result, facts, rows)

    def _process(self, batch: Batch, selection: Selection, on_scores: OnScores | None) -> "_BatchResult":
        """Score a batch; several threads may do so at once."""
        ends = batch.pair_document.bincount(minlength=len(batch.lengths)).cumsum(0).numpy()
        head, tail = (batch.entity_slot[side].numpy() for side in (batch.head, batch.tail))
        moved = batch.to(self.model.device)
        scores = score_batch(self.model, moved, selection, self._typed)
        return _BatchResult(
            head, tail, ends, find_facts(moved, scores), None if on_scores is None else scores
        )

    def _facts_of_document(
        self, document: Document, result: "_BatchResult", facts: BatchFacts, rows: range
    ) -> tuple[ExtractedFact, ...]:
        relations, entities, calibrated = self.model.relations, document.entities, self.is_calibrated
        extracted = []
        evidence: dict[int, tuple[int, ...]] = {}  # by row of shares: the facts of a pair have the same
        for row in rows:
            pair, share = facts.pair[row], int(facts.share[row])
            head, tail = int(result.head[pair]), int(result.tail[pair])
            relation = relations[int(facts.relation[row])]
            if share not in evidence:
                shares = facts.shares[share, : len(document.sentences)]
                if (threshold := self.model.config.evidence_threshold) is None:
                    evidence[share] = supporting_sentences(entities[head], entities[tail], shares)
                else:
                    evidence[share] = guided_sentences(shares, threshold)
            extracted.append(
                ExtractedFact(
                    head=head,
                    tail=tail,
                    relation=relation,
                    name=relations.name(relation),
                    score=float(facts.score[row]),
                    evidence=evidence[share],
                    decided=bool(facts.decided[row]),
                    calibrated=calibrated,
                    rule=None if facts.rule is None else self._rule(int(facts.rule[row])),
                )
            )
        return tuple(extracted)

    def _rule(self, number: int) -> str | None:
        propagation = self.model.rule_propagation
        return (
            None
            if propagation is None or number < 0
            else propagation.rules[number].to_text(self.model.relations.name)
        )


@dataclass(frozen=True, slots=True, eq=False)
class _BatchResult:
    """What was found in a batch of D documents with P pairs.

    Attributes:
        head: [P], the index of the head entity within its document.
        tail: [P].
        ends: [D], where the pairs of each document end.
        facts: the facts.
        scores: of every pair; None where nobody asked.
    """

    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    ends: NDArray[np.int64]
    facts: list[BatchFacts]
    scores: BatchScores | None

    def scored_pairs(self, documents: list[Document], scores: BatchScores) -> Iterator[ScoredPairs]:
        """The scores of all pairs, document by document."""
        decoder, logits = scores.decoder, scores.logits
        arrays = (decoder.scores(logits), decoder.probabilities(logits), scores.decided)
        score, probability, decided = (each.cpu().numpy() for each in arrays)  # [P, K]
        for document, start, end in zip(documents, [0, *self.ends[:-1]], self.ends, strict=True):
            rows = slice(start, end)
            yield ScoredPairs(
                document, self.head[rows], self.tail[rows], score[rows], probability[rows],
                decoder.is_calibrated, decided[rows],
            )  # fmt: skip


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
    log = DefectLog() if log is None else log
    for number, source in enumerate(sources, start=1):
        if isinstance(source, Document):
            yield source
            continue
        if not isinstance(source, Mapping):
            raise TypeError(
                f"document {number} is a {type(source).__name__}: give a Document, or a dictionary with `text` "
                "or `sentences`, and `entities`"
            )
        log.file = f"document {number}"
        try:
            # A reading of its own: ids need not be unique here, so that no table of them grows with a stream.
            yield document_from_record({"id": str(number), **source}, ReadContext(log))
        except DataError as error:
            raise log.located(error) from None


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into lists, taking no more of it than is asked for."""
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield chunk


@dataclass(slots=True)
class _Users:
    """How many use a model now, and whether it was in training before the first of them."""

    count: int
    training: bool


_lock = Lock()
_users: WeakKeyDictionary[nn.Module, _Users] = WeakKeyDictionary()


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Keep a model in evaluation mode; afterwards it is in the mode in which it was.

    A training run evaluates its model now and then, and a service uses one model from many threads: the first
    user puts it into evaluation mode, and the last puts it back.

    Example:
        >>> model = nn.Dropout().train()
        >>> with evaluation_mode(model), evaluation_mode(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    with _lock:
        users = _users.setdefault(model, _Users(0, model.training))
        users.count += 1
        if users.count == 1:
            model.eval()
    try:
        yield
    finally:
        with _lock:
            users.count -= 1
            if users.count == 0:
                del _users[model]
                model.train(users.training)


DEVICE_FAILURES = (RuntimeError, AssertionError, ImportError, TypeError, ValueError)
"""What torch raises, by kind of device, where there is none."""


def find_device(name: torch.device | str) -> torch.device:
    """The device of a name, after a number was stored on it and read back.

    Raises:
        ValueError: there is no such device here, or it holds no values.

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    shown = ascii(str(name)[:40])
    try:
        device = torch.device(name)
        if device.type == "meta":
            raise ValueError("it holds no values")
        torch.ones(1, device=device).cpu()
    except DEVICE_FAILURES:
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        usable = ", ".join(["cpu", *(f"cuda:{number}" for number in range(gpus))])
        raise ValueError(f"device {shown} cannot be used; usable here: {usable}") from None
    return device
