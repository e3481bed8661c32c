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
    """The F facts of a batch, ordered by pair, then by relation, in numpy.

    Attributes:
        pair: [F], row into the batch's pairs.
        relation: [F], index into the relations.
        probability: [F].
        margin: [F].
        decided: [F].
        shares: [F, S], each sentence's share of the pair's attention.
    """

    pair: NDArray[np.int64]
    relation: NDArray[np.int64]
    probability: NDArray[np.floating[Any]]
    margin: NDArray[np.floating[Any]]
    decided: NDArray[np.bool_]
    shares: NDArray[np.floating[Any]]


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
def find_facts(batch: Batch, scored: BatchScores, wanted: Wanted) -> Found:
    """Pick the facts of a batch.

    Args:
        batch: on the model's device.
        scored: what the model says of it.
        wanted: which facts to give.
    """
    encoded, probability, decided = scored.encoded, scored.probability, scored.decided
    # The one place where the CPU waits for the device: how many facts there are is known only now.
    pair, relation = wanted.given(decided, probability).nonzero(as_tuple=True)  # [F]
    pairs, which = torch.unique_consecutive(pair, return_inverse=True)
    if encoded.attention is None:
        shares = mention_shares(batch, pairs)[which]  # [F, S]
    else:
        shares = attention_shares(encoded.rows, batch, pairs)[which]
    chosen = (scored.margin, probability, decided)
    columns = (pair, relation, *(values[pair, relation] for values in chosen), shares)
    pair, relation, margin, probability, decided, shares = (column.cpu() for column in columns)
    return Found(
        pair.numpy(),
        relation.numpy(),
        probability.double().numpy(),
        margin.double().numpy(),
        decided.numpy(),
        shares.double().numpy(),
    )
