"""Documents → the features that a model sees: token ids, mention positions, candidate pairs, labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Dataset

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.models.tokenization import DocumentTokenizer, Ids, TokenizedDocument, refuse

if TYPE_CHECKING:  # transformers takes seconds to import, and is needed only with a model
    from transformers import PreTrainedTokenizerBase


@dataclass(slots=True)
class FeatureReport:
    """What became of the facts of documents.

    Every fact is counted once: as kept, or under the first reason in the order below that leaves it out.

    Attributes:
        documents: number of documents.
        pairs: candidate pairs.
        facts: kept as labels.
        self_facts: relate an entity to itself.
        unknown_relations: facts whose relation is not in the vocabulary, by relation.
        excluded_types: facts whose pair is not a candidate, by "head type:tail type".
        repeated_facts: labelled before in the same document.
        empty_words: words without a token.
        ignored_negatives: explicit negatives of an unknown relation or a pair that is not a candidate.
    """

    documents: int = 0
    pairs: int = 0
    facts: int = 0
    self_facts: int = 0
    unknown_relations: Counter[str] = field(default_factory=Counter)
    excluded_types: Counter[str] = field(default_factory=Counter)
    repeated_facts: int = 0
    empty_words: int = 0
    ignored_negatives: int = 0

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
    """One document as the model sees it; arrays are int32.

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


ARRAYS_BY_LENGTH = {
    "tokens": ("tokens",),
    "mentions": ("mention_position", "mention_end", "mention_sentence", "mention_type", "mention_entity"),
    "sentences": ("sentence_tokens",),
    "pairs": ("head", "tail"),
    "facts": ("fact_pair", "fact_relation"),
    "evidence": ("evidence_pair", "evidence_sentence"),
    "negatives": ("negative_pair", "negative_relation"),
}
"""The arrays of `DocumentFeatures` that have one length."""

DOCUMENTS_AT_ONCE = 1024
"""Documents that are featurised together."""


