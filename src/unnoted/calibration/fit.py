"""Fits a calibration on out-of-fold scores and labels of which many are missing.

A pair of margin z has relation i with the log odds h(z), one rising curve h for all relations, and a true
fact is labelled with the propensity c_i of `calibration.propensity`, of which c_i = π_l / π is the mean. So the
pair is labelled with probability c_i(h(z)) σ(h(z)). h is the curve under which the labels are most likely,
with a penalty on its roughness; the slope s of the propensity is chosen by `choose_slope`. At the end h is moved
until as many facts are expected as the priors of all relations together say.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from unnoted.calibration.calibration import Calibration
from unnoted.calibration.expected_metrics import ExpectedFacts, sigmoid
from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.calibration.propensity import PROPENSITY_SLOPE, labelling_log_odds
from unnoted.priors import Priors

SLOPES = tuple(0.2 * number for number in range(11))
"""Values of s that are tried, from 0 to 2."""

PLAUSIBLE = 5.0
"""How much less likely than under the best slope, in log likelihood, labels may be under a plausible one. More than
the 2 of independent labels: those of one document depend on each other."""

KNOTS = 16
ROUGHNESS = 1.0
"""The penalty on squared changes of the log slope of h from one piece to the next."""

STEPS = 60
"""L-BFGS iterations; the likelihood changes in its sixth digit after about 40."""

LOWEST, HIGHEST = -30.0, 15.0
"""Log odds that knots are kept within."""

LEAST_RISE = 1e-4
"""Of the log odds from knot to knot, so that clipped pieces rise too."""

SINGLE, GROWTH = 32, 1.08
"""How many of the highest ranks have a bin of their own, and by how much later bins grow."""

HISTOGRAM_BINS = 4096

Array = NDArray[np.float64]


def fit_calibration(
    scores: OutOfFoldScores,
    priors: Priors,
    *,
    propensity_slope: float | None = None,
    facts_elsewhere: float = 0.0,
) -> Calibration:
    """Fit one curve for all relations, and choose the threshold of the best expected F1.

    Args:
        scores: out-of-fold margins beside labels.
        priors: labelled and overall priors of the same relations among the scored pairs; only their sum over
            relations and the label frequencies π_l / π matter.
        propensity_slope: s; by default what `choose_slope` reads from the labels.
        facts_elsewhere: the expected number of true facts of the same documents between pairs that are no
            candidates; no threshold finds them, and F1 counts them.

    Raises:
        ValueError: the relations differ, there is no pair, or a margin is not finite.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> true = rng.random((4000, 1)) < 0.1
        >>> margin = (true + rng.normal(size=true.shape)).astype(np.float32)
        >>> labelled = true & (rng.random(true.shape) < 0.5)
        >>> zeros = np.zeros(len(true), np.int32)
        >>> scores = OutOfFoldScores(("spouse",), ("d",), zeros, zeros, zeros, margin, labelled)
        >>> priors = Priors(("spouse",), (float(labelled.mean()),), (float(true.mean()),))
        >>> calibration = fit_calibration(scores, priors)
        >>> probability = calibration.probabilities(torch.from_numpy(margin))
        >>> round(float(probability.mean() / true.mean()), 2)
        1.0
        >>> calibration.threshold == calibration.expected.best_f1 / 2
        True
    """
    if scores.relations != priors.relations:
        raise ValueError("the priors are of other relations than the scores")
    if propensity_slope is not None and not 0 <= propensity_slope <= SLOPES[-1]:
        raise ValueError(
            f"propensity_slope must be a number from 0 to {SLOPES[-1]:g}, not {propensity_slope}"
        )
    bins = bin_by_rank(scores)
    labelled, overall = np.array(priors.labelled), np.array(priors.overall)
    frequency = np.divide(labelled, overall, out=np.ones_like(overall), where=overall > 0)  # c, [K]
    knots = _knots(bins.margin)
    if propensity_slope is None:
        costs = [_fit_curve(bins, knots, frequency, float(overall.mean()), slope).cost for slope in SLOPES]
        propensity_slope = choose_slope(np.array(costs))
    fit = _fit_curve(bins, knots, frequency, float(overall.mean()), propensity_slope)
    values = _pieces(bins.margin, knots) @ np.diff(fit.log_odds) + fit.log_odds[0]  # [B, K]
    log_odds = fit.log_odds + shift_to_mean(values, bins.pairs[:, None], float(overall.mean()))
    log_odds = np.clip(log_odds, LOWEST, HIGHEST) + LEAST_RISE * np.arange(len(knots))
    values = _pieces(bins.margin, knots) @ np.diff(log_odds) + log_odds[0]
    expected = ExpectedFacts.from_probabilities(
        sigmoid(values), bins.pairs[:, None], scores.pairs, facts_elsewhere
    )
    return Calibration(
        tuple(knots.tolist()), tuple(log_odds.round(6).tolist()), expected, expected.best_threshold, fit.slope
    )


def choose_slope(costs: Array) -> float:
    """The slope of the propensity: 0 unless the labels are less likely under it, else the mean of plausible ones.

    Labels tell clearly whether evident facts are favoured, but hardly how much: what is labelled less often
    could be true less often. So the likeliest value would be chance.

    Args:
        costs: the negative log likelihood of the labels under each of `SLOPES`.

    Example:
        >>> choose_slope(np.zeros(11)), round(choose_slope(np.array([100.0, 9.0] + [0.0] * 9)), 3)
        (0.0, 1.2)
    """
    plausible = costs <= costs.min() + PLAUSIBLE
    return 0.0 if plausible[0] else float(np.mean(np.array(SLOPES)[plausible]))


def posterior_given_unlabelled(
    probability: NDArray[np.float32], labelled: float, slope: float = PROPENSITY_SLOPE
) -> NDArray[np.float32]:
    """The probability that an unlabelled fact holds: p (1 - c(p)) / (1 - c(p) p).

    Evident facts are labelled more often than others, so that an unlabelled one is less probable the more
    evident it would be.

    Args:
        probability: of all candidate facts of some documents, labelled or not, of any shape.
        labelled: how many of them are labelled.
        slope: s of the labelling propensity.

    Example:
        >>> posterior_given_unlabelled(np.array([0.8, 0.8], np.float32), labelled=1.0).round(2)
        array([0.6, 0.6], dtype=float32)
    """
    p = np.clip(probability, 1e-6, 1 - 1e-6).astype(np.float64)
    log_odds = np.log(p) - np.log1p(-p)
    # Of millions of pairs, 4,096 bins remain; the range has a width even where a weak model says nothing.
    ends = (float(log_odds.min(initial=0.0)) - 0.01, float(log_odds.max(initial=0.0)) + 0.01)
    counts, edges = np.histogram(log_odds, HISTOGRAM_BINS, ends)
    middle = torch.from_numpy((edges[:-1] + edges[1:]) / 2)[:, None]
    facts = middle.sigmoid() * torch.from_numpy(counts.astype(np.float64))[:, None]
    frequency = torch.tensor([labelled / max(float(facts.sum()), 1e-12)], dtype=torch.float64).clamp(
        1e-12, 1 - 1e-9
    )
    propensity = labelling_log_odds(middle, facts, frequency.logit(), slope).sigmoid()
    c = np.interp(log_odds, middle[:, 0].numpy(), propensity[:, 0].numpy()).astype(np.float32)
    posterior: NDArray[np.float32] = (probability * (1 - c) / np.maximum(1 - c * probability, 1e-12)).astype(
        np.float32
    )
    return posterior


class RankBins(NamedTuple):
    """The pairs of each of K relations in B bins by rank, the highest margins first.

    A relation is true of few pairs, and these are ranked high: the first ranks have a bin each, and bins grow
    from there, so that hundreds of thousands of improbable pairs cost little.

    Attributes:
        margin: [B, K], the mean of each bin.
        pairs: [B], how many pairs a bin has.
        labelled: [B, K], how many of them are labelled.
    """

    margin: Array
    pairs: Array
    labelled: Array


def bin_by_rank(scores: OutOfFoldScores) -> RankBins:
    """Bin the pairs of each relation by the rank of their margins."""
    if not scores.pairs:
        raise ValueError("a calibration needs scored pairs; there are none")
    if not np.isfinite(scores.margin).all():
        raise ValueError(f"{int((~np.isfinite(scores.margin)).sum()):,} margins are not finite")
    starts = list(range(min(scores.pairs, SINGLE)))
    while (following := starts[-1] + max(1, round(starts[-1] * (GROWTH - 1)))) < scores.pairs:
        starts.append(following)
    pairs = np.diff(starts, append=scores.pairs).astype(np.float64)
    margin, labelled = (np.empty((len(starts), len(scores.relations))) for _ in range(2))
    for k in range(len(scores.relations)):
        order = np.argsort(-scores.margin[:, k], kind="stable")
        margin[:, k] = np.add.reduceat(scores.margin[order, k].astype(np.float64), starts) / pairs
        labelled[:, k] = np.add.reduceat(scores.labelled[order, k].astype(np.float64), starts)
    return RankBins(margin, pairs, labelled)


class _Fit(NamedTuple):
    """A curve at its knots, [R], with the negative log likelihood of the labels and the slope s."""

    cost: float
    log_odds: Array
    slope: float


def _fit_curve(bins: RankBins, knots: Array, frequency: Array, mean: float, slope: float) -> _Fit:
    pieces = torch.from_numpy(_pieces(bins.margin, knots))  # [B, K, R - 1]
    pairs, labelled = torch.from_numpy(bins.pairs)[:, None], torch.from_numpy(bins.labelled)
    c = torch.from_numpy(frequency.clip(1e-9, 1 - 1e-9)).logit()  # [K]
    mean = min(max(mean, 1e-9), 1 - 1e-9)
    rises = torch.full((len(knots) - 1,), 0.5, dtype=torch.float64, requires_grad=True)
    height = torch.tensor(float(np.log(mean) - np.log1p(-mean)) - 2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [rises, height], max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe"
    )

    def cost() -> Tensor:
        optimizer.zero_grad()
        log_odds = pieces @ softplus(rises) + height  # [B, K]
        probability = log_odds.sigmoid()
        propensity = labelling_log_odds(log_odds, probability * pairs, c, slope).sigmoid()
        chance = (propensity * probability).clamp(1e-15, 1 - 1e-9)
        likelihood = (labelled * chance.log() + (pairs - labelled) * torch.log1p(-chance)).sum()
        total: Tensor = ROUGHNESS / 2 * softplus(rises).log().diff().square().sum() - likelihood
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(cost)  # type: ignore[no-untyped-call]
    final = float(cost().detach())
    with torch.no_grad():
        log_odds = torch.cat([height[None], height + softplus(rises).cumsum(0)])
    return _Fit(final, log_odds.numpy(), slope)


def _knots(margin: Array) -> Array:
    """Where the curve may bend: at even shares of the bins, which lie densely where facts are."""
    knots: Array = np.unique(np.quantile(margin, np.linspace(0, 1, KNOTS)).round(6))
    # Where all pairs have one margin there is no piece between knots: one is put around it.
    return knots if len(knots) > 1 else np.array([knots[0] - 1.0, knots[0] + 1.0])


def _pieces(margin: Array, knots: Array) -> Array:
    """How much of each piece between knots lies below a margin, [..., R - 1]; end pieces are unbounded."""
    parts = (margin[..., None] - knots[:-1]) / np.diff(knots)
    inner: Array = np.clip(parts, 0, 1)
    inner[..., 0] = np.minimum(parts[..., 0], 1)
    inner[..., -1] = np.maximum(parts[..., -1], 0) if len(knots) > 2 else parts[..., -1]
    return inner


def shift_to_mean(log_odds: Array, weight: Array, mean: float) -> float:
    """How much to add to log odds for their weighted mean probability to be `mean`, by bisection.

    Example:
        >>> round(shift_to_mean(np.zeros(2), np.ones(2), 0.75), 6)
        1.098612
    """
    low, high = -60.0, 60.0
    share = np.broadcast_to(weight, log_odds.shape) / np.broadcast_to(weight, log_odds.shape).sum()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (sigmoid(log_odds + middle) * share).sum() < mean else (low, middle)
    return (low + high) / 2 if mean > 0 else 0.0
