"""How well calibrated a model is where the complete labels are known: docs/concepts/probabilities.md.

    python -m benchmarks.calibration RUN/folds/scores.npz --multiplier 2.02

The scores are out of fold, of the documents of `train_annotated.json` with the labels of the run; the
multiplier is that of the run's record (`priors`): true facts for each of these labels. The curve is fitted on
all documents and measured on those that are also in `train_revised.json`.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from benchmarks.complete_labels import DATA, known_pairs
from benchmarks.suggestions import read_truth
from unnoted.calibration import OutOfFoldScores, TargetUnreachableError, fit_calibration
from unnoted.evaluation import Reliability, Score
from unnoted.evaluation.evaluator import FLOOR
from unnoted.priors import Priors

SLOPES = (None, 0.0, 0.4, 0.8)
TARGETS = (0.5, 0.7, 0.8, 0.9)


def score_of(predicted, true):
    """Precision, recall and F1."""
    return Score(int((predicted & true).sum()), int(predicted.sum()), int(true.sum()))


def measure(title, calibration, margin, true):
    """One row: F1 at the threshold, expected and measured; calibration errors; where target precisions land."""
    p = calibration.probabilities(torch.from_numpy(margin.astype(np.float64))).numpy()
    predicted = p > calibration.threshold
    errors = [Reliability.from_scores(p[kept], true[kept]).error for kept in (predicted, p >= FLOOR)]
    found = []
    for target in TARGETS:
        try:
            threshold = calibration.at_precision(target).threshold
            found.append(f"{target} -> {score_of(p > threshold, true).precision:.3f}")
        except TargetUnreachableError:
            found.append(f"{target}: out of reach")
    print(
        f"{title}: F1 {100 * score_of(predicted, true).f1:.1f} (expected "
        f"{100 * calibration.expected.best_f1:.1f}); predictions: mean probability {p[predicted].mean():.3f}, "
        f"true {true[predicted].mean():.3f}, calibration error {errors[0]:.3f}; p >= {FLOOR}: {errors[1]:.3f}; "
        f"precision {', '.join(found)}"
    )


def labelled_by_margin(margin, labelled, true):
    """Of the true facts, the labelled share by tenths of their margins."""
    order = np.argsort(margin[true])
    shares = [part.mean() for part in np.array_split(labelled[true][order], 10)]
    print("labelled, by tenths of margin: " + " ".join(f"{share:.2f}" for share in shares))


def main():
    """Fit and measure."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--multiplier", type=float, required=True)
    parser.add_argument("--data", type=Path, default=DATA)
    chosen = parser.parse_args()
    scores = OutOfFoldScores.load(chosen.scores)
    _, truth = read_truth(chosen.data)
    known = known_pairs(scores, truth)
    margin, true = scores.margin[known], scores.relabelled(truth).labelled[known]
    labelled_by_margin(margin, scores.labelled[known], true)
    share = scores.labelled_share
    priors = Priors(scores.relations, tuple(share), tuple(np.minimum(share * chosen.multiplier, 0.99)))
    for slope in SLOPES:
        calibration = fit_calibration(scores, priors, propensity_slope=slope)
        fitted = "fitted, " if slope is None else ""
        measure(f"propensity slope {fitted}{calibration.propensity_slope:g}", calibration, margin, true)


if __name__ == "__main__":
    main()
