"""How well each labelled share of the true facts explains where the labels of a relation stand.

A pair at height t of the ranking is true with a probability that grows with t: σ(a + b t). If a share c of
the true facts was noted, it is labelled with probability c σ(a + b t). A share below 1 is a ceiling: the
labels grow denser up the ranking, and then no more, although what stands there is almost certainly true.

A model that mixes true and false pairs at its very top makes a ceiling too, and nothing in the ranks tells
the two apart. With weak models the share comes out too low.
"""

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.rank_bands import RankBands

Array = NDArray[np.float64]

SHARES: Array = np.exp(-np.linspace(0, np.log(64), 37))
"""The labelled shares that are tried: from all facts to one in 64."""

SHAPES = (0.75, 1.0, 1.25)
"""Powers of the height in which the log odds are taken to be linear. None of them is known to be right."""

SLOPE, SLOPE_DEVIATION = 3.0, 1.5
"""What slopes are expected, in deviations of the height; it holds a relation with few labels."""

STEPS, HALVINGS = 60, 6
TINY = 1e-12


def ceiling_likelihood(bands: RankBands, shape: float) -> Array:
    """The log likelihood [K, G] of every labelled share in `SHARES`, at its best a and b.

    It is divided by `bands.clustering`: labels that come together say less than as many that come alone.
    """
    height = bands.height**shape
    height = (height - height.mean()) / height.std()
    start = np.log((bands.labelled.sum(1) + 0.5) / bands.size.sum()) - SLOPE  # [K]
    a = np.repeat(start[:, None], len(SHARES), 1)  # [K] → [K, G]
    b = np.full_like(a, SLOPE)
    best = _likelihood(bands, height, a, b)
    for _ in range(STEPS):
        step_a, step_b = _step(bands, height, a, b)
        length = np.ones_like(a)
        for _ in range(HALVINGS):
            found = _likelihood(bands, height, a + length * step_a, b + length * step_b)
            length = np.where(found < best, length / 2, length)
        found = _likelihood(bands, height, a + length * step_a, b + length * step_b)
        better = found > best
        a, b = np.where(better, a + length * step_a, a), np.where(better, b + length * step_b, b)
        if not (better & (found - best > 1e-6)).any():
            break
        best = np.where(better, found, best)
    return best / bands.clustering[:, None]


def _likelihood(bands: RankBands, height: Array, a: Array, b: Array) -> Array:
    """The log likelihood [K, G] of the counts, with what is expected of slopes."""
    share = _labelled_share(height, a, b)
    labelled = bands.labelled[:, None]  # [K, 1, B]
    terms = labelled * np.log(share) + (bands.size - labelled) * np.log1p(-share)
    found: Array = terms.sum(-1) - ((b - SLOPE) / SLOPE_DEVIATION) ** 2 / 2
    return found


def _labelled_share(height: Array, a: Array, b: Array) -> Array:
    """The probability of a label in each band, [K, G, B]."""
    return np.clip(SHARES[:, None] * _sigmoid(a[..., None] + b[..., None] * height), TINY, 1 - TINY)


def _step(bands: RankBands, height: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """A step of Fisher scoring, kept short: far from the maximum the curvature says little."""
    true = _sigmoid(a[..., None] + b[..., None] * height)  # [K, G, B]
    share = _labelled_share(height, a, b)
    change = SHARES[:, None] * true * (1 - true)
    labelled = bands.labelled[:, None]
    score = (labelled / share - (bands.size - labelled) / (1 - share)) * change
    weight = bands.size * change**2 / (share * (1 - share))
    by_a, by_b = score.sum(-1), (score * height).sum(-1) - (b - SLOPE) / SLOPE_DEVIATION**2
    aa, ab = weight.sum(-1) + TINY, (weight * height).sum(-1)
    bb = (weight * height**2).sum(-1) + SLOPE_DEVIATION**-2
    determinant = np.maximum(aa * bb - ab**2, TINY)
    step_a = np.clip((bb * by_a - ab * by_b) / determinant, -3, 3)
    step_b = np.clip((aa * by_b - ab * by_a) / determinant, -1.5, 1.5)
    return step_a, step_b


def _sigmoid(x: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-np.clip(x, -40, 40)))
    return found
