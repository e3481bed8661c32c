"""One batch through the model: which facts it predicts, how sure it is, and where it looked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.data.document import Document
from unnoted.inference.support import attention_shares, mention_shares
from unnoted.losses import ScoreDecoder, confidence_of, distance_of
from unnoted.models.features import Batch

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from unnoted.models.encoders import Encoded
    from unnoted.models.model import RelationModel
    from unnoted.models.scores.typed_relations import TypedRelations

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

    def decoder(self, decoder: ScoreDecoder) -> ScoreDecoder:
        """What scores mean, with the line that is asked for.

        Raises:
            ValueError: the model is not calibrated, or no line reaches the target.
        """
        if self.target_precision is not None:
            return decoder.at_precision(self.target_precision)
        return decoder if self.target_recall is None else decoder.at_recall(self.target_recall)

    def decided(self, decoder: ScoreDecoder, scores: Tensor) -> Tensor:
        """Which facts are predicted, bool [P, K], from scores [P, K + 1]."""
        if self.threshold is None:
            return decoder.decide(scores)
        return decoder.distances(scores) >= distance_of(self.threshold)

    def given(self, decoder: ScoreDecoder, scores: Tensor, decided: Tensor) -> Tensor:
        """Which facts are given, bool [P, K]."""
        if self.floor is None:
            return decided
        return decided | (decoder.distances(scores) >= distance_of(self.floor))


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

    What scores mean is computed for the pairs that have a fact, which are few: by who asks.

    Attributes:
        encoded: the tokens.
        scores: [P, K + 1].
        decoder: what they mean.
        decided: [P, K].
        given: [P, K], the facts that are wanted, predicted or not.
        rule: [P, K], the number of the rule that lifted a score, or -1; None for a model without rules.
    """

    encoded: "Encoded"
    scores: Tensor
    decoder: ScoreDecoder
    decided: Tensor
    given: Tensor
    rule: Tensor | None = None


# Not inference mode: a model may be asked in the middle of its training, and must not keep tensors made here.
@torch.no_grad()
def score_batch(
    model: "RelationModel",
    batch: Batch,
    wanted: Wanted,
    decoder: ScoreDecoder,
    typed: "TypedRelations | None" = None,
) -> BatchScores:
    """Score the pairs of a batch, which is on the model's device; the model is in evaluation mode."""
    scores, encoded, rule, allowed = model.score_pairs(batch, typed)  # [P, K + 1]
    decided = wanted.decided(decoder, scores)
    given = wanted.given(decoder, scores, decided)
    if allowed is not None:  # whatever the threshold
        decided, given = decided & allowed, given & allowed
    return BatchScores(encoded, scores, decoder, decided, given, rule)


@torch.no_grad()
def find_facts(batch: Batch, scored: BatchScores) -> list[Found]:
    """Pick the facts of a batch: all in one, or, where pairs and sentences are very many, in several pieces.

    Args:
        batch: on the model's device.
        scored: what the model says of it.
    """
    encoded = scored.encoded
    # The one place where the CPU waits for the device: how many facts there are is known only now.
    pair, relation = scored.given.nonzero(as_tuple=True)  # [F]
    pairs, counts = torch.unique_consecutive(pair, return_counts=True)
    attention = None if encoded.attention is None or not len(pairs) else encoded.entity_rows(batch)
    at_once = max(1, SHARES_AT_ONCE // max(1, batch.sentences))
    pieces = []
    start = 0
    for some, count in zip(torch.split(pairs, at_once), torch.split(counts, at_once), strict=True):
        facts = slice(start, start + int(count.sum()))
        start = facts.stop
        shares = (
            mention_shares(batch, some) if attention is None else attention_shares(attention, batch, some)
        )
        pieces.append(_found(scored, some, count, relation[facts], shares))
    return pieces


def _found(scored: BatchScores, pairs: Tensor, count: Tensor, relation: Tensor, shares: Tensor) -> Found:
    """Some facts in numpy: `count` [Q] of each of the `pairs` [Q], whose `shares` are [Q, S]."""
    share = torch.arange(len(count), device=count.device).repeat_interleave(count)  # [F]
    pair, scores, decoder = pairs[share], scored.scores[pairs], scored.decoder
    rule = None if scored.rule is None else scored.rule[pair, relation].cpu().numpy()
    meant = (decoder.margins(scores), decoder.distances(scores), decoder.probabilities(scores))  # [Q, K] each
    chosen = (*(values[share, relation] for values in meant), scored.decided[pair, relation])
    pair, relation, margin, distance, probability, decided, shares, share = (
        column.cpu() for column in (pair, relation, *chosen, shares, share)
    )
    return Found(
        pair.numpy(),
        relation.numpy(),
        confidence_of(distance.numpy()),
        probability.double().numpy() if decoder.is_calibrated else None,
        margin.double().numpy(),
        decided.numpy(),
        shares.double().numpy(),
        share.numpy(),
        rule,
    )
