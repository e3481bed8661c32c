"""Folds side by side: each is trained in a process of its own, and all find their scores in one folder."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed

from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training.cross_fit import FOLDS, cross_fit, fit_fold
from unnoted.training.fingerprint import fingerprint
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import Settings


def out_of_fold(
    settings: Settings,
    tell: Callable[[str], None] = lambda line: None,
    *,
    jobs: int = 1,
    overwrite: bool = False,
) -> LabelledScores:
    """The out-of-fold scores of the training documents; what is finished in the folder is not repeated.

    Args:
        settings: of the models; `output` is the folder.
        tell: is given lines for the user.
        jobs: folds that are trained at a time, each on its share of the processors.
        overwrite: remove what another run left in the folder.

    Raises:
        RunError: the folder holds another run.
    """
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
