"""Documents in, facts out: a stream, in the order of the documents, with bounded memory."""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.data.document import Document, Entity
from unnoted.data.ner import EntitySource
from unnoted.errors import DefectLog
from unnoted.inference.evaluation_mode import evaluation_mode
from unnoted.inference.extraction_stream import ExtractionStream
from unnoted.inference.facts import ExtractedFact, Extraction
from unnoted.inference.inputs import Source, as_documents
from unnoted.inference.reading_text import text_reader
from unnoted.inference.scoring import BatchScores, Found, ScoredPairs, Wanted, find_facts, score_batch
from unnoted.inference.side_by_side import side_by_side
from unnoted.inference.support import guided_sentences, supporting_sentences
from unnoted.losses import ScoreDecoder, confidence_of
from unnoted.models.features import Batch, BatchLimits, Collator, FeatureSet, SortedBatches, Tokeniser
from unnoted.models.features.records import record_batch
from unnoted.models.kernels.devices import working_device

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from unnoted.models.model import RelationModel

DOCUMENTS_A_CHUNK = 256
"""Documents that are taken from the stream, and sorted by length, at a time."""

BATCH = BatchLimits(documents=8, tokens=8192, pairs=16384)
"""How large a batch is by default."""

Item = TypeVar("Item")
Seen: TypeAlias = Callable[[ScoredPairs], None]


