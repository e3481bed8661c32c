"""How complete the labels are, from what was decided so far.

Completeness is the share of true facts that is in the corpus: noted before, or accepted since. What is not
known is how many of the suggestions that nobody decided hold. The model's own probabilities say it, but may
be wrong by any factor. So a random sample of the list is decided (the order `audit`), and the model's
probabilities are used only to compare like with like.

**The sample** is the beginning of the random order as far as it is decided. Whether the audit or another
order brought the decision does not matter: which suggestions stand at its beginning was drawn before anybody
decided, so that they are a simple random sample of the list. For the same reason it does not matter that
suggestions of one document resemble each other: single suggestions are drawn, not documents.

**What it stands for.** Other orders take the probable ones away. A sampled suggestion stands for undecided
ones as far as suggestions of its probability are undecided: its weight is the share of undecided ones among
the nearest by probability outside the sample. Under the order by probability that is 0 above the last one
that was decided and 1 below.

**The interval.** The list is cut into bands of probability. Of a band with u undecided suggestions,
Binomial(u, r) are missing facts, and r is as uncertain as a sample of n, y of which hold, leaves it: the low
end draws it from Beta(y, n − y + 1), so that nothing need be missing where nothing was found, the high end
from Beta(y + ½, n − y + ½). With weights, n is the number of equal weights that they amount to. Draws of all
bands are added, and the ends are quantiles of the sums. Without a sample the interval says that nothing is
known.

**What is outside.** Facts that were judged but not listed cannot be drawn. They are counted as the model
expects them, scaled as the lowest band of the list is. Facts between entities that were not marked, and of
relations that are not judged, are not counted at all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.suggestions.suggestion import Unlisted

LEVEL = 0.95
"""How often the interval should contain the truth; nine times in ten is what is tested."""

BANDS, BAND = 3, 20
"""How many bands there are at most, and how many of the sample one holds at least."""

NEAREST = 25, 0.0025
"""How many suggestions are nearest to one: at least so many, and this share of the list."""

DRAWS = 2000

UNDECIDED = -1
"""In place of 0 (does not hold) and 1 (holds)."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Completeness:
    """An estimate of how complete labels are.

    Attributes:
        found: facts in the corpus: noted, accepted or added.
        missing: true facts that are thought to be missing.
        estimate: found ÷ (found + missing).
        low: the lower end of its interval.
        high: the upper end.
        sampled: random decisions that it rests on.
        unlisted: how many of `missing` were never listed.
    """

    found: int
    missing: float
    estimate: float
    low: float
    high: float
    sampled: int
    unlisted: float


