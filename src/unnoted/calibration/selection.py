"""Which of the true facts were labelled: rather the plain ones.

Annotators note what meets the eye, and a model finds the same facts easy. Of DocRED's true facts, about 29 in
100 are noted in each of the six lower tenths of margins, then 34, 35, 47, and 59 in the highest; with what
follows by rules, about 33, then 43, 48, 66 and 85. If the share c were the same everywhere, all pairs would
have to be true wherever labels are dense, and probabilities would come out too high just where facts are
stated. So the odds of being labelled rise with the certainty of a fact, little below even odds and steeply
above them:

    odds of c(p) ∝ (1 − p)^−s,   that is   log odds of c(p) = d + s · log(1 + odds of p)

d follows from how many facts were labelled. s is partly in the labels: where they are denser than a fair
sample could be, however sure a model is, s cannot be 0. Where they are not, larger values fit nearly as well,
because whatever is labelled less often could be true less often. So it is the likeliest of a few values, and
of like ones the smallest: labels are a fair sample unless they say otherwise.
"""

import numpy as np
from numpy.typing import NDArray

from unnoted.calibration.shifting import shift_to_mean, sigmoid

SELECTIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""The values of s that are tried. With 0, labels are a fair sample of the true facts."""

UNFAIRNESS = 2.0
"""What s costs in log likelihood for each unit: little beside what labels say where they say anything."""

USUAL = 0.8
"""s of DocRED's labels; for calibrations that do not know theirs."""

BINS = 4096
"""Of log odds, in which pairs are counted."""

LEAST = 1e-4
"""Pairs that are less probable hardly ever have a label, and are not counted."""


def labelled_shares(
    probability: NDArray[np.float32], labelled: float, selection: float = USUAL
) -> NDArray[np.float32]:
    """The share of true facts of each probability that was labelled.

    Args:
        probability: of pairs that a relation holds, whether it is labelled or not, of any shape.
        labelled: how many of them are labelled.
        selection: s.

    Returns:
        c, of the same shape: the sum of c · p is the number of labels.

    Example:
        >>> found = labelled_shares(np.array([0.9, 0.6, 0.5], np.float32), 1.0)
        >>> found.round(2), round(float((found * [0.9, 0.6, 0.5]).sum()), 2)
        (array([0.66, 0.39, 0.35], dtype=float32), 1.0)
        >>> labelled_shares(np.array([0.9, 0.6, 0.5], np.float32), 1.0, selection=0).round(2)
        array([0.5, 0.5, 0.5], dtype=float32)
    """
    kept = np.clip(probability, LEAST, 1 - 1e-6)
    log_odds = np.log(kept) - np.log1p(-kept)
    counted = log_odds[probability > LEAST]
    if not counted.size:
        return np.ones_like(probability)
    pairs, edges = np.histogram(counted, BINS)
    middle = (edges[:-1] + edges[1:]) / 2
    true = pairs * sigmoid(middle)
    # Without any label a shift would be endless; with as good as none it is large.
    share = np.array([max(labelled, 1e-12) / true.sum()])
    shift = np.float32(shift_to_mean(selection * np.logaddexp(0, middle)[None], true, share)[0])
    shares: NDArray[np.float32] = 1 / (1 + np.exp(-shift - selection * np.logaddexp(0, log_odds)))
    return shares.astype(np.float32)
