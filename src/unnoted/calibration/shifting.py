"""Log odds, and how far to move them for their mean probability to be one that is known."""

import numpy as np

from unnoted.calibration.ranked_bins import Floats


def shift_to_mean(log_odds: Floats, pairs: Floats, mean: Floats) -> Floats:
    """How much to add to log odds [K, B] for their mean probability, over pairs [B], to be `mean` [K].

    By halving an interval. Where the mean is 0 the shift is 0.

    Example:
        >>> shift_to_mean(np.zeros((1, 2)), np.ones(2), np.array([0.75])).round(6).tolist()
        [1.098612]
    """
    low, high = np.full(len(mean), -60.0), np.full(len(mean), 60.0)
    weight = pairs / pairs.sum()
    for _ in range(60):
        middle = (low + high) / 2
        found = sigmoid(log_odds + middle[:, None]) @ weight
        low, high = np.where(found < mean, middle, low), np.where(found < mean, high, middle)
    result: Floats = np.where(mean > 0, (low + high) / 2, 0.0)
    return result


def sigmoid(values: Floats) -> Floats:
    """The probability of log odds, however large they are."""
    result: Floats = 1 / (1 + np.exp(-np.clip(values, -700, 700)))
    return result
