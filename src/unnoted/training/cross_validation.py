"""K-fold cross-validation: every training document is scored by a model that never saw its labels."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import torch

from unnoted.calibration import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.models.model import RelationModel
from unnoted.training.calibrate import check_unseen, score_documents
from unnoted.training.fingerprint import fingerprint
from unnoted.training.ingredients import load_corpus, make_loss, model_of
from unnoted.training.optimisation import Optimisation
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings
from unnoted.training.trainer import Trainer
from unnoted.training.training_labels import TrainingLabels, training_labels

FOLDS = "folds"
"""The part of a run's folder that belongs to cross-validation."""

SCORES = "scores.npz"
"""The scores of all folds, in that folder; those of one are in `scores-0.npz` and so on."""

PARALLEL_FROM = 200
"""Documents from which folds are trained side by side unless told otherwise: a process takes seconds to start."""

Log = Callable[[str], None]


def cross_validate(
    settings: Settings,
    labels: TrainingLabels | None = None,
    log: Log = lambda line: None,
    *,
    resume: bool = False,
    jobs: int | None = None,
) -> OutOfFoldScores:
    """The out-of-fold scores of the training documents.

    What is finished is not repeated: the scores of each fold are kept in the run's folder.

    Args:
        settings: of a run; the models of the folds are trained as they say.
        labels: of the documents, if they were loaded already.
        log: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.
        jobs: folds that are trained at a time; by default as many as there are cores, each in a process of its
            own with its share of the cores, if the documents are worth it and there is no GPU.

    Raises:
        ValueError: there are fewer documents than folds, or the weights to start from saw their labels.
    """
    folder = settings.output / FOLDS
    if (folder / SCORES).is_file():
        return OutOfFoldScores.load(folder / SCORES)
    labels = labels or training_labels(settings, load_corpus(settings, settings.train))
    if settings.init_from is not None:  # a model that saw the labels would tell every fold
        check_unseen(settings.init_from, labels.corpus.documents, log)
    folds = k_fold(labels.corpus.documents, settings.folds, settings.seed)
    left = [number for number in range(settings.folds) if not _scores_file(settings, number).is_file()]
    jobs = min(_default_jobs(len(labels.corpus)) if jobs is None else jobs, len(left))
    if jobs > 1:
        _train_side_by_side(settings, labels, left, jobs, resume, log)
    parts = [_score_fold(settings, labels, folds, number, resume, log) for number in range(settings.folds)]
    scores = OutOfFoldScores.concatenate(parts)
    scores.save(folder / SCORES)
    return scores


def run_cross_validation(
    settings: Settings,
    log: Log = lambda line: None,
    *,
    jobs: int | None = None,
    repeats: int = 1,
    overwrite: bool = False,
) -> OutOfFoldScores:
    """Cross-validate in a run folder that has nothing else, maybe several times.

    Models of a part of the documents differ by seed, and their mean is better than each of them.

    Args:
        settings: `output` is the folder.
        log: is given lines for the user.
        jobs: as for `cross_validate`.
        repeats: how many times, with the seed of the settings and those that follow; margins are averaged.
        overwrite: remove what another run left in the folder.

    Raises:
        RunError: the folder holds another run.
    """
    seeds = range(settings.seed, settings.seed + repeats)
    folders = [settings.output if repeats == 1 else settings.output / f"seed-{seed}" for seed in seeds]
    parts = []
    for seed, path in zip(seeds, folders, strict=True):
        one, folder = settings.model_copy(update={"seed": seed, "output": path}), RunFolder(path)
        with folder.locked():
            run = fingerprint(one)
            if folder.taken and not overwrite:
                folder.check(run)
            folder.claim(run, overwrite)
            (path / FOLDS).mkdir(exist_ok=True)
            parts.append(cross_validate(one, log=log, resume=True, jobs=jobs))
    return OutOfFoldScores.mean(parts)


def k_fold(documents: Sequence[Document], folds: int, seed: int) -> list[list[Document]]:
    """The documents in random folds of like size; each document is in one of them.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> [len(fold) for fold in k_fold(list(generate_documents(5)), folds=2, seed=0)]
        [3, 2]
    """
    if len(documents) < folds:
        raise ValueError(f"folds: {folds} folds need as many documents or more; there are {len(documents)}")
    order = np.random.default_rng(seed).permutation(len(documents))
    return [[documents[index] for index in sorted(order[first::folds])] for first in range(folds)]


def train_without(
    labels: TrainingLabels,
    held_out: Sequence[Document],
    folder: Path | None = None,
    log: Log = lambda line: None,
    *,
    resume: bool = False,
) -> RelationModel:
    """A model trained on all documents but those of a fold.

    Args:
        labels: all documents, and the settings.
        held_out: the documents of the fold.
        folder: for checkpoints, if there are to be any.
        log: is given lines for the user.
        resume: continue from the last checkpoint.
    """
    settings, corpus = labels.settings, labels.corpus
    names = {document.id for document in held_out}
    rest = tuple(document for document in corpus if document.id not in names)
    train = Corpus(rest, corpus.relations, corpus.candidates)
    model = model_of(settings, corpus, lambda line: None)
    trainer = Trainer(
        model,
        make_loss(settings, labels.priors(train)),
        train,
        optimisation=Optimisation(**{name: getattr(settings, name) for name in Optimisation.model_fields}),
        folder=folder,
        typed_relations=settings.typed_relations,
    )
    trainer.train(resume=resume, tell=log)
    return model


def _scores_file(settings: Settings, number: int) -> Path:
    return settings.output / FOLDS / f"scores-{number}.npz"


def _score_fold(
    settings: Settings,
    labels: TrainingLabels,
    folds: Sequence[Sequence[Document]],
    number: int,
    resume: bool,
    log: Log,
) -> OutOfFoldScores:
    """The scores of one fold; trains its model unless they are there."""
    kept, held_out = _scores_file(settings, number), folds[number]
    if not kept.is_file():
        log(f"fold {number + 1} of {len(folds)}: {len(labels.corpus) - len(held_out):,} documents")
        model = train_without(labels, held_out, settings.output / FOLDS / str(number), log, resume=resume)
        score_documents(model, held_out).save(kept)
    return OutOfFoldScores.load(kept)


def _default_jobs(documents: int) -> int:
    if documents < PARALLEL_FROM or torch.cuda.is_available():
        return 1
    return _cores()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _train_side_by_side(
    settings: Settings, labels: TrainingLabels, numbers: Sequence[int], jobs: int, resume: bool, log: Log
) -> None:
    threads = max(1, _cores() // jobs)
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    shown = "TQDM_DISABLE" not in os.environ
    os.environ.setdefault("TQDM_DISABLE", "1")  # bars of several processes would write over each other
    try:
        with ProcessPoolExecutor(jobs, context) as pool:
            running = {
                pool.submit(_train_in_process, settings, labels, number, threads, resume): number
                for number in numbers
            }
            for done in as_completed(running):
                done.result()
                log(f"fold {running[done] + 1} of {settings.folds} is done")
    finally:
        if shown:
            del os.environ["TQDM_DISABLE"]


def _train_in_process(
    settings: Settings, labels: TrainingLabels, number: int, threads: int, resume: bool
) -> None:
    torch.set_num_threads(threads)
    folds = k_fold(labels.corpus.documents, settings.folds, settings.seed)
    _score_fold(settings, labels, folds, number, resume, lambda line: None)
