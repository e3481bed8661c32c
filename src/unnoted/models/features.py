"""Documents → the features that a model sees: token ids, mention positions, candidate pairs, labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Dataset

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Triple
from unnoted.models.tokenization import DocumentTokenizer, Ids, Offsets, first_defect, to_offsets

if TYPE_CHECKING:  # transformers takes seconds to import, and is needed only with a model
    from transformers import PreTrainedTokenizerBase

DOCUMENTS_PER_CHUNK = 1024
"""Documents whose features are computed at a time: the arrays in between are several times larger."""

COLUMNS = (
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
"""The fields of `DocumentFeatures` that are arrays."""


@dataclass(frozen=True, slots=True)
class FeatureReport:
    """What became of the facts of documents; reports of parts of a corpus add up to that of the whole.

    Every fact is counted once: as kept, or under the first reason in the order below that leaves it out.

    Attributes:
        documents: number of documents.
        tokens: with markers, start and end tokens.
        mentions: all are kept.
        pairs: candidate pairs.
        facts: kept as labels.
        self_facts: relate an entity to itself.
        unknown_relations: facts whose relation is not in the vocabulary, by relation.
        excluded_types: facts whose pair is not a candidate, by "head type:tail type".
        repeated_facts: labelled before in the same document.
        empty_words: words without a token.
        negatives: explicit negatives that were kept.
        ignored_negatives: explicit negatives of an unknown relation or a pair that is not a candidate.

    Example:
        >>> whole = FeatureReport(facts=2, self_facts=1) + FeatureReport(unknown_relations=Counter(spouse=3))
        >>> whole.left_out, whole.lines()
        (4, ['1 fact(s) relate an entity to itself', "3 fact(s) of the unknown relation 'spouse'"])
    """

    documents: int = 0
    tokens: int = 0
    mentions: int = 0
    pairs: int = 0
    facts: int = 0
    self_facts: int = 0
    unknown_relations: Counter[str] = field(default_factory=Counter)
    excluded_types: Counter[str] = field(default_factory=Counter)
    repeated_facts: int = 0
    empty_words: int = 0
    negatives: int = 0
    ignored_negatives: int = 0

    def __add__(self, other: "FeatureReport") -> "FeatureReport":
        return FeatureReport(
            **{part.name: getattr(self, part.name) + getattr(other, part.name) for part in fields(self)}
        )

    @property
    def left_out(self) -> int:
        """The number of facts that are no label, repeated ones aside."""
        return self.self_facts + self.unknown_relations.total() + self.excluded_types.total()

    def lines(self) -> list[str]:
        """What a user should know, one line each; empty if nothing was left out."""
        counts = [
            (self.self_facts, "fact(s) relate an entity to itself"),
            *(
                (n, f"fact(s) of the unknown relation {name!r}")
                for name, n in sorted(self.unknown_relations.items())
            ),
            *(
                (n, f"fact(s) between {types}, not candidates")
                for types, n in sorted(self.excluded_types.items())
            ),
            (self.repeated_facts, "repeated fact(s), kept once"),
            (self.empty_words, "word(s) without a token"),
            (
                self.ignored_negatives,
                "explicit negative(s) ignored: unknown relation, or not a candidate pair",
            ),
        ]
        return [f"{count} {what}" for count, what in counts if count]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentFeatures:
    """One document as the model sees it; arrays are read-only int32.

    Attributes:
        index: the document's index in the corpus.
        id: its id.
        entities: its number of entities.
        tokens: token ids, with markers, start and end token.
        mention_position: position of each mention's opening marker, or first token without markers.
        mention_end: position of each mention's closing marker, or last token without markers.
        mention_sentence: sentence of each mention.
        mention_type: number of each mention's type, from 1; 0 for a type that the model does not know.
        mention_entity: entity of each mention.
        sentence_tokens: number of tokens, markers included, of each sentence.
        head: of each candidate pair.
        tail: of each candidate pair.
        fact_pair: row into `head` and `tail` of each fact, ascending.
        fact_relation: relation index of each fact.
        evidence_pair: row into `head` and `tail`, once for each sentence that supports a fact, ascending.
        evidence_sentence: that sentence.
        negative_pair: row into `head` and `tail` of each explicit negative, ascending.
        negative_relation: relation index of each explicit negative.
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


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """The features of some documents: each column as flat values, with the offsets of the documents."""

    ids: list[str]
    entities: list[int]
    columns: dict[str, tuple[Ids, Offsets]]
    report: FeatureReport


