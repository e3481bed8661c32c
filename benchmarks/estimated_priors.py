"""How far estimated priors are from the truth, beside the best single multiplier: docs/concepts/priors.md.

    python -m benchmarks.estimated_priors RUN/folds/scores.npz

The scores are out of fold, of models that learnt from noted labels alone. Estimates are made from all pairs
and compared where complete labels are known: medians over relations of |log2(estimated ÷ true ratio)|. The
single multiplier is the one with the least such error, which only somebody who knows the truth can choose.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.complete_labels import DATA, known_pairs, read_truth
from unnoted.priors.audited import Answer, audited_priors
from unnoted.priors.auditing import draw_audit
from unnoted.priors.estimating import estimate_priors
from unnoted.priors.labelled_scores import LabelledScores

FEWEST = 10
"""Labels in documents whose truth is known, from which on a relation is compared; and pairs of a bin."""


def elkan_noto(margin, labelled):
    """The mean, over labels, of the calibrated probability of being labelled is the labelled share."""
    curve = IsotonicRegression(out_of_bounds="clip").fit(margin, labelled)
    return 1 / curve.predict(margin[labelled]).mean()


def best_bin(margin, labelled):
    """Where labels are densest all is true; with exact densities DEDPUL's EM ends there, too."""
    noted = np.cumsum(labelled[np.argsort(-margin, kind="stable")])
    return 1 / (noted / np.arange(1, len(noted) + 1))[FEWEST - 1 :].max()


def compared(found, columns, truth):
    """Pooled ratio, median error and coverage of the intervals."""
    rows = [found.rows()[column] for column in columns]
    ratio, low, high = (np.log2([row[name] for row in rows]) for name in ("ratio", "ratio_low", "ratio_high"))
    covered = ((low <= truth + 1e-6) & (truth <= high + 1e-6)).mean()
    pooled = found.ratio
    return (
        f"pooled {pooled.estimate:.2f} ({pooled.low:.2f} to {pooled.high:.2f}), median error "
        f"{np.median(abs(ratio - truth)):.2f}, intervals cover {covered:.0%}"
    )


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


def main():
    """Print the figures."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    chosen = parser.parse_args()
    scores, (_, facts) = LabelledScores.load(chosen.scores), read_truth(chosen.data)
    known, true = known_pairs(scores, facts), scores.relabelled(facts).labelled | scores.labelled
    labelled = scores.labelled[known].sum(0)
    columns = np.nonzero(labelled >= FEWEST)[0]
    truth = np.log2(true[known].sum(0)[columns] / labelled[columns])
    total = true[known].sum() / labelled.sum()
    print(f"{len(columns)} relations, true ratio {total:.2f}, {2 ** np.median(truth):.2f} in the median")
    for name, guess in {"best single": np.median(truth), "multiplier 3": np.log2(3)}.items():
        print(f"{name}: median error {np.median(abs(truth - guess)):.2f}")
    top, end = labelled_of_true(scores, true, known, columns)
    print(f"of the true facts, labelled at the top {top:.0%}, at the end {end:.0%}")
    for estimator in (elkan_noto, best_bin):
        ratio = np.array([estimator(scores.margin[:, one], scores.labelled[:, one]) for one in columns])
        pooled = np.average(ratio, weights=labelled[columns])
        error = np.median(abs(np.log2(ratio) - truth))
        print(f"{estimator.__name__}: pooled {pooled:.2f}, median error {error:.2f}")
    found = estimate_priors(scores)
    print("estimated:", compared(found, columns, truth))
    ratio = np.log2([found.rows()[column]["ratio"] for column in columns])
    moved = ratio - np.log2(found.ratio.estimate / total)
    print(f"estimated, scaled to the true ratio over all: median error {np.median(abs(moved - truth)):.2f}")
    audits(scores, known, true, columns, truth)


def audits(scores, known, true, columns, truth):
    """The same of audits whose questions are answered from the complete labels."""
    inside = np.nonzero(known)[0]
    names = ("document", "head", "tail", "margin", "labelled")
    part = replace(scores, **{name: getattr(scores, name)[known] for name in names})
    for questions in (200, 500, 1000):
        design, asked = draw_audit(part, questions)
        answers = [
            Answer(each.relation, each.band, each.probability, bool(true[inside[each.pair], each.relation]))
            for each in asked
        ]
        print(f"audit of {questions}:", compared(audited_priors(design, answers), columns, truth))


if __name__ == "__main__":
    main()
