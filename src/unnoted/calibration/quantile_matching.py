"""Curves for the margins of another model: that of a relation's rank becomes the margin of the same rank.

Curves are fitted on out-of-fold margins, of models that saw a part of the documents. The final model saw all
of them and may spread its margins differently. Its order is thought to mean the same: the pair at its highest
hundredth is as probable as the pair at their highest hundredth.
"""

import numpy as np
from numpy.typing import NDArray

from unnoted.calibration.probability_curves import ProbabilityCurves
from unnoted.calibration.ranked_bins import Floats, rank_starts

LEAST_STEP = 2e-6
"""By which one knot lies above the one before it."""


def matched_to(
    curves: ProbabilityCurves, fitted: NDArray[np.floating], others: NDArray[np.floating]
) -> ProbabilityCurves:
    """The curves with each knot moved to where the other margins have as many pairs above it.

    Args:
        curves: fitted on `fitted`.
        fitted: [P, K], the margins of pairs without a label, out of fold.
        others: [Q, K], those of the model that the curves are for, of pairs that it was not taught by labels.

    Example:
        >>> curves = ProbabilityCurves(((-1.0, 1.0),), ((-2.0, 2.0),))
        >>> margins = np.linspace(-1, 1, 201)[:, None]
        >>> matched_to(curves, margins, margins + 0.5).margins
        ((-0.5, 1.500002),)
    """
    moved = [
        _moved(np.array(knots), np.sort(fitted[:, k]), np.sort(others[:, k]))
        for k, knots in enumerate(curves.margins)
    ]
    return ProbabilityCurves(tuple(map(tuple, moved)), curves.log_odds)


def _moved(knots: Floats, fitted: NDArray[np.floating], others: NDArray[np.floating]) -> list[float]:
    """The knots of one relation; both margins are sorted."""
    # Ranks from the top, densely where facts are: even quantiles would say little of the first ten pairs.
    ranks = rank_starts(min(len(fitted), len(others)))
    shares = np.append(1 - (ranks + 0.5) / min(len(fitted), len(others)), 0.0)
    here, there = (np.quantile(each, shares[::-1]) for each in (fitted, others))
    here = np.maximum.accumulate(here + 1e-12 * np.arange(len(here)))
    places = np.interp(knots, here, there)
    # Beyond the margins that were seen, the difference stays what it is at the end.
    places += np.minimum(knots - here[0], 0) + np.maximum(knots - here[-1], 0)
    steps = LEAST_STEP * np.arange(len(places))
    return [float(place) for place in (np.maximum.accumulate(places) + steps).round(6)]
