"""Features of some documents → one `Batch`."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.models.features.batch import Batch
from unnoted.models.features.dataset import DocumentFeatures, FeatureSet
from unnoted.models.features.entity_tokens import tokens_of_entities
from unnoted.models.features.sampling import PairSample
from unnoted.models.features.word_table import Ids, Offsets

Number = TypeVar("Number", bound=np.generic)


class Collator:
    """Joins documents into a batch, for the `collate_fn` of a `DataLoader`.

    Args:
        relations: how many there are.
        pad_token: what fills the shorter documents; the attention mask hides it.
        unlabelled: which unlabelled pairs to score; None scores all pairs.
        markers: whether markers stand around mentions.
    """

    def __init__(
        self,
        relations: int,
        pad_token: int,
        unlabelled: PairSample | None = None,
        markers: bool = True,
    ) -> None:
        self.relations = relations
        self.pad_token = pad_token
        self.unlabelled = unlabelled
        self.markers = markers

    @classmethod
    def of(
        cls,
        features: FeatureSet,
        unlabelled: PairSample | None = None,
    ) -> "Collator":
        """The collator that fits a feature set."""
        return cls(len(features.relations), features.pad_token, unlabelled, features.markers)

    def __call__(self, documents: Sequence[DocumentFeatures]) -> Batch:
        """Join the documents, in order."""
        drawn = [self._draw(document) for document in documents]
        lengths = [len(document.tokens) for document in documents]
        entities = [document.entities for document in documents]
        mentions = [len(document.mention_position) for document in documents]
        pairs = [len(rows) for rows, _ in drawn]
        facts = [len(document.fact_pair) for document in documents]
        evidence = [len(document.evidence_pair) for document in documents]
        negatives = [len(document.negative_pair) for document in documents]
        first_entity, first_pair = _before(entities), _before(pairs)
        spans = [tokens_of_entities(document, self.markers) for document in documents]
        span_tokens = [len(token) for token, _ in spans]
        input_ids, attention_mask = self._padded(documents, lengths)
        return Batch(
            input_ids=input_ids,
            attention_mask=attention_mask,
            token_sentence=_sentences(documents, max(lengths)),
            mention_position=_joined([document.mention_position for document in documents]),
            mention_end=_joined([document.mention_end for document in documents]),
            mention_sentence=_joined([document.mention_sentence for document in documents]),
            mention_type=_joined([document.mention_type for document in documents]),
            mention_slot=_numbered(mentions),
            mention_entity=_joined(
                [document.mention_entity for document in documents], first_entity, mentions
            ),
            span_token=_joined([token for token, _ in spans]),
            span_entity=_joined([entity for _, entity in spans], first_entity, span_tokens),
            span_slot=_numbered(span_tokens),
            entity_document=_owner(entities),
            entity_slot=_numbered(entities),
            head=_joined(
                [d.head[rows] for d, (rows, _) in zip(documents, drawn, strict=True)], first_entity, pairs
            ),
            tail=_joined(
                [d.tail[rows] for d, (rows, _) in zip(documents, drawn, strict=True)], first_entity, pairs
            ),
            pair_document=_owner(pairs),
            pair_weight=torch.from_numpy(np.concatenate([weights for _, weights in drawn])),
            fact_pair=_joined(_kept([d.fact_pair for d in documents], drawn), first_pair, facts),
            fact_relation=_joined([document.fact_relation for document in documents]),
            evidence_pair=_joined(_kept([d.evidence_pair for d in documents], drawn), first_pair, evidence),
            evidence_sentence=_joined([document.evidence_sentence for document in documents]),
            negative_pair=_joined(_kept([d.negative_pair for d in documents], drawn), first_pair, negatives),
            negative_relation=_joined([document.negative_relation for document in documents]),
            lengths=tuple(lengths),
            mentions=max(mentions),
            spans=max(span_tokens),
            entities=max(entities),
            sentences=max(len(document.sentence_tokens) for document in documents),
            relations=self.relations,
            documents=tuple(document.id for document in documents),
        )

    def _draw(self, document: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to score, and their weights."""
        pairs = len(document.head)
        rows, weights = np.arange(pairs), np.ones(pairs, dtype=np.float32)
        if self.unlabelled is not None:
            rows, weights = self.unlabelled.draw(document)
        return rows, weights

    def _padded(self, documents: Sequence[DocumentFeatures], lengths: list[int]) -> tuple[Tensor, Tensor]:
        """Token ids and attention mask, [D, T]."""
        real = np.arange(max(lengths)) < np.array(lengths)[:, None]  # [D, T]
        tokens = np.full(real.shape, self.pad_token, dtype=np.int64)
        tokens[real] = np.concatenate([document.tokens for document in documents])
        return torch.from_numpy(tokens), torch.from_numpy(real.astype(np.int64))


def _sentences(documents: Sequence[DocumentFeatures], tokens: int) -> Tensor:
    """The sentence of each token, [D, T]; start, end and padding get the number after the last of all."""
    most = max(len(document.sentence_tokens) for document in documents)
    owner = np.full((len(documents), tokens), most, dtype=np.int64)
    for row, document in zip(owner, documents, strict=True):
        counts = document.sentence_tokens
        row[1 : 1 + counts.sum()] = np.repeat(np.arange(len(counts)), counts)
    return torch.from_numpy(owner)


def _kept(parts: list[Ids], drawn: list[tuple[Offsets, NDArray[np.float32]]]) -> list[Offsets]:
    """Rows of labelled or rejected pairs as rows among those that were drawn, which all of them were."""
    return [np.searchsorted(rows, part) for part, (rows, _) in zip(parts, drawn, strict=True)]


def _before(counts: list[int]) -> list[int]:
    """How many stand before each document's first."""
    return list(accumulate(counts, initial=0))[:-1]


def _joined(
    parts: list[NDArray[Number]], before: list[int] | None = None, counts: list[int] | None = None
) -> Tensor:
    """The parts one after the other, each shifted by what stands before it."""
    joined = np.concatenate(parts).astype(np.int64)
    if before is not None and counts is not None:
        joined += np.repeat(before, counts)
    return torch.from_numpy(joined)


def _owner(counts: list[int]) -> Tensor:
    """The document that each of several things belongs to."""
    return torch.from_numpy(np.repeat(np.arange(len(counts)), counts))


def _numbered(counts: list[int]) -> Tensor:
    """Things numbered from 0 within their document."""
    return torch.from_numpy(np.arange(sum(counts)) - np.repeat(_before(counts), counts))
