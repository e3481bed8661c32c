"""What reading tells of labels, in bits: how much more probable they are to a model than to types alone.

Types alone say how probable a label is: a person has a birthplace, a date has none. A model that has read the
document says it better. How much better is a number of bits for each label, and labels are enough for it,
however many are missing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.labelled_scores import LabelledScores

SURE = 2.0
"""So many standard errors less have to be gained for pairs to be left out."""

FEWEST = 100
"""With fewer labels, of pairs that meet or of others, nothing can be said."""

SHRINKAGE = 20
"""So many pairs with the relation's own share are added to those of two types."""

UNSEEN = 0.5
"""So many labels are added to those of a relation: one that was never noted is not impossible."""

BINS, NEWTON_STEPS, NO_STEP = 2**12, 20, 1e-9
"""How finely margins are told apart, and how long is searched, when their log odds are fitted."""

RIDGE = 1e-9 * np.eye(2)
"""Keeps the search within bounds where margins tell all labels from all others."""

ROWS = 2**14
"""Pairs that are looked at together."""

Floats = NDArray[np.float64]


class ReadingGain(NamedTuple):
    """What reading tells of labels that types do not, in bits for each label.

    Attributes:
        apart: of pairs that no sentence mentions both of.
        together: of pairs that some sentence mentions both of.
        error: the standard error of the difference.
    """

    apart: float
    together: float
    error: float

    @property
    def tells_less_apart(self) -> bool:
        """Whether it surely tells less of pairs that never meet."""
        return self.together - self.apart > SURE * self.error


class PairKinds(NamedTuple):
    """What is known of P scored pairs without reading.

    Attributes:
        meet: bool [P], whether some sentence mentions both entities.
        types: int64 [P], a number for the types of head and tail.
        fold: int64 [P], of the pair's document.
    """

    meet: NDArray[np.bool_]
    types: NDArray[np.int64]
    fold: NDArray[np.int64]


def what_reading_tells(scores: LabelledScores, known: PairKinds) -> ReadingGain | None:
    """What reading tells of labels that types do not; None if there are too few labels to say.

    Args:
        scores: of P pairs, out of fold.
        known: of the same pairs.
    """
    means, deviations = [], []
    for rows in (~known.meet, known.meet):
        some = scores.of_pairs(rows)
        labels = np.bincount(some.document, some.labelled.sum(1), len(some.documents))  # [D]
        if labels.sum() < FEWEST:
            return None
        bits = _bits(some, known.types[rows], known.fold[rows])  # [D]
        means.append(float(bits.sum() / labels.sum()))
        deviations.append((bits - means[-1] * labels) / labels.sum())
    # A document has pairs of either kind: documents are what was drawn.
    error = float(np.sqrt(((deviations[0] - deviations[1]) ** 2).sum()))
    return ReadingGain(means[0], means[1], error)


def _bits(scores: LabelledScores, types: NDArray[np.int64], fold: NDArray[np.int64]) -> Floats:
    """By how many bits each document's labels are more probable to the model than to types, [D]."""
    line = _log_odds_of_labels(scores)
    # Of the documents that the model of a fold has learnt from.
    others = [fold != each for each in range(fold.max() + 1)]
    by_types = np.stack([_type_log_odds(scores.labelled, types, rows) for rows in others])  # [folds, T, K]
    bits: Floats = np.zeros(len(scores.documents))
    for first in range(0, scores.pairs, ROWS):
        rows = slice(first, first + ROWS)
        labelled = scores.labelled[rows]
        gain = _log_likelihood(line[0] * scores.margin[rows] + line[1], labelled)  # [rows, K]
        gain -= _log_likelihood(by_types[fold[rows], types[rows]], labelled)
        bits += np.bincount(scores.document[rows], gain.sum(1), len(bits))
    bits /= np.log(2)
    return bits


def _log_odds_of_labels(scores: LabelledScores) -> Floats:
    """The slope and the offset from margins to log odds, the same for all: nothing is learnt by heart."""
    edges = np.linspace(scores.margin.min(), scores.margin.max(), BINS + 1)
    pairs, _ = np.histogram(scores.margin, edges)
    noted, _ = np.histogram(scores.margin[scores.labelled], edges)
    seen = np.stack([(edges[:-1] + edges[1:]) / 2, np.ones(BINS)])  # [2, B]

    def likelihood(line: Floats) -> float:
        return float(noted @ (line @ seen) - pairs @ np.logaddexp(0, line @ seen))

    line = np.array([0.0, np.log(noted.sum() / (pairs - noted).sum())])
    for _ in range(NEWTON_STEPS):
        probability = np.exp(-np.logaddexp(0, -line @ seen))
        curvature = seen * (pairs * probability * (1 - probability)) @ seen.T + RIDGE
        step = np.linalg.solve(curvature, seen @ (noted - pairs * probability))
        while likelihood(line + step) < likelihood(line) and np.abs(step).max() > NO_STEP:
            step /= 2
        line += step
    return line


def _type_log_odds(labelled: NDArray[np.bool_], types: NDArray[np.int64], rows: NDArray[np.bool_]) -> Floats:
    """The log odds of each relation's label between two types, as some pairs say, [T, K]."""
    counts = np.zeros((int(types.max()) + 1, labelled.shape[1]))
    np.add.at(counts, types[rows], labelled[rows])
    pairs = np.bincount(types[rows], minlength=len(counts))[:, None]
    whole = (counts.sum(0) + UNSEEN) / (rows.sum() + 2 * UNSEEN)  # [K]
    share = (counts + SHRINKAGE * whole) / (pairs + SHRINKAGE)
    log_odds: Floats = np.log(share / (1 - share))
    return log_odds


def _log_likelihood(log_odds: NDArray[np.floating], labelled: NDArray[np.bool_]) -> Floats:
    likelihood: Floats = labelled * log_odds - np.logaddexp(0, log_odds)
    return likelihood
