"""How often each relation holds, where it is known how many facts are true in all: told, or implied by rules.

The level is shared out among relations by calibrated probabilities: the facts of a relation are expected to
be the sum of its probabilities over all pairs, out of fold. A relation with few labels says little of itself,
so its ratio r, true facts for each noted one, is drawn to the level m:

    log r = w log(expected ÷ noted) + (1 − w) log m,   w = noted ÷ (noted + 10)
"""

from statistics import NormalDist

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.calibration.fitting import fit_curves
from unnoted.calibration.ranked_bins import RankedBins
from unnoted.priors.estimated import LEVEL, EstimatedPriors, Interval, bounded
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.priors.priors import Priors

DRAWN = 10
"""Labels at which a relation counts as much as the level."""

SPREAD = 0.4
"""How far the log of a ratio lies from the truth besides chance, in standard deviations; measured where the
truth is known (docs/concepts/priors.md)."""

SIDE = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""Standard deviations to either side that an interval reaches."""


def counted_priors(scores: LabelledScores, noted: NDArray[np.int64], level: Interval) -> EstimatedPriors:
    """Share out the facts that are true in all among relations.

    Args:
        scores: out-of-fold margins beside all labels that are known: noted ones, and what follows by rules.
        noted: [K], how many facts of each relation were noted.
        level: true facts for each noted one, over all relations.

    Returns:
        For each relation the estimate, at least what is known, and its interval. One of which nothing is
        known keeps a prior of 0. Estimates that were drawn to the level need not add up to it.

    Raises:
        ValueError: nothing was noted, there is no pair, or a margin is not finite.

    Example:
        >>> random = np.random.default_rng(0)
        >>> true = np.arange(2000)[:, None] < [300, 100]
        >>> labelled = true & (random.random(true.shape) < [0.5, 0.1])
        >>> margin = random.normal(size=true.shape) + 4 * true
        >>> zeros = np.zeros(2000, int)
        >>> scores = LabelledScores(("often", "seldom"), ("d",), zeros, zeros, zeros, margin, labelled)
        >>> multiplier = true.sum() / labelled.sum()
        >>> level = Interval(multiplier, multiplier, multiplier)
        >>> found = counted_priors(scores, labelled.sum(0), level).rows()
        >>> [round(row["ratio"]) for row in found]  # 2 and 10 are true; ten labels are drawn half way
        [2, 6]
    """
    if not noted.sum():
        raise ValueError(f"labels: found none in {scores.pairs} pairs, expected labelled facts")
    known = scores.labelled.sum(0)  # noted, or implied by rules
    own = np.maximum(_expected(scores, level.estimate * noted.sum()), known)
    weight = np.where(noted > 0, noted / (noted + DRAWN), 1.0)
    with np.errstate(divide="ignore"):
        drawn = weight * np.log(own) + (1 - weight) * np.log(level.estimate * np.maximum(noted, 1))
    width = log_width(noted + DRAWN, level)
    least = (known / scores.pairs).tolist()
    overall, low, high = (
        tuple(
            bounded(facts / scores.pairs, share) if share else 0.0
            for facts, share in zip(row, least, strict=True)
        )
        for row in np.exp([drawn, drawn - width, drawn + width]).tolist()
    )
    basis = tuple("own" if count else "none" for count in known.tolist())
    labelled = tuple((noted / scores.pairs).tolist())
    return EstimatedPriors(scores.relations, scores.pairs, labelled, overall, low, high, level, basis)


def log_width(labels: NDArray[np.int64], level: Interval | None = None) -> NDArray[np.float64]:
    """How far the log of each relation's true facts may lie to either side of an estimate, nine times in ten.

    Args:
        labels: [K], that each estimate rests on.
        level: true facts for each noted one, over all relations; without it, taken for sure.

    Example:
        >>> np.exp(log_width(np.array([5, 500]))).round(2)
        array([2.68, 1.94])
    """
    level_spread = 0.0 if level is None else np.log(level.high / level.low) / (2 * SIDE)
    width: NDArray[np.float64] = SIDE * np.sqrt(SPREAD**2 + 1 / np.maximum(labels, 1) + level_spread**2)
    return width


def _expected(scores: LabelledScores, facts: float) -> NDArray[np.float64]:
    """The expected facts of each relation, [K], by one curve for all under which there are so many."""
    known = scores.labelled_share
    multiplier = max(1.0, facts / max(1, int(scores.labelled.sum())))
    overall = tuple(bounded(multiplier * share, share) for share in known.tolist())
    bins = RankedBins.of(scores)
    fitted = fit_curves(bins, Priors(scores.relations, tuple(known.tolist()), overall), by_relation=False)
    probability = fitted.curves.probabilities(torch.from_numpy(bins.margin.T)).numpy()  # [B, K]
    expected: NDArray[np.float64] = bins.pairs @ probability
    return expected
