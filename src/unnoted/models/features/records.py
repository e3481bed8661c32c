"""Documents → Arrow record batches: ragged columns as flat values and offsets, which numpy views in place."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Fact
from unnoted.models.features.faults import first_fault
from unnoted.models.features.pair_rows import PairRows, within
from unnoted.models.features.rejected import Rejected
from unnoted.models.features.report import FeatureReport
from unnoted.models.features.tokenise import Tokeniser
from unnoted.models.features.word_table import Ids, Offsets

RAGGED = (
    "tokens",
    "mention_position",
    "mention_end",
    "mention_sentence",
    "mention_type",
    "mention_entity",
    "sentence_tokens",
    "head",
    "tail",
    "fact_pair",
    "fact_relation",
    "evidence_pair",
    "evidence_sentence",
    "negative_pair",
    "negative_relation",
)
"""The columns that hold a list of int32 for each document."""

SCHEMA = pa.schema(
    [("id", pa.string()), ("entities", pa.int32()), *((name, pa.list_(pa.int32())) for name in RAGGED)]
)

REPORT = b"report"
"""Under which name a record batch carries its report."""


def record_batch(
    documents: Sequence[Document],
    tokeniser: Tokeniser,
    relations: Mapping[str, int],
    candidates: CandidatePairs,
    types: Sequence[str] = (),
) -> tuple[pa.RecordBatch, FeatureReport]:
    """The features of documents, one row each, and what became of their facts.

    Args:
        documents: few enough to hold their features in memory.
        tokeniser: gives tokens and mention positions.
        relations: each relation's index.
        candidates: which pairs are scored.
        types: of entities; the first has number 1, and any other has 0.

    Raises:
        DataError: if a document points outside itself.
    """
    tokenised = tokeniser(documents)
    head, tail, pair_offsets = _pairs(documents, candidates)
    rows = PairRows(documents, head, tail, pair_offsets)
    facts = _Facts(documents, relations, rows, pair_offsets)
    rejected = Rejected(documents, relations, rows, pair_offsets)
    mentions = tokenised.mention_offsets
    columns = [
        _strings(documents),
        _integers(np.array([len(document.entities) for document in documents], dtype=np.int32)),
        _ragged(tokenised.tokens, tokenised.token_offsets),
        _ragged(tokenised.mention_position, mentions),
        _ragged(tokenised.mention_end, mentions),
        _ragged(tokenised.mention_sentence, mentions),
        _ragged(_type_numbers(documents, types), mentions),
        _ragged(tokenised.mention_entity, mentions),
        _ragged(tokenised.sentence_tokens, tokenised.sentence_offsets),
        _ragged(head, pair_offsets),
        _ragged(tail, pair_offsets),
        _ragged(facts.pair, facts.offsets),
        _ragged(facts.relation, facts.offsets),
        _ragged(facts.evidence_pair, facts.evidence_offsets),
        _ragged(facts.evidence_sentence, facts.evidence_offsets),
        _ragged(rejected.pair, rejected.offsets),
        _ragged(rejected.relation, rejected.offsets),
    ]
    report = FeatureReport(
        documents=len(documents),
        tokens=len(tokenised.tokens),
        mentions=int(mentions[-1]),
        pairs=len(head),
        facts=len(facts.pair),
        self_facts=facts.self_facts,
        unknown_relations=facts.unknown_relations,
        excluded_types=facts.excluded_types,
        repeated_facts=facts.repeated,
        empty_words=tokenised.empty_words,
        negatives=len(rejected.pair),
        idle_negatives=rejected.left_out,
    )
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA), report


_NOTHING = np.zeros(0, dtype=np.int32)


def _pairs(documents: Sequence[Document], candidates: CandidatePairs) -> tuple[Ids, Ids, Offsets]:
    """Heads and tails of all candidate pairs, and where those of each document begin."""
    arrays = [candidates.index_pairs(document) for document in documents]
    head, tail = (np.concatenate([_NOTHING, *(pair[side] for pair in arrays)]) for side in (0, 1))
    return head, tail, np.cumsum([0, *(len(heads) for heads, _ in arrays)])


class _Facts:
    """The facts of documents as rows into each document's pairs, in the order of pairs, then of relations."""

    def __init__(
        self,
        documents: Sequence[Document],
        relations: Mapping[str, int],
        rows: PairRows,
        pair_offsets: Offsets,
    ) -> None:
        noted = [(index, fact) for index, document in enumerate(documents) for fact in document.facts]
        flat = np.array(
            [(index, fact.head, fact.tail, relations.get(fact.relation, -1)) for index, fact in noted],
            dtype=np.int64,
        )
        document, fact_head, fact_tail, relation = flat.reshape(-1, 4).T
        row, candidate = rows.find(document, fact_head, fact_tail)
        itself = fact_head == fact_tail
        unknown = ~itself & (relation < 0)
        excluded = ~itself & ~unknown & ~candidate
        self.self_facts = int(itself.sum())
        self.unknown_relations = Counter(noted[i][1].relation for i in np.flatnonzero(unknown))
        self.excluded_types = Counter(
            _types_of(documents[noted[i][0]], noted[i][1].head, noted[i][1].tail)
            for i in np.flatnonzero(excluded)
        )
        kept = ~(itself | unknown | excluded)
        labels = np.unique(np.stack([row[kept], relation[kept]], axis=1), axis=0)  # [F, 2], sorted by row
        self.repeated = int(kept.sum()) - len(labels)
        self.offsets, self.pair = within(labels[:, 0], pair_offsets)
        self.relation: Ids = labels[:, 1].astype(np.int32)
        evidence = _evidence(documents, noted, row, kept)  # [V, 2], sorted by row
        self.evidence_offsets, self.evidence_pair = within(evidence[:, 0], pair_offsets)
        self.evidence_sentence: Ids = evidence[:, 1].astype(np.int32)


