"""K-fold cross-validation: every training document is scored by a model that never saw its labels."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np
import torch

from unnoted.calibration import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.progress import SECONDS_A_FILE, Progress, read_progress, show_progress
from unnoted.training.builders import (
    TrainingData,
    build_loss,
    build_model,
    load_training_data,
    trainer_options,
)
from unnoted.training.calibrate import score_documents
from unnoted.training.config import TrainingConfig
from unnoted.training.processes import join_processes, on_main
from unnoted.training.run_directory import RunDirectory, fingerprint
from unnoted.training.seen_documents import check_unseen
from unnoted.training.trainer import Trainer
from unnoted.utils import count_cores, without_working_directory

FOLDS = "folds"
"""The part of a run's folder that belongs to cross-validation."""

SCORES = "scores.npz"
"""The scores of all folds, in that folder; those of one are in `scores-0.npz` and so on."""

PROGRESS = "progress-{}.txt"
"""There too, while a fold is trained in a process of its own: how far it is."""

PARALLEL_FROM = 200
"""Documents from which folds are trained side by side unless told otherwise: a process takes seconds to start."""

GRADIENT_COST = 3
"""Training on a document takes as long as scoring it so many times, or a little less."""

Log = Callable[[str], None]


def cross_validate(
    config: TrainingConfig,
    data: TrainingData | None = None,
    log: Log = lambda line: None,
    *,
    jobs: int | None = None,
) -> OutOfFoldScores:
    """The out-of-fold scores of the training documents.

    What is finished is not repeated: the scores of each fold are kept in the run's folder, and a fold that was
    interrupted continues from its last checkpoint.

    Args:
        config: of a run; the models of the folds are trained as it says.
        data: the documents, if they were loaded before.
        log: is given lines for the user.
        jobs: folds that are trained at a time; by default as many as there are cores, each in a process of its
            own with its share of the cores, if the documents are worth it and there is no GPU.

    Raises:
        ValueError: there are fewer documents than folds, or the weights to start from saw their labels.
    """
    finished = config.output / FOLDS / SCORES
    if on_main(finished.is_file):
        return OutOfFoldScores.load(finished)
    data = data or load_training_data(config)
    if config.model.init_from is not None:  # a model that saw the labels would tell every fold
        check_unseen(config.model.init_from, data.corpus.documents, log)
    numbers = range(count_folds(config))
    left = [number for number in numbers if not _scores_file(config, number).is_file()]
    jobs = min(jobs or default_jobs(len(data.corpus)), len(left))
    with show_progress(len(numbers), "cross-validation") as progress:
        progress.skip(len(numbers) - len(left))
        if jobs > 1:
            _score_side_by_side(config, data, left, jobs, progress, log)
        parts = []
        for number in numbers:
            with progress.part(number in left and jobs <= 1):
                parts.append(_score_fold(config, data, number, log))
    scores = OutOfFoldScores.concatenate(parts)
    on_main(lambda: scores.save(finished))
    return scores


def default_jobs(documents: int) -> int:
    """How many folds are trained at a time."""
    alone = (
        documents >= PARALLEL_FROM and not torch.cuda.is_available() and join_processes().num_processes == 1
    )
    return count_cores() if alone else 1


def expected_costs(config: TrainingConfig, jobs: int = 1) -> tuple[float, float]:
    """How long folds, if there are any, and a training take, in the time that scoring all documents takes.

    Args:
        config: of the run.
        jobs: folds that are trained at a time.
    """
    training, folds = GRADIENT_COST * config.optimizer.epochs, config.calibration.folds
    if folds is None:
        return 0, training
    return ((folds - 1) * training + 1) / min(jobs, folds), training


