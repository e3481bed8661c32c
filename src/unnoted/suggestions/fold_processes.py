"""Folds side by side: each is trained in a process of its own, and all find their scores in one folder."""

import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.training.cross_fit import FOLDS, SCORES, cross_fit, fit_fold
from unnoted.training.fingerprint import fingerprint
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings


def out_of_fold(
    settings: Settings,
    tell: Callable[[str], None] = lambda line: None,
    *,
    jobs: int = 1,
    repeats: int = 1,
    overwrite: bool = False,
) -> OutOfFoldScores:
    """The out-of-fold scores of the training documents; what is finished in the folder is not repeated.

    Models of a part of the documents say different things for different seeds, and their mean says more
    than each of them.

    Args:
        settings: of the models; `output` is the folder.
        tell: is given lines for the user.
        jobs: folds that are trained at a time, each on its share of the processors.
        repeats: how many times all folds are made, with the seed of the settings and those that follow;
            margins are averaged.
        overwrite: remove what another run left in the folder.

    Raises:
        RunError: the folder holds another run.
    """
    if repeats == 1:
        return _once(settings, tell, jobs, overwrite)
    seeds = range(settings.seed, settings.seed + repeats)
    mean = mean_scores(
        _once(
            settings.model_copy(update={"seed": seed, "output": settings.output / f"seed-{seed}"}),
            tell, jobs, overwrite,
        )
        for seed in seeds
    )  # fmt: skip
    mean.save(settings.output / SCORES)
    return mean


def mean_scores(parts: Iterable[OutOfFoldScores]) -> OutOfFoldScores:
    """The same pairs scored several times, in any order of the documents: with the mean of their margins.

    Example:
        >>> one = np.zeros(1, np.int32)
        >>> def scored(margin):
        ...     return OutOfFoldScores(("r",), ("d",), one, one, one + 1, np.array([[margin]], np.float32),
        ...                           np.array([[False]]))
        >>> mean_scores([scored(1.0), scored(2.0)]).margin
        array([[1.5]], dtype=float32)
    """
    first, *others = parts
    order = _by_name(first)
    total = first.margin[order].astype(np.float64)
    for other in others:
        total += other.margin[_by_name(other)]
    margin = np.empty_like(first.margin)
    margin[order] = total / (1 + len(others))
    return replace(first, margin=margin)


def _by_name(scores: OutOfFoldScores) -> NDArray[np.int64]:
    """The pairs by document, head and tail."""
    names = np.argsort(np.argsort(np.array(scores.documents)))
    return np.lexsort((scores.tail, scores.head, names[scores.document]))


def _once(settings: Settings, tell: Callable[[str], None], jobs: int, overwrite: bool) -> OutOfFoldScores:
    folder = RunFolder(settings.output)
    with folder.locked():
        run = fingerprint(settings)
        if folder.taken and not overwrite:
            folder.check(run)
        folder.claim(run, overwrite)
        (settings.output / FOLDS).mkdir(exist_ok=True)
        if jobs > 1:
            _side_by_side(settings, tell, min(jobs, settings.folds))
        return cross_fit(settings, tell, resume=True)


def _side_by_side(settings: Settings, tell: Callable[[str], None], jobs: int) -> None:
    """Fit all folds; `cross_fit` then finds them finished."""
    threads = max(1, (os.cpu_count() or 1) // jobs)
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with ProcessPoolExecutor(jobs, context) as pool:
        running = {pool.submit(_fit, settings, number, threads): number for number in range(settings.folds)}
        for done in as_completed(running):
            done.result()
            tell(f"fold {running[done] + 1} of {settings.folds} is done")


def _fit(settings: Settings, number: int, threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    fit_fold(settings, number, resume=True)
