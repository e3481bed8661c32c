"""Curves from margin to probability, fitted on what was labelled, for labels of which many are missing.

Of the true facts of relation i a share c_i = π_l / π was labelled, of plain facts more than of others
(`selection`). So a pair of margin z is labelled with probability c_i(z) p_i(z), where p_i(z) is the
probability that the relation holds. All relations share one rising curve h, and each has a slope and a height
of its own:

    log odds of p_i(z) = a_i h(z) + b_i
    log odds of c_i(z) = log odds of c_i − s · log(1 − p_i(z)) − d_i

d_i is such that the mean of c_i(z) over the facts that are true is c_i. s is the likeliest of a few values.

The parameters are those under which the labels are most likely, with a_i drawn to 1 and b_i to what relations
of such a prior have: a relation with many labels goes its own way, a rare one borrows from the others. At the
end, each b_i is moved until the mean of p_i over all pairs is π_i.

All this trusts the priors of single relations. Where only their level is known, as with one multiplier for
all, a_i = 1 and b_i = b instead: one curve for all relations, which keeps the order of margins. b is moved
until the mean over all relations is that of the priors.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from unnoted.calibration.probability_curves import ProbabilityCurves
from unnoted.calibration.ranked_bins import Floats, RankedBins
from unnoted.calibration.selection import SELECTIONS, UNFAIRNESS
from unnoted.calibration.shifting import shift_to_mean
from unnoted.priors.priors import Priors

KNOTS = 16
"""Of each curve."""

SLOPE_SPREAD, HEIGHT_SPREAD = 0.3, 1.0
"""How far, in standard deviations, log a_i is thought to lie from 0, and b_i from that of similar priors."""

ROUGHNESS = 1.0
"""What a change of slope of h from one piece to the next costs."""

NEWTON = 3
"""Steps in which d_i is found, from its value for small differences."""

STEPS = 60
"""Of the optimiser; the likelihood changes in its sixth digit after about 40."""

LEAST_RISE = 1e-4
"""Of log odds from knot to knot: a curve rises everywhere."""

LOWEST, HIGHEST = -30.0, 15.0
"""Log odds that a knot is kept within; of a relation that never holds, all are `LOWEST` or little more."""


class FittedCurves(NamedTuple):
    """Curves, and how much labels favour what is plain (s)."""

    curves: ProbabilityCurves
    selection: float


def fit_curves(
    bins: RankedBins,
    priors: Priors,
    match_counts: bool = True,
    by_relation: bool = True,
    selection: float | None = None,
) -> FittedCurves:
    """Fit a curve for each relation, or one for all.

    Args:
        bins: of out-of-fold margins and labels.
        priors: labelled and overall, of the same relations.
        match_counts: move each curve until as many facts are expected as its prior says; one for all, until
            as many are expected as all priors say.
        by_relation: whether relations have curves of their own.
        selection: s, how much labels favour what is plain, from 0 to 1; without it, as the labels say.

    Raises:
        ValueError: s is not between 0 and 1.
    """
    if selection is not None and not 0 <= selection <= 1:
        raise ValueError(f"selection: found {selection}, expected a number from 0 to 1")
    knots = _knots(bins)
    overall = np.array(priors.overall)
    known = overall > 0
    noted = np.divide(priors.labelled, overall, out=np.ones_like(overall), where=known)  # c, [K]
    tried = SELECTIONS if selection is None else (selection,)
    fits = [(_most_likely(bins, knots, noted, overall, by_relation, each), each) for each in tried]
    (_, slope, height, shape), selection = min(fits, key=lambda fit: fit[0].cost + UNFAIRNESS * fit[1])
    log_odds = slope[:, None] * shape + height[:, None]  # [K, R]
    if match_counts:
        values = slope[:, None] * np.interp(bins.margin, knots, shape) + height[:, None]  # [K, B]
        values += slope[:, None] * _beyond(bins.margin, knots, shape)
        if by_relation:
            log_odds += shift_to_mean(values, bins.pairs, overall)[:, None]
        else:
            pairs = np.tile(bins.pairs, len(overall))
            log_odds += shift_to_mean(values.reshape(1, -1), pairs, overall.mean(keepdims=True))
    log_odds = np.clip(log_odds, LOWEST, HIGHEST)
    log_odds[~known] = LOWEST
    log_odds += LEAST_RISE * np.arange(len(knots))  # clipped pieces rise, too
    curves = ProbabilityCurves(
        tuple(tuple(knots.tolist()) for _ in overall), tuple(map(tuple, log_odds.round(6).tolist()))
    )
    return FittedCurves(curves, selection)


def _knots(bins: RankedBins) -> Floats:
    """Where the curve may bend: at even shares of the bins, which lie densely where facts are."""
    knots: Floats = np.unique(np.quantile(bins.margin, np.linspace(0, 1, KNOTS)).round(6))
    # Where all pairs have one margin there is no piece between knots: one is put around it.
    return knots if len(knots) > 1 else np.array([knots[0] - 1.0, knots[0] + 1.0])


def _beyond(margin: Floats, knots: Floats, shape: Floats) -> Floats:
    """What the lines at both ends add to the heights of the end knots."""
    first, last = (
        (shape[1] - shape[0]) / (knots[1] - knots[0]),
        (shape[-1] - shape[-2]) / (knots[-1] - knots[-2]),
    )
    result: Floats = first * np.minimum(margin - knots[0], 0) + last * np.maximum(margin - knots[-1], 0)
    return result


class _Parameters(NamedTuple):
    """Of curves: minus their log likelihood, slopes a [K], heights b [K], and h at the knots [R]."""

    cost: float
    slope: Floats
    height: Floats
    shape: Floats


def _most_likely(
    bins: RankedBins, knots: Floats, noted: Floats, overall: Floats, by_relation: bool, selection: float
) -> _Parameters:
    pieces = torch.tensor(_pieces(bins.margin, knots))  # [K, B, R - 1]
    pairs, labelled = torch.tensor(bins.pairs), torch.tensor(bins.labelled)
    share = torch.tensor(np.clip(noted, 1e-9, 1 - 1e-9))
    likely = _log_odds(np.clip(overall, 1e-9, 1 - 1e-9))
    expected_height = torch.tensor(0.5 * likely)  # b = ½ log π + const where positives are weighted by γ
    rises = torch.full((len(knots) - 1,), 0.5, dtype=torch.float64, requires_grad=True)
    slopes = torch.zeros(len(overall), dtype=torch.float64, requires_grad=True)
    start = likely - 2.0 if by_relation else np.full(1, likely.mean() - 2.0)
    heights = torch.tensor(start, requires_grad=True)
    parameters = [rises, slopes, heights] if by_relation else [rises, heights]
    over = (1,) if by_relation else (0, 1)
    optimiser = torch.optim.LBFGS(parameters, max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        shape = pieces @ softplus(rises)  # [K, B]
        log_odds = slopes.exp()[:, None] * shape + heights[:, None]
        probability = log_odds.sigmoid()
        facts = probability * pairs  # expected in each bin, [K, B]
        chance = (_shares(share[:, None], selection * softplus(log_odds), facts, over) * probability).clamp(
            1e-15, 1 - 1e-9
        )
        likelihood = (labelled * chance.log() + (pairs - labelled) * torch.log1p(-chance)).sum()
        apart = heights - expected_height if by_relation else heights
        cost = (
            -likelihood
            + (slopes / SLOPE_SPREAD).square().sum() / 2
            + ((apart - apart.mean()) / HEIGHT_SPREAD).square().sum() / 2
            + ROUGHNESS * softplus(rises).log().diff().square().sum() / 2
        )
        cost.backward()  # type: ignore[no-untyped-call]
        return cost

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    cost = float(loss().detach())
    with torch.no_grad():
        shape = torch.cat([torch.zeros(1, dtype=torch.float64), softplus(rises).cumsum(0)])
        height = heights.detach().expand(len(overall))
        return _Parameters(cost, slopes.exp().numpy(), height.numpy(), shape.numpy())


def _shares(mean: Tensor, rises: Tensor, facts: Tensor, over: tuple[int, ...]) -> Tensor:
    """The shares c [K, B] that were labelled.

    Args:
        mean: [K, 1], of c over the facts of a relation, or of all of them.
        rises: [K, B], what is added to its log odds.
        facts: [K, B], expected in each bin.
        over: the dimensions that the mean is taken over.
    """
    log_odds = mean.logit()
    shift = (facts * rises).sum(over, keepdim=True) / facts.sum(over, keepdim=True)  # d, nearly
    for _ in range(NEWTON):
        shares = (log_odds + rises - shift).sigmoid()
        excess = (facts * (shares - mean)).sum(over, keepdim=True)
        shift = shift + excess / (facts * shares * (1 - shares)).sum(over, keepdim=True).clamp(min=1e-12)
    return (log_odds + rises - shift).sigmoid()


def _pieces(margin: Floats, knots: Floats) -> Floats:
    """How much of each piece between knots lies below a margin, [..., R - 1]; end pieces go on for ever."""
    parts = (margin[..., None] - knots[:-1]) / np.diff(knots)
    inner: NDArray[np.float64] = np.clip(parts, 0, 1)
    inner[..., 0] = np.minimum(parts[..., 0], 1)
    inner[..., -1] = np.maximum(parts[..., -1], 0) if len(knots) > 2 else parts[..., -1]
    return inner


def _log_odds(share: Floats) -> Floats:
    result: Floats = np.log(share) - np.log1p(-share)
    return result
