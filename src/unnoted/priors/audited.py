"""From a person's answers to priors.

The ratio over all relations is estimated from the design alone: each answer stands for as many pairs as the
inverse of its probability to be asked. There are too few answers for every relation to do the same, so a
relation's rate in a band is drawn from what that band has in all relations, as far as relations agree.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.auditing import BANDS, AuditDesign
from unnoted.priors.estimated import LEVEL, EstimatedPriors, Interval, bounded

Array = NDArray[np.float64]

AGREEMENTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""To how many answers of its own those of other relations amount for a relation; the likeliest is taken."""

DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said: whether the relation (by its position) holds for a pair of the band."""

    relation: int
    band: int
    probability: float
    holds: bool


def audited_priors(design: AuditDesign, answers: Iterable[Answer], seed: int = 0) -> EstimatedPriors:
    """The priors that answers speak for.

    Args:
        design: what the questions were drawn from.
        answers: what was answered; questions that were passed over are left out.
        seed: of the draws that intervals are read from.

    Raises:
        ValueError: there is no answer.

    Example:
        >>> cells = np.array([[2, 2, 2, 2, 2]])
        >>> design = AuditDesign(("spouse",), 1000, cells.sum(1), cells, cells * 10)
        >>> answers = [Answer(0, band, 0.4, yes < 4) for band in range(5) for yes in range(8)]
        >>> found = audited_priors(design, answers)  # every second of 100 unlabelled pairs holds
        >>> 5 < found.ratio.estimate < 7 and found.ratio.low < 6 < found.ratio.high
        True
    """
    given = list(answers)
    if not given:
        raise ValueError("answers: found none, expected at least one question answered yes or no")
    asked, yes = (_by_cell(given, design, only_yes) for only_yes in (False, True))
    rates, effective = _band_rates(given)
    agreement = max(AGREEMENTS, key=lambda each: _evidence(asked, yes, rates, each))
    mean = (agreement * rates + yes) / (agreement + asked)  # [K, bands]
    random = np.random.default_rng(seed)
    ends = [
        _end(design, draws, agreement, asked, yes, level, random)
        for draws, level in zip(_rate_draws(rates, effective, random), (1 - LEVEL, 1 + LEVEL), strict=True)
    ]
    total = _ratio(design.unlabelled.sum(0) @ rates, design.within.sum())
    (_, low), (_, high) = ends
    # A yes far down the ranking counts whole in the estimate; the high end trusts the ranking.
    ratio = Interval(float(total), min(low, float(total)), max(high, float(total)))
    each = [_ratio((mean * design.unlabelled).sum(1), design.within.sum(1)), *(own for own, _ in ends)]
    return _estimated(design, np.stack(each), ratio, asked.sum(1) > 0)


def _ratio(missing: Array, noted: NDArray[np.int64]) -> Array:
    """True facts per labelled one, from how many are missing."""
    return np.asarray(1 + missing / np.maximum(noted, 1))


def _rate_draws(rates: Array, effective: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Rates of the bands over all relations as low and as high as the answers allow, [draws, bands] each.

    Where nobody said yes, the rate may be 0. A lower band has no higher rate than one above it: that is what
    a ranking means.
    """
    yes, no = rates * effective, (1 - rates) * effective
    low = np.where(yes > 0, random.beta(np.maximum(yes, 1e-9), no + 1, (DRAWS, BANDS)), 0.0)
    high = random.beta(yes + 0.5, no + 0.5, (DRAWS, BANDS))
    return low, np.minimum.accumulate(high, 1)


def _end(
    design: AuditDesign, rates: Array, agreement: float, asked: Array, yes: Array, level: float,
    random: np.random.Generator,
) -> tuple[Array, float]:  # fmt: skip
    """An end of the interval of every relation's ratio, [K], and of the ratio over all."""
    start = agreement * np.clip(rates, 1e-9, 1 - 1e-9)[:, None]  # [draws, 1, bands]
    own = random.beta(start + yes, agreement - start + asked - yes)  # [draws, K, bands]
    ratios = _ratio((own * design.unlabelled).sum(-1), design.within.sum(1))
    total = _ratio(rates @ design.unlabelled.sum(0), design.within.sum())
    return np.quantile(ratios, level / 2, axis=0), float(np.quantile(total, level / 2))


def _estimated(
    design: AuditDesign, ratios: Array, ratio: Interval, own: NDArray[np.bool_]
) -> EstimatedPriors:
    """From the ratio of every relation and its ends [3, K], and the ratio over all."""
    labelled = (design.labelled / design.pairs).tolist()
    # The mean of a skewed distribution may lie beyond the end of its interval.
    ratios = np.stack([ratios[0], ratios[:2].min(0), ratios[[0, 2]].max(0)])
    overall, low, high = (tuple(map(bounded, (row * labelled).tolist(), labelled)) for row in ratios)
    basis = np.where(own, "own", np.where(design.labelled > 0, "pooled", "none")).tolist()
    return EstimatedPriors(
        design.relations, design.pairs, tuple(labelled), overall, low, high, ratio, tuple(basis)
    )


def _by_cell(answers: list[Answer], design: AuditDesign, only_yes: bool) -> Array:
    """How many answers, or how many times yes, in each band of each relation, [K, bands]."""
    counts = np.zeros(design.unlabelled.shape)
    for answer in answers:
        counts[answer.relation, answer.band] += answer.holds or not only_yes
    return counts


def _band_rates(answers: list[Answer]) -> tuple[Array, Array]:
    """Of each band over all relations, the share that holds, and to how many equal answers they amount."""
    weights, squares, holding = np.zeros(BANDS), np.zeros(BANDS), np.zeros(BANDS)
    for answer in answers:
        weight = 1 / answer.probability
        weights[answer.band] += weight
        squares[answer.band] += weight**2
        holding[answer.band] += weight * answer.holds
    rates = holding / np.maximum(weights, 1e-300)
    return rates, weights**2 / np.maximum(squares, 1e-300)


def _evidence(asked: Array, yes: Array, rates: Array, agreement: float) -> float:
    """The log likelihood of the answers if rates differ by relation as a beta distribution says."""
    rates = np.clip(rates, 0.01, 0.99)
    total = 0.0
    for relation, band in zip(*np.nonzero(asked), strict=True):
        a, b = agreement * rates[band], agreement * (1 - rates[band])
        k, n = yes[relation, band], asked[relation, band]
        total += math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(agreement + n)
        total += math.lgamma(agreement) - math.lgamma(a) - math.lgamma(b)
    return total
