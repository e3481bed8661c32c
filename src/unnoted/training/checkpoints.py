"""Folders that are there whole or not at all, whatever stops the writing: a kill, a full disk."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError

from safetensors import SafetensorError

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.utils import one_line, short_repr

KEPT = 2
"""How many checkpoints are kept: the last one, and one before it should the disk have damaged that."""

STATE = "trainer_state.json"
"""Where transformers keeps how far a training is; written last, so that no checkpoint lacks it."""

STATE_FILES = ("model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state*.pth", STATE)
"""What a checkpoint must have: without one of them the stock trainer would continue from another state."""

REMEDY = "remove this checkpoint to resume from the one before it, or to begin anew"

_NAME = re.compile(r"checkpoint-(\d+)")
_UNFINISHED = ".unfinished-"


class CheckpointError(ValueError):
    """A checkpoint that cannot be written or read; says which, and what is left."""


def checkpoint_folder(folder: Path, step: int) -> Path:
    """Where the checkpoint after a step is."""
    return folder / f"checkpoint-{step}"


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints in a folder, oldest first.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for step in (20, 100):
        ...         with whole_folder(checkpoint_folder(Path(folder), step)) as unfinished:
        ...             _ = (unfinished / "state.json").write_text("{}")
        ...     [path.name for path in checkpoints(Path(folder))]
        ['checkpoint-20', 'checkpoint-100']
    """
    if not folder.is_dir():
        return []
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to be filled, which gets its name when it is full and on the disk."""
    unfinished = path.parent / f"{_UNFINISHED}{path.name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        yield unfinished
        for file in sorted(unfinished.rglob("*")):
            # Some libraries write files that only their owner can read, whatever the umask.
            file.chmod(file.stat().st_mode | (unfinished.stat().st_mode & 0o444))
            synchronise(file)
        synchronise(unfinished)
        if path.exists():
            remove_folder(path)
        unfinished.rename(path)
        synchronise(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def synchronise(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder; one that is half removed no longer has its name."""
    going = path.parent / f"{_UNFINISHED}{path.name}-removed"
    shutil.rmtree(going, ignore_errors=True)
    path.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def tidy(folder: Path, kept: int = KEPT) -> None:
    """Remove all but the last checkpoints, and what interrupted writing left behind."""
    for path in checkpoints(folder)[:-kept]:
        remove_folder(path)
    for path in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(path, ignore_errors=True)


def note_files(checkpoint: Path) -> None:
    """Note the checksums of all files of a checkpoint that is about to be whole."""
    write_checksums(checkpoint, [path.name for path in checkpoint.iterdir()])


def check_files(checkpoint: Path) -> None:
    """Refuse a checkpoint that lacks a file, or whose files are not those that were written.

    Raises:
        CheckpointError: names the file, what was found and what was expected.
    """
    for name in STATE_FILES:
        if not any(checkpoint.glob(name)):
            raise CheckpointError(f"{checkpoint}: found no {name}; {REMEDY}")
    try:
        check_checksums(checkpoint, CheckpointError)
        state = read_json(checkpoint / STATE, CheckpointError)
    except CheckpointError as error:
        raise CheckpointError(f"{error}; {REMEDY}") from error
    step = state.get("global_step") if isinstance(state, dict) else None
    if checkpoint.name != f"checkpoint-{step}":
        raise CheckpointError(
            f"{checkpoint / STATE}: global_step: found {short_repr(step)}, expected that of {checkpoint.name}; "
            f"{REMEDY}"
        )


def last_good(
    folder: Path, check: Callable[[Path], None], tell: Callable[[str], None] = lambda line: None
) -> Path | None:
    """The last checkpoint that can be continued from; None if there is none at all.

    Args:
        folder: of the checkpoints.
        check: refuses a checkpoint by a `CheckpointError`.
        tell: is given a line for each that is passed over.

    Raises:
        CheckpointError: if there are some, and none of them is good; says what is wrong with the last.
    """
    found = checkpoints(folder)
    faults = []
    for path in reversed(found):
        try:
            check(path)
        except CheckpointError as error:
            faults.append(error)
            continue
        for fault in faults:
            tell(f"note: {str(fault).removesuffix(f'; {REMEDY}')}; continuing from {path.name} instead")
        return path
    if faults:
        raise faults[0]
    return None


@contextmanager
def readable(checkpoint: Path) -> Iterator[None]:
    """Name the checkpoint that cannot be read."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, UnpicklingError, SafetensorError) as error:
        raise CheckpointError(
            f"{checkpoint}: found damaged files or those of another model ({one_line(error)}); {REMEDY}"
        ) from error
