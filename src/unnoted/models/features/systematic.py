"""Systematic draws: how often each thing is drawn, with a given expectation and little chance."""

import numpy as np
from numpy.typing import NDArray

from unnoted.models.features.word_table import Offsets


def draw_counts(expected: NDArray[np.float64], generator: np.random.Generator) -> Offsets:
    """How often each of several things is drawn; its expectation is exactly `expected`, [n].

    The things are laid on a line in random order, each as long as it is expected, and every whole number
    after a random start draws the thing that it falls on. So each is drawn either as often as its expectation
    rounded down or rounded up, and the total is the rounded sum.

    Example:
        >>> draw_counts(np.array([1.0, 2.0, 0.0]), np.random.default_rng(0))
        array([1, 2, 0])
    """
    order = generator.permutation(len(expected))
    ends = np.cumsum(expected[order]) + generator.random()
    # What ends a hair below a whole number by rounding alone ends at it.
    counts = np.diff(np.floor(ends + 1e-9), prepend=0.0).astype(np.int64)
    drawn = np.empty(len(expected), dtype=np.int64)
    drawn[order] = counts
    return drawn
