"""How well a calibration keeps its word where the complete labels are known.

    python benchmarks/calibration.py OOF.npz TRUTH.npz [--multiplier 2.8]

OOF is what `LabelledScores.save` writes: out-of-fold margins beside the labels of the training. TRUTH has
`known`, bool [P]: pairs of documents whose complete labels are known, and `true`, bool [P, K]. A calibration
is fitted on all documents with incomplete labels, then on one half of them, and measured on known pairs: all,
and those of the other half.
Without --multiplier each relation's prior is its labelled one times its true ratio.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from unnoted.calibration import Calibration, Unreachable
from unnoted.evaluation import Reliability, Score, precision_recall_curve
from unnoted.evaluation.extraction_scores import FLOOR
from unnoted.priors import Priors
from unnoted.priors.labelled_scores import LabelledScores

CURVE = 100_000
"""How many facts a curve is made of."""


def priors_of(scores, known, true, multiplier):
    """Labelled priors of the scored pairs, and overall ones by one ratio or by that of each relation."""
    labelled = scores.labelled_share
    noted = scores.labelled[known].sum(0)
    ratio = np.maximum(true[known].sum(0) / np.maximum(noted, 1), 1) if multiplier is None else multiplier
    seen = labelled > 0
    overall = np.where(seen, labelled * ratio, true[known].mean(0) if multiplier is None else 0)
    return Priors(scores.relations, tuple(labelled), tuple(np.clip(overall, labelled, 0.99)))


def part(scores, kept):
    """The scores of some pairs."""
    columns = (getattr(scores, name)[kept] for name in ("document", "head", "tail", "margin", "labelled"))
    return LabelledScores(scores.relations, scores.documents, *columns)


def score_of(stated, true):
    """Precision, recall and F1 of what is stated."""
    return Score(int((stated & true).sum()), int(stated.sum()), int(true.sum()))


def curve_of(values, true):
    """The curve of the highest values: what lies below them adds next to nothing."""
    top = np.argpartition(values, -CURVE)[-CURVE:] if len(values) > CURVE else slice(None)
    return precision_recall_curve(values[top], true[top], int(true.sum()))


def measured(title, calibration, margin, true):
    """One row: F1 at the line, of margin > 0 and at best; calibration errors; where targets land."""
    margins = torch.from_numpy(margin.astype(np.float64))
    p = calibration.curves.probabilities(margins).numpy()
    stated = p > calibration.line
    at_line, at_zero = score_of(stated, true), score_of(margin > 0, true)
    curves = [curve_of(each.ravel(), true.ravel()) for each in (margin, p)]
    errors = [Reliability.of(p[kept], true[kept]).error for kept in (stated, p >= FLOOR)]
    print(
        f"{title}: F1 {100 * at_line.f1:.1f} (P {100 * at_line.precision:.1f}, R {100 * at_line.recall:.1f}, "
        f"expected {100 * calibration.expected.best_f1:.1f}); margin > 0 {100 * at_zero.f1:.1f}; best of one "
        f"line on margins {100 * curves[0].best.f1:.1f}, on probabilities {100 * curves[1].best.f1:.1f}; "
        f"average precision {100 * curves[0].average_precision:.1f} and "
        f"{100 * curves[1].average_precision:.1f}; "
        f"calibration error {errors[0]:.3f} stated, {errors[1]:.3f} p >= {FLOOR}"
    )
    for target in (0.5, 0.7, 0.8, 0.9):
        try:
            found = score_of(p > calibration.at_precision(target).line, true)
            told = f"{found.precision:.3f} at recall {found.recall:.3f}, {found.predicted} facts"
            print(f"    precision {target}: {told}")
        except Unreachable as error:
            print(f"    {error}")
    for target in (0.5, 0.7):
        found = score_of(p > calibration.at_recall(target).line, true)
        print(f"    recall {target}: {found.recall:.3f} at precision {found.precision:.3f}")


def main():
    """Fit and measure."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("oof", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--multiplier", type=float)
    chosen = parser.parse_args()
    scores = LabelledScores.load(chosen.oof)
    with np.load(chosen.truth) as found:
        known, true = found["known"], found["true"]
    priors = priors_of(scores, known, true, chosen.multiplier)
    calibration = Calibration.fitted(scores, priors)
    measured("fitted on all", calibration, scores.margin[known], true[known])
    told = [f"{row.relation} {row.stated / row.prior:.2f}" for row in calibration.disagreements()[:10]]
    number = len(calibration.disagreements())
    print(f"    {number} relations far from their prior, stated / prior: {', '.join(told)}")
    first = np.random.default_rng(0).random(len(scores.documents)) < 0.5
    half = first[scores.document]
    for title, here in (("first half, measured on second", half), ("second half, measured on first", ~half)):
        fitted = Calibration.fitted(part(scores, here), priors)
        measured(title, fitted, scores.margin[known & ~here], true[known & ~here])


if __name__ == "__main__":
    main()