class FeatureSet(Dataset[DocumentFeatures]):
    """The features of a corpus, made by `featurise`.

    Each array is kept for all documents in one, because arrays of few numbers take ten times their memory.

    Attributes:
        relations: the vocabulary; `fact_relation` is an index into it.
        pad_token: pads the shorter documents of a batch.
        markers: whether markers stand around mentions.
        report: what became of the documents' facts; show its `lines()` to the user.

    Args:
        documents: are taken in parts, in the order of their indices.
    """

    def __init__(
        self,
        relations: Sequence[str],
        pad_token: int,
        markers: bool,
        documents: Iterable[Sequence[DocumentFeatures]],
        report: FeatureReport,
    ) -> None:
        self.relations = tuple(relations)
        self.pad_token = pad_token
        self.markers = markers
        self.report = report
        self._ids: list[str] = []
        self._entities: list[int] = []
        lengths = {kind: [np.zeros(1, dtype=np.int64)] for kind in ARRAYS_BY_LENGTH}
        arrays = {
            name: [np.zeros(0, dtype=np.int32)] for names in ARRAYS_BY_LENGTH.values() for name in names
        }
        for part in documents:
            self._ids += [document.id for document in part]
            self._entities += [document.entities for document in part]
            for kind, names in ARRAYS_BY_LENGTH.items():
                lengths[kind].append(np.array([len(getattr(document, names[0])) for document in part]))
                for name in names:
                    arrays[name].append(np.concatenate([getattr(document, name) for document in part]))
        self._starts = {kind: np.cumsum(np.concatenate(each)) for kind, each in lengths.items()}  # [D + 1]
        self._arrays = {name: np.concatenate(arrays.pop(name)) for name in tuple(arrays)}

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> DocumentFeatures:
        index = range(len(self))[index]
        arrays: dict[str, Ids] = {}
        for kind, names in ARRAYS_BY_LENGTH.items():
            start, end = self._starts[kind][index : index + 2]
            arrays |= {name: self._arrays[name][start:end] for name in names}
        return DocumentFeatures(index, self._ids[index], self._entities[index], **arrays)

    def __iter__(self) -> Iterator[DocumentFeatures]:
        return map(self.__getitem__, range(len(self)))

    @property
    def token_counts(self) -> NDArray[np.int64]:
        """The number of tokens of each document."""
        return np.diff(self._starts["tokens"])

    @property
    def pair_counts(self) -> NDArray[np.int64]:
        """The number of candidate pairs of each document."""
        return np.diff(self._starts["pairs"])


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
        report = FeatureReport()
        starts = range(0, len(documents), DOCUMENTS_AT_ONCE)
        parts = (self._featurise_part(documents, start, report) for start in starts)
        return FeatureSet(self.relations, self.tokenizer.pad_token, self.markers, parts, report)

    def _featurise_part(
        self, documents: Sequence[Document], start: int, report: FeatureReport
    ) -> list[DocumentFeatures]:
        """The features of the documents from `start`."""
        part = documents[start : start + DOCUMENTS_AT_ONCE]
        tokenized = zip(part, self.tokenizer(part), strict=True)
        return [self._featurise(index, *each, report) for index, each in enumerate(tokenized, start)]

    def _featurise(
        self, index: int, document: Document, tokenized: TokenizedDocument, report: FeatureReport
    ) -> DocumentFeatures:
        mentions = [
            (number, mention)
            for number, entity in enumerate(document.entities)
            for mention in entity.mentions
        ]
        head, tail = self.candidates.index_pairs(document)
        facts, evidence, negatives = self._labels(document, head, tail, report)
        report.documents += 1
        report.pairs += len(head)
        report.facts += len(facts)
        report.empty_words += tokenized.empty_words
        fact_pair, fact_relation = _columns(facts)
        evidence_pair, evidence_sentence = _columns(evidence)
        negative_pair, negative_relation = _columns(negatives)
        return DocumentFeatures(
            index=index,
            id=document.id,
            entities=len(document.entities),
            tokens=tokenized.tokens,
            mention_position=tokenized.mention_position,
            mention_end=tokenized.mention_end,
            mention_sentence=np.array([mention.sentence for _, mention in mentions], dtype=np.int32),
            mention_type=np.array(
                [self._type_number.get(mention.type, 0) for _, mention in mentions], dtype=np.int32
            ),
            mention_entity=np.array([entity for entity, _ in mentions], dtype=np.int32),
            sentence_tokens=tokenized.sentence_tokens,
            head=head,
            tail=tail,
            fact_pair=fact_pair,
            fact_relation=fact_relation,
            evidence_pair=evidence_pair,
            evidence_sentence=evidence_sentence,
            negative_pair=negative_pair,
            negative_relation=negative_relation,
        )

    def _labels(
        self, document: Document, head: Ids, tail: Ids, report: FeatureReport
    ) -> tuple[set[tuple[int, int]], set[tuple[int, int]], set[tuple[int, int]]]:
        """Facts (row, relation), evidence (row, sentence) and explicit negatives (row, relation)."""
        pairs = [(fact.head, fact.tail) for fact in document.facts]
        pairs += [(negative[0], negative[1]) for negative in document.negatives]
        entities = range(len(document.entities))
        if not all(one in entities and other in entities for one, other in pairs):
            refuse([document])
        rows = _find_rows(pairs, head, tail, len(entities))

        facts, evidence = set(), set()
        for fact in document.facts:
            row, relation = rows.get((fact.head, fact.tail)), self._relation_index.get(fact.relation)
            if not all(0 <= sentence < len(document.sentences) for sentence in fact.evidence):
                refuse([document])
            if fact.head == fact.tail:
                report.self_facts += 1
            elif relation is None:
                report.unknown_relations[fact.relation] += 1
            elif row is None:
                types = document.entities[fact.head].type, document.entities[fact.tail].type
                report.excluded_types[":".join(types)] += 1
            else:
                report.repeated_facts += (row, relation) in facts
                facts.add((row, relation))
                evidence |= {(row, sentence) for sentence in fact.evidence}

        negatives = set()
        labelled = {fact.triple for fact in document.facts} if document.negatives else set()
        for one, other, name in document.negatives:
            row, relation = rows.get((one, other)), self._relation_index.get(name)
            # Documents made by hand may say of a fact that it does not hold, too.
            if row is None or relation is None or (one, other, name) in labelled:
                report.ignored_negatives += 1
            else:
                negatives.add((row, relation))
        return facts, evidence, negatives


def _find_rows(
    pairs: Collection[tuple[int, int]], head: Ids, tail: Ids, entities: int
) -> dict[tuple[int, int], int]:
    """The rows of pairs among the candidates, which are sorted; a pair that is no candidate is missing."""
    if not len(pairs) or not len(head):
        return {}
    candidates = head.astype(np.int64) * entities + tail
    wanted = np.array([one * entities + other for one, other in pairs])
    rows = np.searchsorted(candidates, wanted).clip(max=len(candidates) - 1)
    found = (candidates[rows] == wanted).tolist()
    return {pair: row for pair, row, is_found in zip(pairs, rows.tolist(), found, strict=True) if is_found}


def _columns(rows: Collection[tuple[int, int]]) -> Ids:
    """Pairs of numbers, sorted, as two arrays: [2, N]."""
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 2).T


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
