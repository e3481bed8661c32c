"""One batch through the model: which facts it predicts, how sure it is, and where it looked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.documents.schema import Document
from unnoted.encoders import Encoded
from unnoted.extraction.support import attention_shares, mention_shares
from unnoted.features import Batch
from unnoted.model import RelationModel
from unnoted.risks import ScoreMeaning

SHARES_AT_ONCE = 2**24
"""How many shares (pairs with facts x sentences) are held at a time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts to give.

    Args:
        threshold: predict the facts whose probability is at least this; None leaves it to the model's rule.
        floor: also give facts that are not predicted, if their probability is at least this; None gives none.

    Example:
        >>> Wanted(threshold=1.5)
        Traceback (most recent call last):
        ValueError: threshold: found 1.5, expected a probability from 0 to 1
    """

    threshold: float | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "floor"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name}: found {value}, expected a probability from 0 to 1")

    def decided(self, meaning: ScoreMeaning, scores: Tensor, probability: Tensor) -> Tensor:
        """Which facts are predicted, bool [P, K]."""
        return meaning.decide(scores) if self.threshold is None else probability >= self.threshold

    def given(self, decided: Tensor, probability: Tensor) -> Tensor:
        """Which facts are given, bool [P, K]."""
        return decided if self.floor is None else decided | (probability >= self.floor)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """F facts of a batch, ordered by pair, then by relation, in numpy.

    Attributes:
        pair: [F], row into the batch's pairs.
        relation: [F], index into the relations.
        probability: [F].
        margin: [F].
        decided: [F].
        shares: [Q, S], each sentence's share of the attention of the Q different pairs.
        share: [F], row into `shares`.
    """

    pair: NDArray[np.int64]
    relation: NDArray[np.int64]
    probability: NDArray[np.floating[Any]]
    margin: NDArray[np.floating[Any]]
    decided: NDArray[np.bool_]
    shares: NDArray[np.floating[Any]]
    share: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Every candidate pair of a document with every relation, in numpy: for rankings, where facts are many.

    Attributes:
        document: the document.
        head: [P], the index of the head entity.
        tail: [P].
        probability: [P, K].
        decided: [P, K], which facts are predicted.
    """

    document: Document
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    probability: NDArray[np.floating[Any]]
    decided: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class BatchScores:
    """What the model says of a batch, on its device.

    Attributes:
        encoded: the tokens.
        margin: [P, K].
        probability: [P, K].
        decided: [P, K].
    """

    encoded: Encoded
    margin: Tensor
    probability: Tensor
    decided: Tensor


# Not inference mode: a model may be asked in the middle of its training, and must not keep tensors made here.
@torch.no_grad()
def score_batch(model: RelationModel, batch: Batch, wanted: Wanted) -> BatchScores:
    """Score the pairs of a batch, which is on the model's device; the model is in evaluation mode."""
    scores, encoded = model.score_pairs(batch)  # [P, K + 1]
    meaning = model.meaning
    probability = meaning.probabilities(scores)
    decided = wanted.decided(meaning, scores, probability)
    return BatchScores(encoded, meaning.margins(scores), probability, decided)


@torch.no_grad()
def find_facts(batch: Batch, scored: BatchScores, wanted: Wanted) -> list[Found]:
    """Pick the facts of a batch: all in one, or, where pairs and sentences are very many, in several pieces.

    Args:
        batch: on the model's device.
        scored: what the model says of it.
        wanted: which facts to give.
    """
    encoded, probability, decided = scored.encoded, scored.probability, scored.decided
    # The one place where the CPU waits for the device: how many facts there are is known only now.
    pair, relation = wanted.given(decided, probability).nonzero(as_tuple=True)  # [F]
    pairs, counts = torch.unique_consecutive(pair, return_counts=True)
    attention = None if encoded.attention is None else encoded.entity_rows(batch)
    at_once = max(1, SHARES_AT_ONCE // max(1, batch.sentences))
    pieces = []
    start = 0
    for some, count in zip(torch.split(pairs, at_once), torch.split(counts, at_once), strict=True):
        facts = slice(start, start + int(count.sum()))
        start = facts.stop
        shares = (
            mention_shares(batch, some) if attention is None else attention_shares(attention, batch, some)
        )
        pieces.append(_found(scored, pair[facts], relation[facts], shares, count))
    return pieces


def _found(scored: BatchScores, pair: Tensor, relation: Tensor, shares: Tensor, count: Tensor) -> Found:
    """Some facts in numpy; `shares` [Q, S] and `count` [Q] are those of their pairs."""
    chosen = (scored.margin, scored.probability, scored.decided)
    share = torch.arange(len(count), device=count.device).repeat_interleave(count)
    columns = (pair, relation, *(values[pair, relation] for values in chosen), shares, share)
    pair, relation, margin, probability, decided, shares, share = (column.cpu() for column in columns)
    return Found(
        pair.numpy(),
        relation.numpy(),
        probability.double().numpy(),
        margin.double().numpy(),
        decided.numpy(),
        shares.double().numpy(),
        share.numpy(),
    )
