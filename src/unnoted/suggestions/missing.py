"""How many labels of each relation are missing, and how far that can be known.

The estimate is the sum of the probabilities of a relation's unlabelled pairs. It rests on the scores and on
how many true facts there are for each labelled one, told, implied or estimated. The interval says how far
single relations were from the truth where that is known (`calibration.counted_priors`) and the level was
about right; one that is wrong moves all of them.
"""

import numpy as np

from unnoted.priors.priors import allocate_total, interval_factor
from unnoted.suggestions.judged import JudgedPairs
from unnoted.suggestions.suggestion import MissingLabels


def missing_labels(judged: JudgedPairs) -> tuple[MissingLabels, ...]:
    """An estimate for each relation that has labels, the most missing first.

    Args:
        judged: what was said of the pairs; nothing can be estimated if it is not calibrated.
    """
    probable = judged.if_unlabelled()
    if probable is None:
        return ()
    scores = judged.scores
    labelled = scores.labelled.sum(0)
    missing = np.where(scores.labelled, 0, probable).sum(0, dtype=np.float64)
    expected = labelled + missing
    total = allocate_total(expected, labelled, max(1.0, expected.sum() / max(labelled.sum(), 1)))
    missing, factor = total - labelled, interval_factor(labelled)
    low, high = (total * end - labelled for end in (1 / factor, factor))
    columns = (each.tolist() for each in (labelled, missing, np.maximum(low, 0), high))
    found = [
        MissingLabels(relation, count, round(total, 1), round(least, 1), round(most, 1))
        for relation, count, total, least, most in zip(scores.relations, *columns, strict=True)
        if count or round(total, 1)
    ]
    return tuple(sorted(found, key=lambda each: -each.missing))
