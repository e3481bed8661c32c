"""Performing a run: train, score, and leave a record; what is finished is read, not repeated."""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from unnoted.common.files import write_json
from unnoted.documents.loading import load_documents
from unnoted.documents.schema import Document
from unnoted.evaluation import Benchmark, Curve
from unnoted.evaluation.documents import document_scores
from unnoted.evaluation.extractor import evaluate_extractor
from unnoted.experiments.place import Place
from unnoted.experiments.runs import Run
from unnoted.experiments.stopwatch import Stopwatch
from unnoted.extraction import Extractor
from unnoted.training import Settings, train_from_settings
from unnoted.training.checkpoints import checkpoints
from unnoted.training.ingredients import load_corpus
from unnoted.training.record import Record, Scored
from unnoted.training.run_folder import RUN, RunFolder, description
from unnoted.training.trainer import CHECKPOINTS

CURVE_POINTS = 300
"""How many points of a precision-recall curve a record keeps, at most."""


def perform(run: Run, folder: Path, tell: Callable[[str], None] = lambda line: None) -> Record:
    """Train into `folder`/address, score, and write the record; or read it, if all that was done before.

    An interrupted training goes on at its last checkpoint. Checkpoints go when the training is finished; the
    trained model stays in `folder`/address/model.

    Args:
        run: what is to be done.
        folder: of the grid.
        tell: is given lines for the user.

    Raises:
        Busy: another process is at this run.
        RunError, DataError, NotFinite, ...: what training and extraction raise.
    """
    place = Place(folder, run.address)
    if (finished := place.record()) is not None:
        return finished
    with place.locked():
        # Once more: another process may have finished it since.
        if (finished := place.record(tell)) is not None:
            return finished
        place.forget_failure()
        with Stopwatch(place.seconds) as watch:
            settings = run.settings.model_copy(update={"output": place.model})
            _allow_other_paths(settings)
            for last in checkpoints(place.model / CHECKPOINTS)[-1:]:
                tell(f"going on at {last.name}")
            train_from_settings(settings, resume=True, tell=tell)
            train = load_corpus(settings, settings.train).documents
            scored = _scored(run, place.model, train, tell)
        for unneeded in list(place.model.rglob(CHECKPOINTS)):
            shutil.rmtree(unneeded, ignore_errors=True)
        record = Record(
            address=run.address,
            settings=settings.to_json(),
            seconds=watch.seconds,
            train_documents=len(train),
            train_facts=Counter(relation for document in train for *_, relation in document.labels),
            scored=scored,
        )
        place.finish(record)
        return record


def _allow_other_paths(settings: Settings) -> None:
    """Let a training go on although its files lie elsewhere now: by the run's address they are the same."""
    folder = RunFolder(settings.output)
    if folder.taken:
        with folder.locked():
            write_json(settings.output / RUN, description(settings))


def _scored(
    run: Run, model: Path, train: Sequence[Document], tell: Callable[[str], None]
) -> dict[str, Scored]:
    extractor = Extractor.from_pretrained(model)
    scored = {}
    for name, files in run.scored.items():
        # Without the vocabulary: a fact that the model cannot state is to be found all the same.
        gold = load_documents(*files).documents
        tell(f"scoring {name}: {len(gold):,} documents")
        scored[name] = score(extractor, gold, train, run.benchmark)
        tell(f"{name}: F1 {100 * scored[name].overall.f1:.2f}")
    return scored


def score(
    extractor: Extractor, gold: Sequence[Document], train: Sequence[Document], benchmark: Benchmark
) -> Scored:
    """All figures of a model on a set of documents.

    Args:
        extractor: with the model.
        gold: the documents, with all their facts.
        train: the documents that it was trained on, for Ign F1.
        benchmark: how the figures are reported.
    """
    evaluation = evaluate_extractor(extractor, gold, train, benchmark=benchmark)
    published = evaluation.published
    assert (
        evaluation.ignoring_train is not None and evaluation.curve is not None
    )  # train and scores are given
    return Scored(
        overall=evaluation.overall,
        ignoring_train=evaluation.ignoring_train,
        frequent=evaluation.frequent,
        reachable=None if published is None else published.overall,
        reachable_frequent=None if published is None else published.frequent,
        relations=evaluation.relations,
        documents=document_scores(gold, evaluation.submission.predictions, train),
        curve=thinned(evaluation.curve),
        average_precision=evaluation.curve.average_precision,
        best_f1=evaluation.curve.best.f1 if evaluation.curve.best else 0.0,
    )


def thinned(curve: Curve, points: int = CURVE_POINTS) -> tuple[tuple[float, float], ...]:
    """(recall, precision) along a curve: its ends, and points between them at even steps of recall.

    Example:
        >>> from unnoted.evaluation import precision_recall_curve
        >>> curve = precision_recall_curve([0.9, 0.8, 0.7, 0.6], [True, True, False, True], gold=4)
        >>> thinned(curve, points=2)
        ((0.25, 1.0), (0.75, 0.75))
        >>> len(thinned(curve))
        4
    """
    if len(curve) <= points:
        kept = np.arange(len(curve))
    else:
        wanted = np.linspace(curve.recalls[0], curve.recalls[-1], points)
        kept = np.searchsorted(curve.recalls, wanted)
        kept[0], kept[-1] = 0, len(curve) - 1
    return tuple(
        (float(curve.recalls[index]), float(curve.precisions[index])) for index in np.unique(kept).tolist()
    )