def random_sample(order: NDArray[np.int64], decided: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which suggestions are the random sample: the decided beginning of a random order.

    Args:
        order: int [N], the order `audit`.
        decided: bool [N], whether somebody decided a suggestion, or said that it cannot be told.

    Returns:
        bool [N].

    Example:
        >>> random_sample(np.array([2, 0, 1]), np.array([True, False, True]))
        array([ True, False,  True])
    """
    first_open = np.flatnonzero(~decided[order])
    length = int(first_open[0]) if len(first_open) else len(order)
    sample = np.zeros(len(order), np.bool_)
    sample[order[:length]] = True
    return sample


def completeness(
    noted: int,
    chance: Array,
    holds: NDArray[np.int8],
    sample: NDArray[np.bool_],
    unlisted: Unlisted | None = None,
    *,
    seed: int = 0,
) -> Completeness:
    """How complete labels are, with an interval.

    Args:
        noted: facts that are in the corpus apart from accepted suggestions: those noted before that nobody
            rejected, and those that reviewers added.
        chance: float [N], the probability that each suggestion holds, as the model says (`chances`).
        holds: int8 [N], 1 where it was accepted, 0 where it was rejected, -1 where nobody decided or it
            cannot be told.
        sample: bool [N], the random sample (`random_sample`).
        unlisted: what was judged and is not among the suggestions.
        seed: of the draws that the interval is read from.

    Example:
        >>> random = np.random.default_rng(0)
        >>> chance = random.random(2000)
        >>> truth = random.random(2000) < chance / 2  # the model is twice too sure
        >>> sample = np.arange(2000) < 200
        >>> found = completeness(500, chance, np.where(sample, truth, -1).astype(np.int8), sample)
        >>> true = (500 + truth[sample].sum()) / (500 + truth.sum())
        >>> bool(found.low < true < found.high), bool(abs(found.estimate - true) < 0.05)
        (True, True)
    """
    unlisted = unlisted or Unlisted()
    found = noted + int((holds == 1).sum())
    answered = sample & (holds != UNDECIDED)
    bands = _bands(chance, holds, answered)
    listed = sum(band.missing for band in bands)
    rest = float(_beyond(bands, np.array([band.missing for band in bands]), unlisted))
    few, many = (
        _end(bands, unlisted, high, np.random.default_rng(seed)) for high in (False, True)
    )  # of the missing facts
    missing = listed + rest
    return Completeness(
        found,
        missing,
        estimate=_share(found, missing),
        low=_share(found, max(many, missing)),
        high=_share(found, min(few, missing)),
        sampled=int(answered.sum()),
        unlisted=rest,
    )


@dataclass(frozen=True, slots=True)
class _Band:
    """What is known of suggestions of like probability.

    Attributes:
        undecided: how many nobody decided.
        expected: how many of these hold, as the model says.
        size: to how many of equal weight those of the sample amount.
        share: the weighted share of them that holds.
    """

    undecided: int
    expected: float
    size: float
    share: float

    @property
    def missing(self) -> float:
        """How many of the undecided are thought to hold; as the model says where nothing was sampled."""
        return self.undecided * self.share if self.size else self.expected

    def draws(self, high: bool, random: np.random.Generator) -> Array:
        """How many of the undecided hold, as low or as high as the sample allows."""
        yes, no = self.share * self.size, (1 - self.share) * self.size
        if high:
            rate = random.beta(yes + 0.5, no + 0.5, DRAWS)
        else:
            rate = random.beta(yes, no + 1, DRAWS) if yes > 0 else np.zeros(DRAWS)
        return random.binomial(self.undecided, rate).astype(np.float64)


def _bands(chance: Array, holds: NDArray[np.int8], sample: NDArray[np.bool_]) -> list[_Band]:
    """The list cut into bands, the lowest probabilities first."""
    undecided = holds == UNDECIDED
    weight = np.zeros(len(chance))
    weight[sample] = _undecided_share(chance[~sample], undecided[~sample], chance[sample])
    standing = chance[weight > 0]
    count = max(1, min(BANDS, len(standing) // BAND))
    edges = np.quantile(standing, np.linspace(0, 1, count + 1)[1:-1]) if count > 1 else np.zeros(0)
    band = np.searchsorted(
        edges, chance
    )  # what equals an edge is below it, so that the lowest is never empty
    return [
        _band(chance[here], holds[here], undecided[here], weight[here])
        for here in (band == number for number in range(count))
    ]


def _band(chance: Array, holds: NDArray[np.int8], undecided: NDArray[np.bool_], weight: Array) -> _Band:
    total = float(weight.sum())
    return _Band(
        undecided=int(undecided.sum()),
        expected=float(chance[undecided].sum()),
        size=total**2 / float((weight**2).sum()) if total else 0.0,
        share=float(weight[holds == 1].sum()) / total if total else 0.0,
    )


def _undecided_share(chance: Array, undecided: NDArray[np.bool_], at: Array) -> Array:
    """The share of undecided ones among the nearest by probability to each of `at`."""
    if not len(chance):
        return np.zeros(len(at))
    order = np.argsort(chance, kind="stable")
    nearest = min(len(chance), max(NEAREST[0], round(NEAREST[1] * len(chance))))
    counted = np.append(0, np.cumsum(undecided[order]))
    places = [np.searchsorted(chance[order], at, side) for side in ("left", "right")]
    first = (places[0] + places[1] - nearest) // 2  # among equals in their middle
    first = np.clip(first, 0, len(chance) - nearest)
    shares: Array = (counted[first + nearest] - counted[first]) / nearest
    return shares


def _beyond(bands: list[_Band], missing: Array, unlisted: Unlisted) -> Array:
    """How many facts were never listed, if the lowest band lacks so many as the first row says."""
    lowest = np.asarray(missing[0], dtype=np.float64)
    if not unlisted.expected:
        return np.zeros_like(lowest)
    scale = lowest / bands[0].expected if bands[0].expected else np.ones_like(lowest)
    return np.minimum(unlisted.expected * scale, unlisted.candidates)


def _end(bands: list[_Band], unlisted: Unlisted, high: bool, random: np.random.Generator) -> float:
    """An end of the interval of the missing facts."""
    draws = np.stack([band.draws(high, random) for band in bands])
    total = draws.sum(0) + _beyond(bands, draws, unlisted)
    return float(np.quantile(total, (1 + LEVEL) / 2 if high else (1 - LEVEL) / 2))


def _share(found: int, missing: float) -> float:
    return found / (found + missing) if found + missing else 1.0