class Extractor:
    """Extracts facts from documents with a trained model.

    One extractor may be used from several threads at once: each calls `extract` for its own documents, and
    gets what it would get alone, bit for bit. What `extract` gives, and a `log`, belong to the thread that
    asked. While facts are looked for, the model is in evaluation mode; afterwards it is in the mode in which
    it was.

    Args:
        model: with its tokenizer, as `from_encoder` and `from_pretrained` give it.
        batch: how large a batch may be.
        device: where to compute; by default where the model is.
        chunk: how many documents are taken from a stream at a time. They are sorted by length, so that
            little is padded, and their facts are given in the order in which they came.
        any_types: predict relations also between types that they were never labelled with; of a model that
            has learnt which (`RelationTypes`).

    Raises:
        ModelError: the model has no tokenizer.
        ValueError: there is no such device, or `chunk` is no number of documents.

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
        chunk: int = DOCUMENTS_A_CHUNK,
        *,
        any_types: bool = False,
    ) -> None:
        if model.tokenizer is None:
            from unnoted.models.model import ModelError

            raise ModelError("found a model without a tokenizer, expected one beside it (tokenizer.json)")
        if chunk < 1:
            raise ValueError(f"documents a chunk: found {chunk}, expected 1 or more")
        self.model = model if device is None else model.to(working_device(device))  # type: ignore[arg-type]
        self.batch = batch
        self.chunk = chunk
        self.any_types = any_types
        self._typed = None if any_types else model.typed_relations
        if model.config.undertrained is not None:
            warnings.warn(f"this model was {model.config.undertrained}: its facts mean little", stacklevel=2)
        self._tokeniser = Tokeniser(model.tokenizer, model.config.markers)
        model.encoder.prepare()  # not at the first document, which many threads may reach at once
        self._relations = {relation: number for number, relation in enumerate(model.relations)}
        self._header = {
            "relations": json.dumps(list(model.relations)),
            "candidates": json.dumps(model.candidates.to_json()),
            "pad_token": str(self._tokeniser.pad_token),
            "markers": json.dumps(model.config.markers),
        }

    @classmethod
    def from_pretrained(
        cls,
        path: str | PathLike[str],
        batch: BatchLimits = BATCH,
        device: torch.device | str | None = None,
        chunk: int = DOCUMENTS_A_CHUNK,
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
        chosen = working_device(best if device is None else device)  # before the long work
        model = RelationModel.from_pretrained(path)
        if model.tokenizer is None:
            raise ModelError(f"{path}: found no tokenizer, expected tokenizer.json beside config.json")
        choose_backend(model.to(chosen), path, backend)  # type: ignore[arg-type]
        return cls(model, batch, chosen, chunk, any_types=any_types)

    @property
    def device(self) -> str:
        """The type of the device that computes."""
        return self.model.device.type

    @property
    def graph(self) -> str | None:
        """What runs the encoder in place of its own layers: the SHA-256 of an export, or `int8`."""
        digest: str | None = getattr(self.model.encoder.runner, "digest", None)
        return digest

    def extract(
        self,
        documents: Iterable[Source],
        *,
        threshold: float | None = None,
        floor: float | None = None,
        target_precision: float | None = None,
        target_recall: float | None = None,
        log: DefectLog | None = None,
        seen: Seen | None = None,
    ) -> ExtractionStream:
        """Extract facts: one `Extraction` for each document, in their order, also where nothing is found.

        Facts that the documents hold already are not looked at. `to_pandas()` of what is returned gives one
        row for each fact.

        Args:
            documents: `Document`s, or dictionaries with `text` or `sentences`, and `entities`
                (docs/formats.md). May be a stream without end: it is taken a chunk at a time.
            threshold: predict the facts whose confidence is at least this, instead of by the model's rule.
            floor: also give facts that are not predicted (`decided` is False) if their confidence is at
                least this: for rankings.
            target_precision: predict with the line that is expected to have this precision in documents like
                those of the training; of a calibrated model.
            target_recall: the same with a recall.
            log: where the defects of dictionaries (unknown fields) are counted.
            seen: is given what the model says of every pair of each document that has any, as arrays.

        Raises:
            DataError: a dictionary is no document, or a document points outside itself.
            ValueError: a target of a model that is not calibrated, or one that no line reaches.
        """
        if isinstance(documents, Document | Mapping | str):
            raise TypeError(f"found one {type(documents).__name__}, expected several documents, e.g. a list")
        wanted = Wanted(threshold, floor, target_precision, target_recall)
        decoder = wanted.decoder(self.model.decoder)
        stream = as_documents(documents, DefectLog() if log is None else log)
        pieces = chunks(stream, self.chunk)
        return ExtractionStream(
            found for chunk in pieces for found in self._chunk(chunk, wanted, decoder, seen)
        )

    def extract_text(
        self,
        texts: Iterable[str],
        entities: EntitySource = None,
        *,
        types: Mapping[str, str] | None = None,
        threshold: float | None = None,
        target_precision: float | None = None,
        target_recall: float | None = None,
    ) -> Iterator[Extraction]:
        """Extract facts from plain text: its entities are found first (`unnoted.data.ner`).

        Args:
            texts: one for each document; ids are their numbers from 1. May be a stream without end.
            entities: what finds them: a spaCy pipeline, the name of an installed one, a folder with a spaCy
                pipeline or a GLiNER model, or a finder of your own; None takes the one pipeline installed.
            types: what the model calls the types that are found, where that is not the usual name; an empty
                name leaves the entities of a type out.
            threshold: as for `extract`.
            target_precision: as for `extract`.
            target_recall: as for `extract`.

        Raises:
            MissingExtra: what finds the entities is not installed.
            DataError: a text cannot be used.
            ValueError: there is no such pipeline, type or target.
        """
        if isinstance(texts, str):
            raise TypeError("found one str, expected several texts, e.g. a list")
        reader = text_reader(self.model, entities, types)
        documents = reader.documents((str(number), text) for number, text in enumerate(texts, start=1))
        return self.extract(
            documents, threshold=threshold, target_precision=target_precision, target_recall=target_recall
        )

    def _chunk(
        self, documents: list[Document], wanted: Wanted, decoder: ScoreDecoder, seen: Seen | None
    ) -> list[Extraction]:
        candidates = self.model.candidates
        scored = [number for number, document in enumerate(documents) if candidates.count(document)]
        facts: list[tuple[ExtractedFact, ...]] = [()] * len(documents)
        if self._typed is not None:
            self._typed = self._typed.prepared(self.model.scores)
        torch.get_num_threads()  # a new thread takes over the number that was set only when asked for it
        with evaluation_mode(self.model):
            unlabelled = [documents[number].with_facts(()) for number in scored]
            found = self._facts(unlabelled, wanted, decoder, seen)
            for index, extracted in found:
                facts[scored[index]] += extracted
        return [Extraction(document, found) for document, found in zip(documents, facts, strict=True)]

    def _facts(
        self, documents: list[Document], wanted: Wanted, decoder: ScoreDecoder, seen: Seen | None
    ) -> Iterator[tuple[int, tuple[ExtractedFact, ...]]]:
        """The facts of each document, with its index; of documents in any order, of one in their order."""
        if not documents:
            return
        record = record_batch(
            documents,
            self._tokeniser,
            self._relations,
            self.model.candidates,
            self.model.numbered_types,
        )
        features = FeatureSet(self._header, [record])
        collate = Collator.of(features)

        def look(indices: list[int]) -> _Looked:
            return self._look(collate([features[index] for index in indices]), wanted, decoder, seen)

        batches = list(SortedBatches(features, self.batch))
        threads = None if self.device == "cpu" else 1
        for indices, looked in zip(batches, side_by_side(look, batches, threads), strict=True):
            sides = looked.head, looked.tail
            if seen is not None and looked.scored is not None:
                _show([documents[index] for index in indices], looked, looked.scored, seen)
            for found in looked.found:
                bounds = [0, *found.pair.searchsorted(looked.ends)]
                for place, index in enumerate(indices):
                    rows = range(bounds[place], bounds[place + 1])
                    pairs = [tuple(int(side[found.pair[row]]) for side in sides) for row in rows]
                    yield index, self._named(documents[index], found, rows, pairs)

    def _look(self, batch: Batch, wanted: Wanted, decoder: ScoreDecoder, seen: Seen | None) -> "_Looked":
        """What there is in a batch; several threads may look at one each."""
        ends = batch.pair_document.bincount(minlength=len(batch.lengths)).cumsum(0).numpy()
        head, tail = (batch.entity_slot[side].numpy() for side in (batch.head, batch.tail))
        moved = batch.to(self.model.device)
        scored = score_batch(self.model, moved, wanted, decoder, self._typed)
        return _Looked(head, tail, ends, find_facts(moved, scored), None if seen is None else scored)

    def _named(
        self, document: Document, found: Found, rows: range, pairs: list[tuple[int, ...]]
    ) -> tuple[ExtractedFact, ...]:
        relations, entities = self.model.relations, document.entities
        facts = []
        evidence: dict[int, tuple[int, ...]] = {}  # the facts of a pair share it
        for row, (head, tail) in zip(rows, pairs, strict=True):
            relation = relations[int(found.relation[row])]
            share = int(found.share[row])
            if share not in evidence:
                shares = found.shares[share, : len(document.sentences)]
                evidence[share] = self._sentences(entities[head], entities[tail], shares)
            facts.append(
                ExtractedFact(
                    head=head,
                    tail=tail,
                    relation=relation,
                    name=relations.name(relation),
                    confidence=float(found.confidence[row]),
                    margin=float(found.margin[row]),
                    evidence=evidence[share],
                    decided=bool(found.decided[row]),
                    probability=None if found.probability is None else float(found.probability[row]),
                    rule=None if found.rule is None else self._rule(int(found.rule[row])),
                )
            )
        return tuple(facts)

    def _rule(self, number: int) -> str | None:
        """The rule that brought a fact, as people read it."""
        lift = self.model.rule_lift
        return None if lift is None or number < 0 else lift.rules[number].line(self.model.relations.name)

    def _sentences(self, head: Entity, tail: Entity, shares: NDArray[np.floating]) -> tuple[int, ...]:
        """The supporting sentences of a pair; by attention alone, where evidence guided it."""
        threshold = self.model.config.evidence_threshold
        if threshold is None:
            return supporting_sentences(head, tail, shares)
        return guided_sentences(shares, threshold)


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """What was found in a batch of D documents with P pairs.

    Attributes:
        head: [P], the index of the head entity within its document.
        tail: [P].
        ends: [D], where the pairs of each document end.
        found: the facts.
        scored: what the model says of every pair; None where nobody asked.
    """

    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    ends: NDArray[np.int64]
    found: list[Found]
    scored: BatchScores | None


def _show(documents: list[Document], looked: _Looked, scored: BatchScores, seen: Seen) -> None:
    """Give what was scored, document by document."""
    decoder, scores = scored.decoder, scored.scores
    distance, probability, decided = (
        each.cpu().numpy()
        for each in (decoder.distances(scores), decoder.probabilities(scores), scored.decided)
    )
    confidence, calibrated = confidence_of(distance), decoder.is_calibrated
    for document, start, end in zip(documents, [0, *looked.ends[:-1]], looked.ends, strict=True):
        rows = slice(start, end)
        head, tail = looked.head[rows], looked.tail[rows]
        seen(
            ScoredPairs(document, head, tail, confidence[rows], probability[rows], calibrated, decided[rows])
        )


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut a stream into lists, taking no more of it than is asked for.

    Example:
        >>> list(chunks("abcde", 2))
        [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield chunk
