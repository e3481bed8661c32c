"""Checkpoints that can be trusted: one without its manifest, or whose files differ from it, is passed over."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.utils import short_repr

MANIFEST = "manifest.json"
"""The checksums of all files of a checkpoint; written last."""

STATE = "trainer_state.json"

_NAME = re.compile(r"checkpoint-(\d+)")


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


def list_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder that have a manifest, oldest first."""
    return [path for path in _all_checkpoints(folder) if (path / MANIFEST).is_file()]


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
        log: is given a line for each that is passed over.

    Raises:
        CheckpointError: there are finished checkpoints, and none of them can be used.
    """
    faults: list[CheckpointError] = []
    for path in reversed(_all_checkpoints(folder)):
        try:
            check(path)
        except CheckpointError as error:
            faults.append(error)
            continue
        for fault in faults:
            log(f"note: {fault}; continuing from {path.name} instead")
        return path
    finished = [fault for fault in faults if (fault.path / MANIFEST).is_file()]
    if finished:
        raise CheckpointError(
            finished[0].path,
            f"{finished[0].problem}; no other checkpoint is left, so remove it to begin anew",
        )
    return None


def remove_others(folder: Path, last: Path | None) -> None:
    """Remove what an interrupted run left after its last good checkpoint: rotation would count it."""
    kept = (
        set() if last is None else {path for path in list_checkpoints(folder) if _step(path) <= _step(last)}
    )
    for path in _all_checkpoints(folder):
        if path not in kept:
            shutil.rmtree(path)


@contextmanager
def staged_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which replaces `path` when it is full; nothing is left of it if that fails."""
    staged = path.with_name(f"{path.name}.unfinished")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        yield staged
        for file in staged.iterdir():  # some libraries write files that only their owner can read
            file.chmod(file.stat().st_mode | (staged.stat().st_mode & 0o444))
        shutil.rmtree(path, ignore_errors=True)
        staged.rename(path)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _all_checkpoints(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), key=_step)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("checkpoint-"))