class FeatureSet(Dataset[DocumentFeatures]):
    """The features of a corpus, made by `featurise`.

    Attributes:
        relations: the vocabulary; `fact_relation` is an index into it.
        pad_token: pads the shorter documents of a batch.
        markers: whether markers stand around mentions.
        report: what became of the documents' facts; show its `lines()` to the user.
    """

    def __init__(
        self, relations: Sequence[str], pad_token: int, markers: bool, chunks: Sequence[_Chunk]
    ) -> None:
        self.relations = tuple(relations)
        self.pad_token = pad_token
        self.markers = markers
        self.report = reduce(add, (chunk.report for chunk in chunks), FeatureReport())
        self._ids = [each for chunk in chunks for each in chunk.ids]
        self._entities = [count for chunk in chunks for count in chunk.entities]
        self._columns = {name: _concatenate([chunk.columns[name] for chunk in chunks]) for name in COLUMNS}

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> DocumentFeatures:
        if not 0 <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        arrays = [values[offsets[index] : offsets[index + 1]] for values, offsets in self._columns.values()]
        return DocumentFeatures(index, self._ids[index], self._entities[index], *arrays)

    def __iter__(self) -> Iterator[DocumentFeatures]:
        return (self[index] for index in range(len(self)))

    @property
    def token_counts(self) -> Offsets:
        """The number of tokens of each document."""
        return np.diff(self._columns["tokens"][1])

    @property
    def pair_counts(self) -> Offsets:
        """The number of candidate pairs of each document."""
        return np.diff(self._columns["head"][1])


