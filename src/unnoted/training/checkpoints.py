"""Checkpoints that can be trusted: one without its manifest, or whose files differ from it, is passed over."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.utils import short_repr

MANIFEST = "manifest.json"
"""The checksums of all files of a checkpoint; written last."""

STATE = "trainer_state.json"


class CheckpointError(ValueError):
    """A checkpoint that cannot be written or resumed from.

    Attributes:
        path: the checkpoint.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the checkpoint after a step is."""
    return folder / f"checkpoint-{step}"


def list_checkpoints(folder: Path, finished: bool = True) -> list[Path]:
    """The checkpoints in a folder, oldest first; those without a manifest only if they are asked for."""
    steps = sorted(
        int(path.name[11:]) for path in folder.glob("*") if re.fullmatch(r"checkpoint-\d+", path.name)
    )
    paths = [checkpoint_path(folder, step) for step in steps]
    return [path for path in paths if not finished or (path / MANIFEST).is_file()]


def write_manifest(checkpoint: Path) -> None:
    """Record the checksums of all files of a checkpoint, once they are on disk."""
    files = sorted(path for path in checkpoint.iterdir() if path.name != MANIFEST)
    for path in (*files, checkpoint):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    write_checksums(checkpoint, [path.name for path in files], MANIFEST)


def check_checkpoint(checkpoint: Path) -> None:
    """Refuse a checkpoint that is unfinished or damaged.

    Raises:
        CheckpointError: names the file and what is wrong with it.
    """
    if not (checkpoint / MANIFEST).is_file():
        raise CheckpointError(checkpoint, f"unfinished: it has no {MANIFEST}")
    try:
        check_checksums(checkpoint, ValueError, MANIFEST)
        state = read_json(checkpoint / STATE, ValueError)
    except ValueError as error:
        raise CheckpointError(checkpoint, f"damaged: {error}") from error
    step = state.get("global_step") if isinstance(state, dict) else None
    if checkpoint.name != f"checkpoint-{step}":
        raise CheckpointError(checkpoint, f"{STATE} is that of step {short_repr(step)}")


def find_checkpoint(
    folder: Path,
    check: Callable[[Path], None] = check_checkpoint,
    log: Callable[[str], None] = lambda line: None,
) -> Path | None:
    """The last checkpoint that can be resumed from; None if there is none at all.

    Args:
        folder: of the checkpoints.
        check: raises a `CheckpointError` for one that cannot be used.
        log: is given a line for it, and for each that is passed over.

    Raises:
        CheckpointError: there are finished checkpoints, and none of them can be used.
    """
    faults: list[CheckpointError] = []
    for path in reversed(list_checkpoints(folder, finished=False)):
        try:
            check(path)
        except CheckpointError as error:
            faults.append(error)
            continue
        for fault in faults:
            log(f"note: {fault}")
        log(f"continuing at {path.name}")
        return path
    for fault in faults:
        if (fault.path / MANIFEST).is_file():
            problem = f"{fault.problem}; no other checkpoint is left, so remove it to begin anew"
            raise CheckpointError(fault.path, problem)
    return None


def remove_others(folder: Path, last: Path | None) -> None:
    """Remove what an interrupted run left after its last good checkpoint: rotation would count it."""
    finished = list_checkpoints(folder)
    kept = finished[: finished.index(last) + 1] if last is not None else []
    for path in list_checkpoints(folder, finished=False):
        if path not in kept:
            shutil.rmtree(path)
