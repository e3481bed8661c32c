"""Where the labelled pairs of a relation stand among all pairs, ordered by margin.

Only the order of the margins is used, so that it does not matter which loss they come from. Ranks are counted
in bands whose sizes grow by a constant factor: the top, where a few pairs decide, is looked at closely.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.labelled_scores import LabelledScores

FIRST = 6
"""Pairs in the first band: fewer would let one lucky label stand for a share."""

BANDS = 48
"""How many bands there are at most."""


@dataclass(frozen=True, slots=True, eq=False)
class RankBands:
    """How many pairs are labelled in each band of ranks.

    Attributes:
        size: float [B], the pairs of a band.
        labelled: float [K, B], how many of them are labelled with the relation.
        height: float [B], −log of the share of pairs that rank above the middle of the band.
        clustering: float [K], by what factor a bootstrap over documents multiplies the variance that labels
            would have if each came alone.
    """

    size: NDArray[np.float64]
    labelled: NDArray[np.float64]
    height: NDArray[np.float64]
    clustering: NDArray[np.float64]


def rank_bands(scores: LabelledScores, columns: Sequence[int]) -> RankBands:
    """Count the labels of some relations by rank.

    Args:
        scores: margins beside labels.
        columns: the positions of the relations.

    Example:
        >>> margin = np.arange(100.0)[:, None]
        >>> scores = LabelledScores(("spouse",), ("d",), np.zeros(100, int), np.zeros(100, int),
        ...                         np.ones(100, int), margin, margin >= 97)
        >>> bands = rank_bands(scores, [0])
        >>> bands.size[:3], bands.labelled[0, :3], bands.clustering
        (array([6., 1., 1.]), array([3., 0., 0.]), array([3.]))
    """
    edges = band_edges(scores.pairs)
    labelled = np.zeros((len(columns), len(edges) - 1))
    clustering = np.ones(len(columns))
    for row, column in enumerate(columns):
        order = np.argsort(-scores.margin[:, column], kind="stable")
        labelled[row] = np.add.reduceat(scores.labelled[order, column].astype(float), edges[:-1])
        # Of documents drawn with replacement, the number of labels has the variance Σ m², m being the labels
        # of a document; labels that come alone have Σ m.
        by_document = np.bincount(scores.document[scores.labelled[:, column]])
        clustering[row] = (by_document**2).sum() / max(by_document.sum(), 1)
    middle = (edges[:-1] + edges[1:]) / 2 / scores.pairs
    return RankBands(np.diff(edges).astype(float), labelled, -np.log(middle), np.maximum(clustering, 1.0))


def band_edges(pairs: int) -> NDArray[np.int64]:
    """The ranks at which bands begin, and the number of pairs at the end.

    Example:
        >>> band_edges(40)[[0, 1, -1]]
        array([ 0,  6, 40])
    """
    first = min(FIRST, pairs)
    inner = np.unique(np.round(np.geomspace(first, pairs, BANDS)).astype(np.int64))
    return np.concatenate([np.zeros(1, np.int64), inner])