class Featuriser:
    """Turns documents into features; safe to use from several threads.

    Args:
        tokenizer: the encoder's, a fast one.
        relations: the vocabulary. A fact of another relation is counted in the report and is no label.
        candidates: the pairs that are scored. A fact of another pair is counted in the report.
        types: the entity types that are told apart; all others are alike.
        markers: whether markers stand around mentions.

    Raises:
        ValueError: the tokenizer cannot be used, or a relation is repeated.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        relations: Sequence[str],
        candidates: CandidatePairs,
        types: Sequence[str] = (),
        markers: bool = True,
    ) -> None:
        if repeated := [relation for relation, count in Counter(relations).items() if count > 1]:
            raise ValueError(f"relation {repeated[0]!r} is repeated in the vocabulary")
        self.tokenizer = DocumentTokenizer(tokenizer, markers)
        self.relations = tuple(relations)
        self.candidates = candidates
        self.markers = markers
        self._relation_index = {relation: number for number, relation in enumerate(relations)}
        self._type_number = {name: number for number, name in enumerate(types, start=1)}

    def __call__(self, documents: Sequence[Document]) -> FeatureSet:
        """The features of documents, in order.

        Raises:
            DataError: an index of a document points outside it.
        """
        starts = range(0, len(documents), DOCUMENTS_PER_CHUNK)
        chunks = [self._featurise(documents[start : start + DOCUMENTS_PER_CHUNK]) for start in starts]
        return FeatureSet(self.relations, self.tokenizer.pad_token, self.markers, chunks)

    def _featurise(self, documents: Sequence[Document]) -> _Chunk:
        tokenized = self.tokenizer(documents)
        if not all(_encodes(document.id) for document in documents):
            raise first_defect(documents)
        arrays = [self.candidates.index_pairs(document) for document in documents]
        head, tail = (
            np.concatenate([np.zeros(0, np.int32), *(pair[side] for pair in arrays)]) for side in (0, 1)
        )
        pairs = _PairRows(documents, head, tail, to_offsets(len(heads) for heads, _ in arrays))
        facts = _Facts(documents, self._relation_index, pairs)
        negative, ignored = self._negatives(documents, pairs)
        mentions = tokenized.mention_offsets
        types = np.array(
            [
                self._type_number.get(mention.type, 0)
                for document in documents
                for entity in document.entities
                for mention in entity.mentions
            ],
            dtype=np.int32,
        )
        columns = {
            "tokens": (tokenized.tokens, tokenized.token_offsets),
            "mention_position": (tokenized.mention_position, mentions),
            "mention_end": (tokenized.mention_end, mentions),
            "mention_sentence": (tokenized.mention_sentence, mentions),
            "mention_type": (types, mentions),
            "mention_entity": (tokenized.mention_entity, mentions),
            "sentence_tokens": (tokenized.sentence_tokens, tokenized.sentence_offsets),
            "head": (head, pairs.offsets),
            "tail": (tail, pairs.offsets),
            **pairs.split("fact_pair", "fact_relation", facts.labels),
            **pairs.split("evidence_pair", "evidence_sentence", facts.evidence),
            **pairs.split("negative_pair", "negative_relation", negative),
        }
        report = FeatureReport(
            documents=len(documents),
            tokens=len(tokenized.tokens),
            mentions=int(mentions[-1]),
            pairs=len(head),
            facts=len(facts.labels),
            self_facts=facts.self_facts,
            unknown_relations=facts.unknown_relations,
            excluded_types=facts.excluded_types,
            repeated_facts=facts.repeated,
            empty_words=tokenized.empty_words,
            negatives=len(negative),
            ignored_negatives=ignored,
        )
        entities = [len(document.entities) for document in documents]
        return _Chunk([document.id for document in documents], entities, columns, report)

    def _negatives(self, documents: Sequence[Document], pairs: "_PairRows") -> tuple[Offsets, int]:
        """Explicit negatives as (row, relation) [N, 2], sorted, each once; and how many are ignored.

        Ignored are those of an unknown relation or a pair that is not a candidate, and those that are labelled
        too: documents made by hand may say both.
        """
        labelled: list[set[Triple]] = [
            {fact.triple for fact in document.facts} if document.negatives else set()
            for document in documents
        ]
        flat = np.array(
            [
                (
                    index,
                    head,
                    tail,
                    self._relation_index.get(relation, -1),
                    (head, tail, relation) in labelled[index],
                )
                for index, document in enumerate(documents)
                for head, tail, relation in document.negatives
            ],
            dtype=np.int64,
        )
        document, head, tail, relation, is_labelled = flat.reshape(-1, 5).T
        row, candidate = pairs.find(document, head, tail)
        kept = candidate & (relation >= 0) & (is_labelled == 0)
        return _unique_rows(row[kept], relation[kept]), int((~kept).sum())


class _Facts:
    """The facts of documents: labels (row, relation) [F, 2] and evidence (row, sentence) [V, 2], both sorted."""

    def __init__(
        self, documents: Sequence[Document], relation_index: dict[str, int], pairs: "_PairRows"
    ) -> None:
        facts = [(index, fact) for index, document in enumerate(documents) for fact in document.facts]
        flat = np.array(
            [(index, fact.head, fact.tail, relation_index.get(fact.relation, -1)) for index, fact in facts],
            dtype=np.int64,
        )
        document, head, tail, relation = flat.reshape(-1, 4).T
        row, candidate = pairs.find(document, head, tail)
        itself = head == tail
        unknown = ~itself & (relation < 0)
        excluded = ~itself & ~unknown & ~candidate
        self.self_facts = int(itself.sum())
        self.unknown_relations = Counter(facts[i][1].relation for i in np.flatnonzero(unknown))
        entities = [documents[index].entities for index, _ in facts]
        self.excluded_types = Counter(
            f"{entities[i][head[i]].type}:{entities[i][tail[i]].type}" for i in np.flatnonzero(excluded)
        )
        kept = ~(itself | unknown | excluded)
        self.labels = _unique_rows(row[kept], relation[kept])
        self.repeated = int(kept.sum()) - len(self.labels)

        counts = np.array([len(fact.evidence) for _, fact in facts], dtype=np.int64)
        sentence = np.array([number for _, fact in facts for number in fact.evidence], dtype=np.int64)
        sentences = np.array([len(documents[index].sentences) for index, _ in facts], dtype=np.int64)
        if ((sentence < 0) | (sentence >= np.repeat(sentences, counts))).any():
            raise first_defect(documents)
        of_kept = np.repeat(kept, counts)
        self.evidence = _unique_rows(np.repeat(row, counts)[of_kept], sentence[of_kept])


class _PairRows:
    """Finds the rows of entity pairs among the candidate pairs of several documents.

    Args:
        documents: in order.
        head: of each candidate pair of all of them, ascending within a document.
        tail: of each candidate pair, ascending within a head.
        offsets: where the pairs of each document begin, and where the last ones end.
    """

    def __init__(self, documents: Sequence[Document], head: Ids, tail: Ids, offsets: Offsets) -> None:
        self.offsets = offsets
        self._documents = documents
        self._entities: Offsets = np.array([len(d.entities) for d in documents], dtype=np.int64)
        self._first = np.cumsum(self._entities**2) - self._entities**2
        self._codes = self._encode(np.repeat(np.arange(len(documents)), np.diff(offsets)), head, tail)

    def find(self, document: Offsets, head: Offsets, tail: Offsets) -> tuple[Offsets, NDArray[np.bool_]]:
        """The row of each pair among all candidate pairs, and whether it is a candidate at all.

        Raises:
            DataError: an entity is not one of its document.
        """
        ends = np.stack([head, tail])
        if ((ends < 0) | (ends >= self._entities[document])).any():
            raise first_defect(self._documents)
        codes = self._encode(document, head, tail)
        rows: Offsets = np.searchsorted(self._codes, codes)
        return rows, np.append(self._codes, -1)[rows] == codes

    def split(self, pair_name: str, name: str, pairs: Offsets) -> dict[str, tuple[Ids, Offsets]]:
        """(row, value) [N, 2], sorted by row, as two columns whose rows count within each document."""
        row, value = pairs.T
        offsets: Offsets = np.searchsorted(row, self.offsets)
        within = row - np.repeat(self.offsets[:-1], np.diff(offsets))
        return {pair_name: (within.astype(np.int32), offsets), name: (value.astype(np.int32), offsets)}

    def _encode(self, document: Offsets, head: Offsets | Ids, tail: Offsets | Ids) -> Offsets:
        """One number for each ordered pair of entities, ascending with the candidate pairs."""
        heads, tails = head.astype(np.int64), tail.astype(np.int64)
        return self._first[document] + heads * self._entities[document] + tails


def featurise(
    documents: Sequence[Document],
    tokenizer: "PreTrainedTokenizerBase",
    relations: Sequence[str],
    candidates: CandidatePairs | None = None,
    types: Sequence[str] = (),
    markers: bool = True,
) -> FeatureSet:
    """The features of a corpus: `Featuriser(tokenizer, relations, ...)(documents)`.

    Example:
        `features = featurise(documents, model.tokenizer, model.relations.ids)` for a
        `DataLoader(features, batch_sampler=ShuffledBatches(features), collate_fn=Collator(features))`.
    """
    return Featuriser(tokenizer, relations, candidates or CandidatePairs(), types, markers)(documents)


def _concatenate(parts: list[tuple[Ids, Offsets]]) -> tuple[Ids, Offsets]:
    values = np.concatenate([np.zeros(0, np.int32), *(values for values, _ in parts)])
    values.flags.writeable = False
    counts = np.concatenate([np.zeros(0, np.int64), *(np.diff(offsets) for _, offsets in parts)])
    return values, to_offsets(counts)


def _unique_rows(row: Offsets, value: Offsets) -> Offsets:
    """Distinct (row, value), sorted, [N, 2]."""
    return np.unique(np.stack([row, value], axis=1), axis=0)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
