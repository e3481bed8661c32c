"""The documents of a batch as index tensors, with every size as a Python integer.

No shape depends on a value on the device: the forward pass never has to wait for one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from unnoted.models.features import DocumentFeatures, FeatureSet
    from unnoted.models.samplers import PairSampler

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """D documents with M mentions, E entities, P candidate pairs and F facts between them; K relations.

    Mentions, entities and pairs of all documents stand one after the other. A row points into the whole batch,
    an index or position into its document. Tensors are int64, but for the weights.

    Attributes:
        input_ids: [D, T], padded on the right, with the encoder's start and end token.
        attention_mask: [D, T], 0 at padding.
        token_sentence: [D, T], the sentence index; `sentences` for the start and end token and for padding.
        mention_position: [M], the position of the opening marker, or of the first token without markers.
        mention_end: [M], the position of the closing marker, or of the last token without markers.
        mention_sentence: [M], sentence index.
        mention_type: [M], the number of the type, from 1; 0 for an unknown type.
        mention_slot: [M], index among the mentions of the document.
        mention_entity: [M], row of the entity.
        span_token: [S], the positions of all tokens of all mentions of an entity, each once (`entity_tokens`).
        span_entity: [S], row of the entity.
        span_slot: [S], index among those of the document.
        entity_document: [E], row of the document.
        entity_slot: [E], index among the entities of the document.
        head: [P], row of the entity.
        tail: [P], row of the entity, never that of the head.
        pair_document: [P], row of the document.
        pair_weight: float32 [P], 1, or the inverse sampling rate of a sampled pair (`PairSampler`).
        fact_pair: [F], row of the pair.
        fact_relation: [F], index of the relation.
        evidence_pair: [V], row of the pair, ascending, once for each sentence that supports one of its facts.
        evidence_sentence: [V], that sentence's index.
        lengths: the number of tokens of each document, start and end token included.
        mentions: the largest number of mentions in one document.
        spans: the largest number of `span_token` in one document.
        entities: the largest number of entities in one document.
        entity_counts: the number of entities of each document.
        sentences: the largest number of sentences in one document.
        relations: K.
        documents: the documents' ids.
        negative_pair: [N], row of the pair of each explicit negative.
        negative_relation: [N], index of the relation.
    """

    input_ids: Tensor
    attention_mask: Tensor
    token_sentence: Tensor
    mention_position: Tensor
    mention_end: Tensor
    mention_sentence: Tensor
    mention_type: Tensor
    mention_slot: Tensor
    mention_entity: Tensor
    span_token: Tensor
    span_entity: Tensor
    span_slot: Tensor
    entity_document: Tensor
    entity_slot: Tensor
    head: Tensor
    tail: Tensor
    pair_document: Tensor
    pair_weight: Tensor
    fact_pair: Tensor
    fact_relation: Tensor
    evidence_pair: Tensor
    evidence_sentence: Tensor
    lengths: tuple[int, ...]
    mentions: int
    spans: int
    entities: int
    entity_counts: tuple[int, ...]
    sentences: int
    relations: int
    documents: tuple[str, ...]
    negative_pair: Tensor = field(default_factory=partial(torch.zeros, 0, dtype=torch.int64))
    negative_relation: Tensor = field(default_factory=partial(torch.zeros, 0, dtype=torch.int64))

    @property
    def pairs(self) -> int:
        """The number of candidate pairs (P)."""
        return self.head.shape[0]

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.input_ids.device

    @property
    def mention_document(self) -> Tensor:
        """[M], row of the document."""
        return self.entity_document[self.mention_entity]

    @property
    def span_document(self) -> Tensor:
        """[S], row of the document."""
        return self.entity_document[self.span_entity]

    @property
    def entity_type(self) -> Tensor:
        """[E], the number of each entity's type: that of the mention that is listed first."""
        number = torch.arange(len(self.mention_entity), device=self.device)
        first = number.new_full((len(self.entity_document),), len(number))
        return self.mention_type[first.scatter_reduce(0, self.mention_entity, number, "amin")]

    def labels(self) -> Tensor:
        """The labelled facts, bool [P, K]; False means unlabelled."""
        labels = torch.zeros(self.pairs, self.relations, dtype=torch.bool, device=self.device)
        labels[self.fact_pair, self.fact_relation] = True
        return labels

    def negatives(self) -> Tensor | None:
        """The explicit negatives, bool [P, K]; None if there are none."""
        if not self.negative_pair.shape[0]:
            return None
        negatives = torch.zeros(self.pairs, self.relations, dtype=torch.bool, device=self.device)
        negatives[self.negative_pair, self.negative_relation] = True
        return negatives

    def without_types(self) -> "Batch":
        """The batch with all types unknown."""
        return replace(self, mention_type=torch.zeros_like(self.mention_type))

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        """The batch on another device."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "Batch":
        """The batch in page-locked memory, from which it is copied to a GPU in the background."""
        return self._map(Tensor.pin_memory)

    def _map(self, move: Callable[[Tensor], Tensor]) -> "Batch":
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        moved: dict[str, Any] = {
            name: move(value) for name, value in values.items() if isinstance(value, Tensor)
        }
        return replace(self, **moved)


class Collator:
    """Joins documents into a batch: the `collate_fn` of a `DataLoader`.

    Args:
        features: the corpus; its relations, padding and markers are those of the batches.
        pair_sampler: which pairs are scored; None for all.
    """

    def __init__(self, features: "FeatureSet", pair_sampler: "PairSampler | None" = None) -> None:
        self.relations = len(features.relations)
        self.pad_token = features.pad_token
        self.markers = features.markers
        self.pair_sampler = pair_sampler

    def __call__(self, documents: Sequence["DocumentFeatures"]) -> Batch:
        """Join the documents, in order."""
        sampled = [self._sample_pairs(document) for document in documents]
        spans = [entity_tokens(document, self.markers) for document in documents]
        lengths = [len(document.tokens) for document in documents]
        entities = [document.entities for document in documents]
        mentions = [len(document.mention_position) for document in documents]
        pairs = [len(rows) for rows, _ in sampled]
        span_tokens = [len(token) for token, _ in spans]
        first_entity, first_pair = _starts(entities), _starts(pairs)

        def join(name: str) -> Tensor:
            return _join([getattr(document, name) for document in documents])

        def entity_rows(parts: list[NDArray[Number]]) -> Tensor:
            return _join(parts, first_entity)

        def pair_rows(name: str) -> Tensor:
            """Rows of labelled pairs, all of which were sampled, as rows of the sample."""
            columns = [getattr(document, name) for document in documents]
            parts = [
                np.searchsorted(rows, column) for column, (rows, _) in zip(columns, sampled, strict=True)
            ]
            return _join(parts, first_pair)

        input_ids, attention_mask = self._pad(documents, lengths)
        return Batch(
            input_ids=input_ids,
            attention_mask=attention_mask,
            token_sentence=_token_sentences(documents, max(lengths)),
            mention_position=join("mention_position"),
            mention_end=join("mention_end"),
            mention_sentence=join("mention_sentence"),
            mention_type=join("mention_type"),
            mention_slot=_number(mentions),
            mention_entity=entity_rows([document.mention_entity for document in documents]),
            span_token=_join([token for token, _ in spans]),
            span_entity=entity_rows([entity for _, entity in spans]),
            span_slot=_number(span_tokens),
            entity_document=_owner(entities),
            entity_slot=_number(entities),
            head=entity_rows([d.head[rows] for d, (rows, _) in zip(documents, sampled, strict=True)]),
            tail=entity_rows([d.tail[rows] for d, (rows, _) in zip(documents, sampled, strict=True)]),
            pair_document=_owner(pairs),
            pair_weight=torch.from_numpy(np.concatenate([weights for _, weights in sampled])),
            fact_pair=pair_rows("fact_pair"),
            fact_relation=join("fact_relation"),
            evidence_pair=pair_rows("evidence_pair"),
            evidence_sentence=join("evidence_sentence"),
            negative_pair=pair_rows("negative_pair"),
            negative_relation=join("negative_relation"),
            lengths=tuple(lengths),
            mentions=max(mentions),
            spans=max(span_tokens),
            entities=max(entities),
            entity_counts=tuple(entities),
            sentences=max(len(document.sentence_tokens) for document in documents),
            relations=self.relations,
            documents=tuple(document.id for document in documents),
        )

    def _sample_pairs(self, document: "DocumentFeatures") -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows of the pairs to score, and their weights."""
        if self.pair_sampler is not None:
            return self.pair_sampler.sample(document)
        pairs = len(document.head)
        return np.arange(pairs), np.ones(pairs, dtype=np.float32)

    def _pad(self, documents: Sequence["DocumentFeatures"], lengths: list[int]) -> tuple[Tensor, Tensor]:
        """Token ids and attention mask, [D, T] each."""
        real = np.arange(max(lengths)) < np.array(lengths)[:, None]  # [D, T]
        tokens = np.full(real.shape, self.pad_token, dtype=np.int64)
        tokens[real] = np.concatenate([document.tokens for document in documents])
        return torch.from_numpy(tokens), torch.from_numpy(real.astype(np.int64))


