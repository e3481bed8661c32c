"""Overall priors from out-of-fold margins and incomplete labels.

For each relation the likelihood of every labelled share is computed from the ranks at which its labels stand
(`ceilings`), and the relations are then taken together (`populations`). Nothing is told beforehand: the same
code is for complete labels and for one label in ten.

Two things are assumed. What ranks highest is true: with a weak model it is not, and the estimate is too high.
Within a relation, labels were noted without regard to how easily a model finds them: where annotators noted
what is plainly said and left out what must be inferred, the estimate is too low. An audit (`auditing`)
assumes neither.
"""

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.ceilings import SHAPES, SHARES, ceiling_likelihood
from unnoted.priors.estimated import LEVEL, EstimatedPriors, Interval, bounded
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.priors.populations import Population
from unnoted.priors.rank_bands import rank_bands

FEWEST = 5
"""Labels from which on a relation speaks for itself; below, it is taken for any one of the population."""

DRAWS = 300
"""Draws for each shape, from which estimates and intervals are taken."""

CAUTION = "the weaker the scores, the more this is too high; `unnoted priors audit` asks a person"
"""What users of an estimate should be told."""


def estimate_priors(scores: LabelledScores, seed: int = 0) -> EstimatedPriors:
    """Estimate how often each relation holds.

    Args:
        scores: out-of-fold margins beside the labels.
        seed: of the draws that intervals are read from.

    Returns:
        For each relation the estimate, at least the labelled prior, and its interval. A relation with fewer
        than 5 labels takes the pooled ratio. One without labels keeps a prior of 0: there is nothing to
        multiply, and only an audit can tell.

    Raises:
        ValueError: no relation has a label.

    Example:
        >>> random = np.random.default_rng(0)
        >>> true = np.arange(2000) < 300
        >>> margin = random.normal(size=2000) + 4 * true
        >>> labelled = true & (random.random(2000) < 1 / 3)
        >>> zeros = np.zeros(2000, int)
        >>> columns = margin[:, None], labelled[:, None]
        >>> scores = LabelledScores(("spouse",), ("d",), zeros, zeros, zeros, *columns)
        >>> 2 < estimate_priors(scores).ratio.estimate < 4
        True
    """
    counts = scores.labelled.sum(0)  # [P, K] → [K]
    own, few = np.nonzero(counts >= FEWEST)[0], np.nonzero((counts > 0) & (counts < FEWEST))[0]
    if not len(own) + len(few):
        raise ValueError(f"labels: found none in {scores.pairs} pairs, expected labelled facts")
    drawn = _draws(scores, own, len(few), seed)
    seen = np.concatenate([own, few])
    pooled = np.exp(drawn) @ counts[seen] / counts[seen].sum()  # [draws]
    ratios = np.ones((3, len(counts)))
    ratios[:, seen] = np.exp(_estimate_and_ends(drawn))
    labelled = scores.labelled_share
    overall, low, high = (
        tuple(bounded(ratio * prior, prior) for ratio, prior in zip(row, labelled.tolist(), strict=True))
        for row in ratios.tolist()
    )
    basis = np.full(len(counts), "none", dtype=object)
    basis[own], basis[few] = "own", "pooled"
    # Over relations as for one of them: the mean of the logs, so that no long tail decides.
    ratio = Interval(*np.exp(_estimate_and_ends(np.log(pooled)[:, None]))[:, 0].tolist())
    return EstimatedPriors(
        scores.relations, scores.pairs, tuple(labelled.tolist()), overall, low, high, ratio, tuple(basis)
    )


def _draws(scores: LabelledScores, own: NDArray[np.int64], few: int, seed: int) -> NDArray[np.float64]:
    """Log ratios of the relations together, [draws, own + few], the same number for each shape."""
    bands, random = rank_bands(scores, own.tolist()), np.random.default_rng(seed)
    populations = (Population.of(-np.log(SHARES), ceiling_likelihood(bands, shape)) for shape in SHAPES)
    return np.concatenate([population.draws(DRAWS, few, random) for population in populations])


def _estimate_and_ends(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of draws [draws, K] and the ends of their interval, [3, K]."""
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.concatenate([draws.mean(0, keepdims=True), ends])
