"""What reading tells of labels, in bits: how much more probable they are to a model than to types alone.

Types alone say how probable a label is: a person has a birthplace, a date has none. A model that has read the
document says it better. How much better is a number of bits for each label, and labels are enough for it,
however many are missing.

Pairs that some sentence mentions both of and pairs that never meet are compared. What types mean is counted
over both: counted for each kind alone, it would be known less well for the kind with fewer labels, and
reading would seem to tell more there. How much types and the model mean for a kind is fitted, by two numbers.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unnoted.priors.labelled_scores import LabelledScores

ENOUGH, SURE = 0.9, 1.0
"""Reading tells as much if it is nine tenths; that it is less has to be beyond one standard error."""

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


@dataclass(frozen=True, slots=True)
class ReadingGain:
    """What reading tells of labels that types do not, in bits for each label.

    Attributes:
        apart: of pairs that no sentence mentions both of.
        together: of pairs that some sentence mentions both of.
        error: the standard error of `apart` beside `ENOUGH` of `together`.
    """

    apart: float
    together: float
    error: float

    @property
    def tells_less_apart(self) -> bool:
        """Whether it tells clearly less of pairs that never meet."""
        return self.apart + SURE * self.error < ENOUGH * self.together


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
    kinds = [(rows, scores.labelled[rows].sum()) for rows in (~known.meet, known.meet)]
    if any(not FEWEST <= labels < rows.sum() * len(scores.relations) for rows, labels in kinds):
        return None
    by_types = _type_log_odds(scores.labelled, known)
    means, deviations = [], []
    for rows, labels in kinds:
        bits, noted = _by_document(scores.of_pairs(rows), known.types[rows], known.fold[rows], by_types)
        means.append(float(bits.sum() / labels))
        deviations.append((bits - means[-1] * noted) / labels)  # [D]
    # A document has pairs of either kind: documents are what was drawn.
    error = float(np.sqrt(((deviations[0] - ENOUGH * deviations[1]) ** 2).sum()))
    return ReadingGain(means[0], means[1], error)


def _type_log_odds(labelled: NDArray[np.bool_], known: PairKinds) -> Floats:
    """The log odds of a label between two types, in the documents outside each fold, [folds, T, K]."""
    folds, types = int(known.fold.max()) + 1, int(known.types.max()) + 1
    pairs, counts = _counted(labelled, known.types, known.fold, folds, types)
    pairs, counts = pairs.sum(0) - pairs, counts.sum(0) - counts  # of the other folds
    whole = (counts.sum(1) + UNSEEN) / (pairs.sum(1) + 2 * UNSEEN)  # [folds, K]
    share = (counts + SHRINKAGE * whole[:, None]) / (pairs + SHRINKAGE)
    log_odds: Floats = np.log(share / (1 - share))
    return log_odds


def _counted(
    labelled: NDArray[np.bool_], types: NDArray[np.int64], fold: NDArray[np.int64], folds: int, many: int
) -> tuple[Floats, Floats]:
    """How many pairs there are of two types in a fold, [folds, T, 1], and labels, [folds, T, K]."""
    counts = np.zeros((folds * many, labelled.shape[1]))
    np.add.at(counts, fold * many + types, labelled)
    pairs = np.bincount(fold * many + types, minlength=folds * many).astype(float)
    return pairs.reshape(folds, many, 1), counts.reshape(folds, many, -1)


def _by_document(
    scores: LabelledScores, types: NDArray[np.int64], fold: NDArray[np.int64], by_types: Floats
) -> tuple[Floats, Floats]:
    """Of pairs of one kind, the bits that the model gains over types, and the labels; [D] both."""
    by_model = _line(*_binned(scores))
    pairs, counts = _counted(scores.labelled, types, fold, *by_types.shape[:2])
    all_pairs = np.broadcast_to(pairs, counts.shape)
    slope, offset = _line(by_types.ravel(), all_pairs.ravel(), counts.ravel())
    by_types = slope * by_types + offset
    bits, noted = np.zeros((2, len(scores.documents)))
    for first in range(0, scores.pairs, ROWS):
        rows = slice(first, first + ROWS)
        labelled, document = scores.labelled[rows], scores.document[rows]
        gain = _log_likelihood(by_model[0] * scores.margin[rows] + by_model[1], labelled)  # [rows, K]
        gain -= _log_likelihood(by_types[fold[rows], types[rows]], labelled)
        bits += np.bincount(document, gain.sum(1), len(bits)) / np.log(2)
        noted += np.bincount(document, labelled.sum(1), len(noted))
    return bits, noted


def _binned(scores: LabelledScores) -> tuple[Floats, Floats, Floats]:
    """Margins, how many pairs have each, and how many of them are labelled."""
    edges = np.linspace(scores.margin.min(), scores.margin.max(), BINS + 1)
    pairs, _ = np.histogram(scores.margin, edges)
    noted, _ = np.histogram(scores.margin[scores.labelled], edges)
    return (edges[:-1] + edges[1:]) / 2, pairs.astype(float), noted.astype(float)


def _line(value: Floats, pairs: Floats, noted: Floats) -> Floats:
    """The slope and the offset from values to the log odds of a label, under which labels are most probable.

    Args:
        value: [N].
        pairs: [N], how many have it.
        noted: [N], how many of them are labelled; more than none in all, and fewer than all.
    """
    seen = np.stack([value, np.ones_like(value)])  # [2, N]

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


def _log_likelihood(log_odds: NDArray[np.floating], labelled: NDArray[np.bool_]) -> Floats:
    likelihood: Floats = labelled * log_odds - np.logaddexp(0, log_odds)
    return likelihood
