"""One batch through the model: which facts it states, how sure it is, and where it looked."""

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
from unnoted.risks.decisions import Decision, Fixed


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts to give.

    Args:
        threshold: state the facts whose probability is at least this; None leaves it to the model's rule.
        floor: also give facts that are not stated, if their probability is at least this; None gives none.

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

    def decided(self, model: RelationModel, scores: Tensor, probability: Tensor) -> Tensor:
        """Which facts are stated, bool [P, K]."""
        return model.decide(scores) if self.threshold is None else probability >= self.threshold

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
        decided: [P, K], which facts are stated.
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
        scores: [P, K + 1].
        probability: [P, K].
        decided: [P, K].
    """

    encoded: Encoded
    scores: Tensor
    probability: Tensor
    decided: Tensor


# Not inference mode: a model may be asked in the middle of its training, and must not keep tensors made here.
@torch.no_grad()
def score_batch(model: RelationModel, batch: Batch, wanted: Wanted) -> BatchScores:
    """Score the pairs of a batch, which is on the model's device; the model is in evaluation mode."""
    encoded = model.encoder(batch)
    scores = model.scores(*model.pairs(encoded, batch))  # [P, K + 1]
    probability = model.probabilities(scores)
    return BatchScores(encoded, scores, probability, wanted.decided(model, scores, probability))


@torch.no_grad()
def find_facts(
    model: RelationModel, batch: Batch, scored: BatchScores, owner: Tensor, sentences: int, wanted: Wanted
) -> Found:
    """Pick the facts of a batch.

    Args:
        model: in evaluation mode.
        batch: on the model's device.
        scored: what the model says of it.
        owner: the sentence of each token, as `sentence_map` gives it.
        sentences: the largest number of sentences in one document.
        wanted: which facts to give.
    """
    encoded, probability, decided = scored.encoded, scored.probability, scored.decided
    # The one place where the processor waits for the device: how many facts there are is known only now.
    pair, relation = wanted.given(decided, probability).nonzero(as_tuple=True)  # [F]
    pairs, which = torch.unique_consecutive(pair, return_inverse=True)
    if encoded.attention is None:
        shares = mention_shares(batch, pairs, sentences)[which]  # [F, S]
    else:
        shares = attention_shares(encoded.rows, batch, pairs, owner, sentences)[which]
    chosen = (margins(model.decision, scored.scores), probability, decided)
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


def margins(decision: Decision, scores: Tensor) -> Tensor:
    """How far each score [P, K] lies above what the decision rule asks of it.

    That is the score of the none class, or, for a fixed rule, its threshold (the none class is not trained
    there).

    Example:
        >>> scores = torch.tensor([[0.5, 0.7]])
        >>> from unnoted.risks.decisions import NoneClass
        >>> margins(NoneClass(), scores).round(decimals=2), margins(Fixed(0.5), scores).round(decimals=2)
        (tensor([[0.2000]]), tensor([[0.2000]]))
    """
    if isinstance(decision, Fixed):
        return scores[:, 1:] - torch.as_tensor(decision.threshold, dtype=scores.dtype).to(scores.device)
    return scores[:, 1:] - scores[:, :1]
