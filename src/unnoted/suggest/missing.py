"""How many labels of each relation are missing, and how far that can be known.

Two ways say it. The probabilities of all unlabelled pairs, added up, rest on the scores and on how many true
facts there are for each labelled one, told or estimated. The ranks at which a relation's own labels stand
(`priors.estimating`) rest on that relation alone. The first is the estimate, because it was nearer to the
truth where that is known (docs/how-to/suggest.md). The interval reaches over both ways: where they disagree,
nobody knows.
"""

import numpy as np

from unnoted.priors.estimated import EstimatedPriors
from unnoted.suggest.judged import JudgedPairs
from unnoted.suggest.suggestion import MissingLabels


def missing_labels(judged: JudgedPairs, estimated: EstimatedPriors | None) -> tuple[MissingLabels, ...]:
    """An estimate for each relation that has labels, the most missing first.

    Args:
        judged: what was said of the pairs; nothing can be estimated if it is not calibrated.
        estimated: what the ranks of labels say; without it the interval is only as wide as counting makes it.
    """
    probable = judged.if_unlabelled()
    if probable is None:
        return ()
    scores = judged.scores
    labelled = scores.labelled.sum(0)
    open_ = np.where(scores.labelled, 0, probable)
    sums = open_.sum(0, dtype=np.float64)
    chance = 1.65 * np.sqrt((open_ * (1 - open_)).sum(0, dtype=np.float64))  # nine times in ten
    low, high = np.maximum(sums - chance, 0), sums + chance
    if estimated is not None:
        facts = scores.pairs * np.array([estimated.low, estimated.high])
        low, high = np.minimum(low, facts[0] - labelled), np.maximum(high, facts[1] - labelled)
    rows = zip(scores.relations, labelled.tolist(), sums.tolist(), low.tolist(), high.tolist(), strict=True)
    found = [
        MissingLabels(relation, count, round(total, 1), round(max(least, 0.0), 1), round(most, 1))
        for relation, count, total, least, most in rows
        if count
    ]
    return tuple(sorted(found, key=lambda each: -each.missing))
