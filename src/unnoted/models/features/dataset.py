"""The features of a corpus: a torch data set over Arrow, made once and mapped into memory afterwards."""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from torch.utils.data import Dataset

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.models.features.cache import FeatureCache, fingerprint
from unnoted.models.features.records import RAGGED, read_records, record_batch, view, write_records
from unnoted.models.features.report import FeatureReport
from unnoted.models.features.tokenise import Tokeniser
from unnoted.models.features.word_table import Ids, Offsets

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from transformers import PreTrainedTokenizerBase

DOCUMENTS_A_RECORD = 1024
"""Documents whose features are made, and written, at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentFeatures:
    """One document as the model sees it; arrays are read-only views of int32.

    Attributes:
        index: the document's place in the corpus.
        id: its id.
        entities: how many it has.
        tokens: token ids, markers, start and end token included.
        mention_position: index of each mention's opening marker in `tokens`; without markers, of its first
            token.
        mention_end: index of each mention's closing marker in `tokens`; without markers, of its last token.
        mention_sentence: the sentence that each mention stands in.
        mention_type: the number of each mention's type, from 1; 0 for a type that the model does not know.
        mention_entity: the entity that each mention names.
        sentence_tokens: how many tokens, markers included, each sentence has.
        head: of each candidate pair.
        tail: of each candidate pair.
        fact_pair: row into `head` and `tail` of each fact, ascending.
        fact_relation: index into the vocabulary of each fact.
        evidence_pair: row into `head` and `tail`, once for each sentence that supports a fact, ascending.
        evidence_sentence: a sentence that supports a fact of that pair.
        negative_pair: row into `head` and `tail` of each known negative, ascending.
        negative_relation: index into the vocabulary of each known negative.
    """

    index: int
    id: str
    entities: int
    tokens: Ids
    mention_position: Ids
    mention_end: Ids
    mention_sentence: Ids
    mention_type: Ids
    mention_entity: Ids
    sentence_tokens: Ids
    head: Ids
    tail: Ids
    fact_pair: Ids
    fact_relation: Ids
    evidence_pair: Ids
    evidence_sentence: Ids
    negative_pair: Ids
    negative_relation: Ids


class FeatureSet(Dataset[DocumentFeatures]):
    """The features of a corpus; made by `featurise`.

    Args:
        header: what `featurise` noted of the vocabulary, the candidates and the padding.
        records: record batches with their reports.
        path: the file that the records are mapped from, if any: processes that get a copy map it themselves.

    Attributes:
        relations: the vocabulary; `fact_relation` points into it.
        candidates: the rule that chose the pairs.
        pad_token: what fills a batch's shorter documents.
        markers: whether markers stand around mentions.
        report: what became of the documents' facts; show its `lines()` to the user.
    """

    def __init__(
        self,
        header: dict[str, str],
        records: Sequence[tuple[pa.RecordBatch, FeatureReport]],
        path: Path | None = None,
    ) -> None:
        self._source = header, records, path
        self.relations: tuple[str, ...] = tuple(json.loads(header["relations"]))
        self.candidates = CandidatePairs.from_json(json.loads(header["candidates"]))
        self.pad_token = int(header["pad_token"])
        self.markers = bool(json.loads(header.get("markers", "true")))
        self.report = reduce(add, (report for _, report in records), FeatureReport())
        self._records = [_Record(batch) for batch, _ in records]
        self._ends: list[int] = np.cumsum([len(record.ids) for record in self._records]).tolist()

    @classmethod
    def open(cls, path: Path) -> "FeatureSet":
        """Map a feature file into memory."""
        header, records = read_records(path)
        return cls(header, records, path)

    def __reduce__(self) -> tuple[Callable[..., "FeatureSet"], tuple[object, ...]]:
        path = self._source[2]
        return (FeatureSet, self._source) if path is None else (FeatureSet.open, (path,))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> DocumentFeatures:
        if not 0 <= index < len(self):
            raise IndexError(f"document {index}: the corpus has {len(self)}")
        number = bisect_right(self._ends, index)
        record = self._records[number]
        return record.row(index - (self._ends[number] - len(record.ids)), index)

    def __iter__(self) -> Iterator[DocumentFeatures]:
        return (self[index] for index in range(len(self)))

    @property
    def token_counts(self) -> Offsets:
        """How many tokens each document has."""
        return self._counts("tokens")

    @property
    def pair_counts(self) -> Offsets:
        """How many candidate pairs each document has."""
        return self._counts("head")

    def _counts(self, column: str) -> Offsets:
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(np.diff(record.ragged[column][0]) for record in self._records)])


class _Record:
    """One record batch, seen through numpy."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.ids = batch.column("id")
        self.entities = view(batch.column("entities"))
        self.ragged: dict[str, tuple[Ids, Ids]] = {
            name: (view(batch.column(name).offsets), view(batch.column(name).values)) for name in RAGGED
        }

    def row(self, row: int, index: int) -> DocumentFeatures:
        views = [values[offsets[row] : offsets[row + 1]] for offsets, values in self.ragged.values()]
        return DocumentFeatures(index, self.ids[row].as_py(), int(self.entities[row]), *views)


def featurise(
    documents: Sequence[Document],
    tokenizer: "PreTrainedTokenizerBase",
    relations: Sequence[str],
    candidates: CandidatePairs,
    cache: FeatureCache | None = None,
    types: Sequence[str] = (),
    markers: bool = True,
) -> FeatureSet:
    """Make the features of a corpus, or find them where they were made before.

    Args:
        documents: any number, of any length.
        tokenizer: the encoder's, a fast one.
        relations: the vocabulary. A fact of another relation is counted in the report and is no label.
        candidates: which pairs are scored. A fact of another pair is counted in the report.
        cache: where to keep them; None keeps them in memory only.
        types: of entities that mentions are told apart by; all others are alike.
        markers: whether markers stand around mentions.

    Raises:
        ValueError: if the tokenizer cannot be used or a relation is named twice.
        DataError: if a document points outside itself.
    """
    if len(set(relations)) < len(relations):
        repeated = sorted({relation for relation in relations if list(relations).count(relation) > 1})
        raise ValueError(f"relations: found {repeated[0]!r} twice, expected each relation once")
    tokeniser = Tokeniser(tokenizer, markers)
    header = {
        "relations": json.dumps(list(relations)),
        "candidates": json.dumps(candidates.to_json()),
        "pad_token": str(tokeniser.pad_token),
        "markers": json.dumps(markers),
    }
    index = {relation: number for number, relation in enumerate(relations)}
    records = (
        record_batch(documents[start : start + DOCUMENTS_A_RECORD], tokeniser, index, candidates, types)
        for start in range(0, len(documents), DOCUMENTS_A_RECORD)
    )
    if cache is None:
        return FeatureSet(header, list(records))
    key = fingerprint(documents, f"{tokeniser.identity} {tokeniser.pad_token}", relations, candidates, types)
    path = cache.find(key) or cache.write(key, lambda unfinished: write_records(unfinished, header, records))
    return FeatureSet.open(path)
