"""True facts for each label, relation by relation, beside the truth: docs/concepts/priors.md.

    python -m benchmarks.counted_priors RUN/folds/scores.npz --train train_annotated.json

The scores are out of fold, of the documents that the run was trained on. Rules tell the level, calibrated
scores share it out (`unnoted priors FILE --scores SCORES --rules docred`). Relations with at least 5 labels
in documents that also have complete labels are compared with these: |log2(estimated ÷ true ratio)|, the
median over relations and the mean weighed by true facts. Beside it the best that one multiplier for all could
do, which nobody knows, and the share of intervals that hold the truth.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.complete_labels import DATA, read_truth
from unnoted.data import load_documents
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.suggestions.level_priors import beside_labels_of, priors_at_level

FEWEST = 5
"""Labels of a relation from which its ratio is compared."""


def main():
    """Estimate and compare."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--train", type=Path, default=DATA / "train_annotated.json")
    parser.add_argument("--data", type=Path, default=DATA)
    chosen = parser.parse_args()
    original, truth = read_truth(chosen.data)
    corpus = load_documents(chosen.train, vocabulary=original.relations)
    scores = LabelledScores.load(chosen.scores)
    found = priors_at_level(scores, corpus, rules="docred").rows()
    judged = beside_labels_of(scores, (document for document in corpus if document.id in truth))
    noted, true = (each.labelled.sum(0) for each in (judged, scores.relabelled(truth)))
    compared = np.nonzero(noted >= FEWEST)[0]
    right = true[compared] / noted[compared]
    ratio, low, high = (
        np.array([found[number][name] for number in compared])
        for name in ("ratio", "ratio_low", "ratio_high")
    )

    def errors(estimates):
        off = np.abs(np.log2(estimates / right))
        return float(np.median(off)), float(np.average(off, weights=true[compared]))

    own, single = errors(ratio), [errors(np.full(len(right), value)) for value in np.arange(1, 12, 0.05)]
    best = [min(each[number] for each in single) for number in (0, 1)]
    print(
        f"{len(compared)} relations, error of ratios {own[0]:.2f} and weighed {own[1]:.2f}; best single "
        f"multipliers {best[0]:.2f} and {best[1]:.2f}; {((low <= right) & (right <= high)).mean():.0%} of "
        "intervals hold the truth"
    )


if __name__ == "__main__":
    main()