def _evidence(
    documents: Sequence[Document],
    noted: Sequence[tuple[int, Fact]],
    row: Offsets,
    kept: NDArray[np.bool_],
) -> Offsets:
    """Each pair with each sentence that supports one of its facts, once, as [V, 2]."""
    counts = np.array([len(fact.evidence) for _, fact in noted], dtype=np.int64)
    sentence = np.array([number for _, fact in noted for number in fact.evidence], dtype=np.int64)
    most = np.array([len(documents[index].sentences) for index, _ in noted], dtype=np.int64)
    if ((sentence < 0) | (sentence >= np.repeat(most, counts))).any():
        raise first_fault(documents)
    both = np.stack([np.repeat(row, counts), sentence], axis=1)[np.repeat(kept, counts)]
    return np.unique(both, axis=0)


def _type_numbers(documents: Sequence[Document], types: Sequence[str]) -> Ids:
    number = {name: index for index, name in enumerate(types, start=1)}
    return np.array(
        [
            number.get(mention.type, 0)
            for document in documents
            for entity in document.entities
            for mention in entity.mentions
        ],
        dtype=np.int32,
    )


def _types_of(document: Document, head: int, tail: int) -> str:
    return f"{document.entities[head].type}:{document.entities[tail].type}"


def _strings(documents: Sequence[Document]) -> pa.StringArray:
    try:
        encoded = [document.id.encode() for document in documents]
    except UnicodeEncodeError:
        raise first_fault(documents) from None
    offsets = _fitting(np.cumsum([0, *map(len, encoded)]))
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def _ragged(values: Ids, offsets: Offsets) -> pa.ListArray:
    return pa.ListArray.from_arrays(_integers(_fitting(offsets)), _integers(values))


def _integers(values: Ids) -> pa.Int32Array:
    # From the buffer, because `pa.array` imports pandas first, which takes longer than many a corpus.
    return pa.Array.from_buffers(pa.int32(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def view(array: pa.Int32Array) -> Ids:
    """Arrow's integers as numpy sees them in place, read-only (`to_numpy` would import pandas, too)."""
    if len(array) == 0:  # may have no buffer at all
        return _NOTHING
    values = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array)]
    values.flags.writeable = False
    return values


def _fitting(offsets: Offsets) -> Ids:
    if offsets[-1] > np.iinfo(np.int32).max:
        raise OverflowError(f"features: found {offsets[-1]} values in one record, expected less than 2^31")
    return offsets.astype(np.int32)


def write_records(
    path: Path, header: Mapping[str, str], records: Iterable[tuple[pa.RecordBatch, FeatureReport]]
) -> None:
    """Write record batches and their reports as they come; `header` becomes the metadata of the schema."""
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, SCHEMA.with_metadata(dict(header))) as writer,
    ):
        for batch, report in records:
            writer.write_batch(batch, custom_metadata={REPORT: json.dumps(report.to_json())})


def read_records(path: Path) -> tuple[dict[str, str], list[tuple[pa.RecordBatch, FeatureReport]]]:
    """Map a file of `write_records` into memory: its header, its record batches and their reports."""
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    header = {key.decode(): value.decode() for key, value in (reader.schema.metadata or {}).items()}
    found = [reader.get_batch_with_custom_metadata(i) for i in range(reader.num_record_batches)]
    return header, [(batch, FeatureReport.from_json(json.loads(meta[REPORT]))) for batch, meta in found]