def entity_tokens(document: "DocumentFeatures", markers: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of each entity's mentions, sorted by entity, then by position, each once.

    Markers, also those of nested mentions, are not tokens of a mention. A mention whose words have no token has
    its opening marker, or without markers the token that follows.

    Returns:
        Positions and entities, [S] each.

    Example:
        >>> from types import SimpleNamespace
        >>> document = SimpleNamespace(  # of the tokens: start, *, a, b, *, c, end
        ...     tokens=np.zeros(7), mention_entity=np.array([0]),
        ...     mention_position=np.array([1]), mention_end=np.array([4]))
        >>> entity_tokens(document, markers=True)[0].tolist()
        [2, 3]
    """
    position, end = document.mention_position.astype(np.int64), document.mention_end.astype(np.int64)  # [M]
    first, last = position + markers, end - markers
    counts = np.maximum(last - first + 1, 0)
    mention = np.repeat(np.arange(len(counts)), counts)
    token = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[mention]
    if markers:
        inside = ~np.isin(token, np.concatenate([position, end]))
        mention, token = mention[inside], token[inside]
    empty = np.bincount(mention, minlength=len(counts)) == 0
    token = np.concatenate([token, position[empty]])
    entity = document.mention_entity[np.concatenate([mention, np.flatnonzero(empty)])].astype(np.int64)
    length = len(document.tokens)
    once = np.unique(entity * length + token)
    return once % length, once // length


def _token_sentences(documents: Sequence["DocumentFeatures"], tokens: int) -> Tensor:
    """The sentence of each token, [D, T]; start, end and padding get the number after the last of all."""
    most = max(len(document.sentence_tokens) for document in documents)
    owner = np.full((len(documents), tokens), most, dtype=np.int64)
    for row, document in zip(owner, documents, strict=True):
        counts = document.sentence_tokens
        row[1 : 1 + counts.sum()] = np.repeat(np.arange(len(counts)), counts)
    return torch.from_numpy(owner)


def _starts(counts: list[int]) -> list[int]:
    """Where each document's items begin."""
    return list(accumulate(counts, initial=0))[:-1]


def _join(parts: list[NDArray[Number]], starts: list[int] | None = None) -> Tensor:
    """The documents' columns one after the other, each shifted by its start."""
    joined = np.concatenate(parts).astype(np.int64)
    if starts is not None:
        joined += np.repeat(starts, [len(part) for part in parts])
    return torch.from_numpy(joined)


def _owner(counts: list[int]) -> Tensor:
    """The row of each item's document."""
    return torch.from_numpy(np.repeat(np.arange(len(counts)), counts))


def _number(counts: list[int]) -> Tensor:
    """The index of each item within its document."""
    return torch.from_numpy(np.arange(sum(counts)) - np.repeat(_starts(counts), counts))