def run_cross_validation(
    config: TrainingConfig,
    log: Log = lambda line: None,
    *,
    jobs: int | None = None,
    repeats: int = 1,
    overwrite: bool = False,
) -> OutOfFoldScores:
    """Cross-validate in a run folder that has nothing else, maybe several times.

    Models of a part of the documents differ by seed, and their mean is better than each of them.

    Args:
        config: `output` is the folder.
        log: is given lines for the user.
        jobs: as for `cross_validate`.
        repeats: how many times, with the seed of the configuration and those that follow; margins are averaged.
        overwrite: remove what another run left in the folder.

    Raises:
        RunError: the folder holds another run.
    """
    parts = []
    for seed in range(config.seed, config.seed + repeats):
        path = config.output if repeats == 1 else config.output / f"seed-{seed}"
        one, folder = config.model_copy(update={"seed": seed, "output": path}), RunDirectory(path)
        with folder.lock():
            run = fingerprint(one)
            if folder.exists and not overwrite:
                folder.check(run)
            folder.acquire(run, overwrite)
            (path / FOLDS).mkdir(exist_ok=True)
            parts.append(cross_validate(one, log=log, jobs=jobs))
    return OutOfFoldScores.mean(parts)


def count_folds(config: TrainingConfig) -> int:
    """How many folds there are; two where the configuration asks for no calibration."""
    return config.calibration.folds or 2


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


def _scores_file(config: TrainingConfig, number: int) -> Path:
    return config.output / FOLDS / f"scores-{number}.npz"


def _score_fold(config: TrainingConfig, data: TrainingData, number: int, log: Log) -> OutOfFoldScores:
    """The scores of one fold, by a model of the others; it is trained unless they are there."""
    kept = _scores_file(config, number)
    if not on_main(kept.is_file):
        corpus, folds = data.corpus, count_folds(config)
        held_out = k_fold(corpus.documents, folds, config.seed)[number]
        names = {document.id for document in held_out}
        rest = tuple(document for document in corpus if document.id not in names)
        log(f"fold {number + 1} of {folds}: {len(rest):,} documents")
        train = Corpus(rest, corpus.relations, corpus.candidates)
        model, loss = build_model(config, corpus), build_loss(config, data.priors(train))
        trainer = Trainer(
            model, loss, train, output=config.output / FOLDS / str(number), **trainer_options(config)
        )
        cost = (folds - 1) * GRADIENT_COST * config.optimizer.epochs
        with show_progress(cost + 1, "cross-validation") as progress:
            with progress.part(cost):
                trainer.train(resume=True, log=log)
            with progress.part(1):
                on_main(lambda: score_documents(model, held_out).save(kept))
    return OutOfFoldScores.load(kept)


def _score_side_by_side(
    config: TrainingConfig,
    data: TrainingData,
    numbers: Sequence[int],
    jobs: int,
    progress: Progress,
    log: Log,
) -> None:
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    threads, before = max(1, count_cores() // jobs), count_folds(config) - len(numbers)
    pool = ProcessPoolExecutor(jobs, context, torch.set_num_threads, (threads,))
    files = {number: config.output / FOLDS / PROGRESS.format(number) for number in numbers}
    try:
        with without_working_directory(), pool:
            running = {pool.submit(_score_fold_apart, config, data, number): number for number in numbers}
            left = set(running)
            while left:
                done, left = wait(left, SECONDS_A_FILE, FIRST_COMPLETED)
                for each in done:
                    each.result()
                    log(f"fold {running[each] + 1} of {count_folds(config)} is done")
                shares = [read_progress(files[running[each]]) for each in left]
                # Before all have begun, the pace is another.
                report = progress.report if all(shares) else progress.skip
                report(before + len(running) - len(left) + sum(shares))
    finally:
        for file in files.values():
            file.unlink(missing_ok=True)


def _score_fold_apart(config: TrainingConfig, data: TrainingData, number: int) -> None:
    """Score a fold in a process of its own, which shows and logs nothing."""
    file = config.output / FOLDS / PROGRESS.format(number)
    with show_progress(1, "fold", shown=False, file=file) as progress, progress.part(1):
        _score_fold(config, data, number, lambda line: None)
