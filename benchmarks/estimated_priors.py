"""How far estimated priors are from the truth, beside the best single multiplier.

    python benchmarks/estimated_priors.py SCORES.npz TRUTH.npz

SCORES holds out-of-fold scores (`LabelledScores.save`). TRUTH holds `true`, bool [pairs, relations], and
`known`, bool [pairs]: the pairs of documents whose complete labels are known. Estimates are made from all
pairs and compared on the known ones. Errors are medians over relations of |log2(estimated ÷ true ratio)|; the
single multiplier is the one with the least such error, which only somebody who knows the truth can choose.
"""

import sys
from pathlib import Path

import numpy as np

from unnoted.priors.audited import Answer, audited_priors
from unnoted.priors.auditing import draw_audit
from unnoted.priors.estimating import estimate_priors
from unnoted.priors.labelled_scores import LabelledScores

FEWEST = 10
"""Labels in documents whose truth is known, from which on a relation is compared."""


def compared(found, columns, truth):
    """Pooled ratio, median error and coverage of the intervals."""
    rows = [found.rows()[column] for column in columns]
    ratio, low, high = (np.log2([row[name] for row in rows]) for name in ("ratio", "ratio_low", "ratio_high"))
    covered = ((low <= truth + 1e-6) & (truth <= high + 1e-6)).mean()
    pooled = found.ratio
    return (
        f"pooled {pooled.estimate:.2f} ({pooled.low:.2f} to {pooled.high:.2f}), "
        f"median error {np.median(abs(ratio - truth)):.2f}, mean {abs(ratio - truth).mean():.2f}, "
        f"intervals cover {covered:.0%}, rank correlation {correlation(ratio, truth):.2f}"
    )


def correlation(a, b):
    """Spearman's."""
    a, b = (np.argsort(np.argsort(each)) for each in (a, b))
    return np.corrcoef(a, b)[0, 1]


def labelled_of_true(scores, true, known, columns):
    """Labelled shares of the true facts at the top (a tenth of a relation's labels) and at the end."""
    found = np.zeros((2, 2))
    for column in columns:
        order = np.argsort(-scores.margin[:, column])
        place = np.arange(scores.pairs) / scores.labelled[:, column].sum()
        for row, chosen in enumerate((place < 0.1, place >= 64)):
            facts = order[chosen & known[order] & true[order, column]]
            found[row] += scores.labelled[facts, column].sum(), len(facts)
    return found[:, 0] / found[:, 1]


def main(scores_file, truth_file):
    """Print the figures."""
    scores = LabelledScores.load(Path(scores_file))
    with np.load(truth_file) as truth_of:
        known, true = truth_of["known"], truth_of["true"]
    true = true | scores.labelled
    labelled = scores.labelled[known].sum(0)
    columns = np.nonzero(labelled >= FEWEST)[0]
    truth = np.log2(true[known].sum(0)[columns] / labelled[columns])
    single = np.median(truth)
    total = true[known].sum() / labelled.sum()
    print(f"{len(columns)} relations, true ratio {total:.2f} over all, {2**single:.2f} in the median")
    print(
        f"best single: median error {np.median(abs(truth - single)):.2f}, "
        f"mean {abs(truth - single).mean():.2f}"
    )
    top, end = labelled_of_true(scores, true, known, columns)
    print(f"of the true facts, labelled at the top {top:.0%}, at the end {end:.0%}")
    for multiplier in (3, 12):
        error = abs(np.log2(multiplier) - truth)
        print(f"multiplier {multiplier}: median error {np.median(error):.2f}, mean {error.mean():.2f}")
    found = estimate_priors(scores)
    print("estimated:", compared(found, columns, truth))
    ratio = np.log2([found.rows()[column]["ratio"] for column in columns])
    moved = ratio - np.log2(found.ratio.estimate / total)
    print(f"estimated, scaled to the true ratio over all: median error {np.median(abs(moved - truth)):.2f}")
    inside = np.nonzero(known)[0]
    part = LabelledScores(
        scores.relations, scores.documents, scores.document[known], scores.head[known], scores.tail[known],
        scores.margin[known], scores.labelled[known],
    )  # fmt: skip
    for questions in (200, 500, 1000):
        design, asked = draw_audit(part, questions)
        answers = [
            Answer(each.relation, each.band, each.probability, bool(true[inside[each.pair], each.relation]))
            for each in asked
        ]
        print(f"audit of {questions}:", compared(audited_priors(design, answers), columns, truth))


if __name__ == "__main__":
    main(*sys.argv[1:])
