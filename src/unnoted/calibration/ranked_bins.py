"""The pairs of each relation in bins by rank: all that calibration looks at, whatever the number of pairs.

A relation is true of few pairs, and these are ranked high. So the first ranks have a bin each, and bins grow
from there: what decides is kept one by one, and the hundreds of thousands of pairs below it weigh little.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.labelled_scores import LabelledScores

ALONE, GROWTH = 32, 1.08
"""How many of the highest ranks have a bin of their own, and how much larger each later bin is."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RankedBins:
    """B bins of each of K relations, the highest margins first.

    Attributes:
        margin: [K, B], the mean margin of the pairs in a bin.
        pairs: [B], how many pairs a bin has.
        labelled: [K, B], how many of them are labelled.

    Example:
        >>> from unnoted.priors.labelled_scores import LabelledScores
        >>> one = np.zeros(3, np.int32)
        >>> scores = LabelledScores(("spouse",), ("d",), one, one, one,
        ...     np.array([[0.5], [1.0], [0.0]]), np.array([[False], [True], [False]]))
        >>> bins = RankedBins.of(scores)
        >>> bins.margin.tolist(), bins.labelled.tolist()
        ([[1.0, 0.5, 0.0]], [[1.0, 0.0, 0.0]])
    """

    margin: Floats
    pairs: Floats
    labelled: Floats

    @classmethod
    def of(cls, scores: LabelledScores) -> "RankedBins":
        """The bins of scored pairs.

        Raises:
            ValueError: there is no pair, or a margin is not finite.
        """
        if not scores.pairs:
            raise ValueError("calibration: found no pair, expected scored pairs with labels")
        unfit = int((~np.isfinite(scores.margin)).sum())
        if unfit:
            raise ValueError(f"calibration: found {unfit:,} margins that are not finite, expected none")
        starts = rank_starts(scores.pairs)
        pairs = np.diff(starts, append=scores.pairs).astype(np.float64)  # [B]
        columns = [_summed(scores.margin[:, k], scores.labelled[:, k], starts) for k in _range(scores)]
        margin, labelled = (np.stack(each) for each in zip(*columns, strict=True))  # [K, B] each
        return cls(margin / pairs, pairs, labelled)


def rank_starts(pairs: int) -> NDArray[np.int64]:
    """The first rank of each bin.

    Example:
        >>> rank_starts(40).tolist()[-4:]
        [31, 33, 36, 39]
    """
    starts = list(range(min(pairs, ALONE)))
    while (following := starts[-1] + max(1, round(starts[-1] * (GROWTH - 1)))) < pairs:
        starts.append(following)
    return np.array(starts)


def _range(scores: LabelledScores) -> range:
    return range(len(scores.relations))


def _summed(
    margin: NDArray[np.floating], labelled: NDArray[np.bool_], starts: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Of one relation, the sum of margins and the number of labels in each bin, [B] both."""
    order = np.argsort(-margin, kind="stable")
    return (
        np.add.reduceat(margin[order].astype(np.float64), starts),
        np.add.reduceat(labelled[order].astype(np.float64), starts),
    )
