"""One batch through the model: which facts it predicts, how sure it is, and where it looked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.documents.schema import Document
from unnoted.extraction.support import attention_shares, mention_shares
from unnoted.features import Batch
from unnoted.risks import ScoreMeaning, confidence_of, distance_of

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from unnoted.encoders import Encoded
    from unnoted.model import RelationModel
    from unnoted.scores.typed_relations import TypedRelations

SHARES_AT_ONCE = 2**24
"""How many shares (pairs with facts x sentences) are held at a time."""


class Asked(TypedDict):
    """What says which facts are predicted, by its names in `Extractor.extract`; at most one is given."""

    threshold: float | None
    target_precision: float | None
    target_recall: float | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts to give.

    Args:
        threshold: predict the facts whose confidence is at least this; None leaves it to the model's rule.
        floor: also give facts that are not predicted, if their confidence is at least this; None gives none.
        target_precision: predict by the line that is expected to have this precision, of a calibrated model.
        target_recall: the same with a recall.

    Raises:
        ValueError: one is no share, or more than one says what is predicted.

    Example:
        >>> Wanted(threshold=1.5)
        Traceback (most recent call last):
        ValueError: threshold: found 1.5, expected a confidence from 0 to 1
    """

    threshold: float | None = None
    floor: float | None = None
    target_precision: float | None = None
    target_recall: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "floor"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name}: found {value}, expected a confidence from 0 to 1")
        lines = {"threshold": self.threshold, "target precision": self.target_precision}
        lines["target recall"] = self.target_recall
        if len(given := [name for name, value in lines.items() if value is not None]) > 1:
            raise ValueError(f"found {' and '.join(given)}, expected one of them")

    def meaning(self, meaning: ScoreMeaning) -> ScoreMeaning:
        """What scores mean, with the line that is asked for.

        Raises:
            ValueError: the model is not calibrated, or no line reaches the target.
        """
        if self.target_precision is not None:
            return meaning.at_precision(self.target_precision)
        return meaning if self.target_recall is None else meaning.at_recall(self.target_recall)

    def decided(self, meaning: ScoreMeaning, scores: Tensor, distance: Tensor) -> Tensor:
        """Which facts are predicted, bool [P, K]."""
        return meaning.decide(scores) if self.threshold is None else distance >= distance_of(self.threshold)

    def given(self, decided: Tensor, distance: Tensor) -> Tensor:
        """Which facts are given, bool [P, K]."""
        return decided if self.floor is None else decided | (distance >= distance_of(self.floor))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """F facts of a batch, ordered by pair, then by relation, in numpy.

    Attributes:
        pair: [F], row into the batch's pairs.
        relation: [F], index into the relations.
        confidence: [F].
        probability: [F], calibrated; None where the model is not.
        margin: [F].
        decided: [F].
        shares: [Q, S], each sentence's share of the attention of the Q different pairs.
        share: [F], row into `shares`.
        rule: [F], the number of the rule that brought the fact, or -1; None for a model without rules.
    """

    pair: NDArray[np.int64]
    relation: NDArray[np.int64]
    confidence: NDArray[np.floating[Any]]
    probability: NDArray[np.floating[Any]] | None
    margin: NDArray[np.floating[Any]]
    decided: NDArray[np.bool_]
    shares: NDArray[np.floating[Any]]
    share: NDArray[np.int64]
    rule: NDArray[np.int16] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Every candidate pair of a document with every relation, in numpy: for rankings, where facts are many.

    Attributes:
        document: the document.
        head: [P], the index of the head entity.
        tail: [P].
        confidence: [P, K].
        probability: [P, K]; what the loss's link shows where the model is not calibrated.
        calibrated: whether it is.
        decided: [P, K], which facts are predicted.
    """

    document: Document
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    confidence: NDArray[np.float64]
    probability: NDArray[np.floating[Any]]
    calibrated: bool
    decided: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class BatchScores:
    """What the model says of a batch, on its device.

    Attributes:
        encoded: the tokens.
        margin: [P, K].
        distance: [P, K], from the line.
        probability: [P, K].
        calibrated: whether the probabilities are.
        decided: [P, K].
        rule: [P, K], the number of the rule that lifted a score, or -1; None for a model without rules.
        allowed: [P, K], which relations types allow; None where all are.
    """

    encoded: "Encoded"
    margin: Tensor
    distance: Tensor
    probability: Tensor
    calibrated: bool
    decided: Tensor
    rule: Tensor | None = None
    allowed: Tensor | None = None


# Not inference mode: a model may be asked in the middle of its training, and must not keep tensors made here.
@torch.no_grad()
def score_batch(
    model: "RelationModel",
    batch: Batch,
    wanted: Wanted,
    meaning: ScoreMeaning,
    typed: "TypedRelations | None" = None,
) -> BatchScores:
    """Score the pairs of a batch, which is on the model's device; the model is in evaluation mode."""
    scores, encoded, rule, allowed = model.score_pairs(batch, typed)  # [P, K + 1]
    distance = meaning.distances(scores)
    decided = wanted.decided(meaning, scores, distance)
    if allowed is not None:
        decided &= allowed  # whatever the threshold
    return BatchScores(
        encoded,
        meaning.margins(scores),
        distance,
        meaning.probabilities(scores),
        meaning.is_calibrated,
        decided,
        rule,
        allowed,
    )


@torch.no_grad()
def find_facts(batch: Batch, scored: BatchScores, wanted: Wanted) -> list[Found]:
    """Pick the facts of a batch: all in one, or, where pairs and sentences are very many, in several pieces.

    Args:
        batch: on the model's device.
        scored: what the model says of it.
        wanted: which facts to give.
    """
    encoded = scored.encoded
    # The one place where the CPU waits for the device: how many facts there are is known only now.
    given = wanted.given(scored.decided, scored.distance)
    given = given if scored.allowed is None else given & scored.allowed
    pair, relation = given.nonzero(as_tuple=True)  # [F]
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
    chosen = (scored.margin, scored.distance, scored.probability, scored.decided)
    share = torch.arange(len(count), device=count.device).repeat_interleave(count)
    rule = None if scored.rule is None else scored.rule[pair, relation].cpu().numpy()
    columns = (pair, relation, *(values[pair, relation] for values in chosen), shares, share)
    pair, relation, margin, distance, probability, decided, shares, share = (
        column.cpu() for column in columns
    )
    return Found(
        pair.numpy(),
        relation.numpy(),
        confidence_of(distance.numpy()),
        probability.double().numpy() if scored.calibrated else None,
        margin.double().numpy(),
        decided.numpy(),
        shares.double().numpy(),
        share.numpy(),
        rule,
    )
