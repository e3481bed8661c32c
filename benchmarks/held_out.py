"""What a setting is worth on training documents that were held out: docs/results.md, docs/concepts/words.md.

    python -m benchmarks.held_out beyond-docred --shares 0 0.3 0.5 0.7 1
    python -m benchmarks.held_out beyond-docred --set start=random
    python -m benchmarks.held_out beyond-best-chemdisgene --in-one-sentence --shares 0.7

Trains the model of the first fold, on half of a run's training documents, and scores the other half: against
their labels, and where `train_revised.json` has the same document, against all its facts. Nothing is chosen
on development documents.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks.complete_labels import known_pairs, truth_of
from benchmarks.results import SEED, make_documents, read_grid, settings_of
from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.evaluation.curves import precision_recall_curve
from unnoted.training.calibrate import score_documents
from unnoted.training.cross_validation import k_fold, train_without
from unnoted.training.ingredients import load_corpus
from unnoted.training.settings import parse_changes
from unnoted.training.training_labels import training_labels

BANDS = (1, 10, 100, 1000)
"""Labels in the training documents by which relations are told apart."""


def figures(scores: OutOfFoldScores, rows: np.ndarray, often: np.ndarray) -> str:
    """Average precision and the best F1 of one line; of single relations the mean of either, and F1 by band.

    Args:
        scores: beside what is taken for true.
        rows: bool [P], the pairs to judge.
        often: int [K], how many labels each relation has in the training documents.
    """
    margin, true = scores.margin[rows], scores.labelled[rows]
    curve = precision_recall_curve(margin.ravel(), true.ravel(), int(true.sum()))
    assert curve.best is not None
    own = [average_precision_score(t, m) for m, t in zip(margin.T, true.T, strict=True) if t.any()]
    stated = margin >= curve.best.threshold
    both, all_told = (stated & true).sum(0), stated.sum(0) + true.sum(0)  # [K]
    single = (2 * both / np.maximum(all_told, 1))[true.any(0)].mean()
    bands = [(often >= low) & (often < 10 * low if low < BANDS[-1] else True) for low in BANDS]
    by_band = (f"{200 * both[band].sum() / max(all_told[band].sum(), 1):.1f}" for band in bands)
    pooled = f"{100 * curve.average_precision:.1f}, {100 * curve.best.f1:.1f}"
    return (
        f"{pooled}; of relations {100 * np.mean(own):.1f}, {100 * single:.1f}; by labels {', '.join(by_band)}"
    )


def main() -> None:
    """Train, score and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.held_out", description=__doc__)
    parser.add_argument("name", help="a run of results.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--shares", nargs="*", type=float, default=[], help="of the linear model")
    parser.add_argument("--in-one-sentence", action="store_true", help="score only pairs that meet")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--to", type=Path, default=Path("runs"))
    arguments = parser.parse_args()
    folder = arguments.to / "results"
    folder.mkdir(parents=True, exist_ok=True)
    grid = read_grid(arguments.shared, folder)
    make_documents(grid, folder)
    grid["runs"][arguments.name] |= parse_changes(arguments.set) | {"seeds": [arguments.seed]}
    (settings,) = settings_of(grid, [arguments.name], folder)[arguments.name]
    noted = load_corpus(settings, settings.train)
    labels = training_labels(settings, noted)
    counts = Counter(relation for document in noted for *_, relation in document.labels)
    often = np.array([counts[relation] for relation in noted.relations])
    documents = labels.corpus.documents
    held_out = k_fold(documents, labels.settings.folds, labels.settings.seed)[0]
    complete = load_documents(arguments.shared / "data/docred/train_revised.json").documents
    truth = truth_of(list(held_out), list(complete))
    model = train_without(labels, held_out)
    if arguments.in_one_sentence:
        model.candidates = CandidatePairs(noted.candidates.types, intra_sentence=True)
    for share in arguments.shares or [None]:
        if share is not None:
            assert model.lexical is not None, "this run has no linear model"
            model.lexical.share = share
        scores = score_documents(model, held_out)
        known = known_pairs(scores, truth)
        line = f"labels: {figures(scores, np.ones(scores.pairs, bool), often)}"
        if known.any():
            line += (
                f"; {len(truth)} documents with all facts: {figures(scores.relabelled(truth), known, often)}"
            )
        print("as set" if share is None else f"share {share:g}", line, flush=True)


if __name__ == "__main__":
    main()
