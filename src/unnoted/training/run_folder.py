"""The folder of a run: whose it is, from which data it came, and whether it is finished."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unnoted.common.errors import shown
from unnoted.common.files import write_json
from unnoted.common.locks import held
from unnoted.training.settings import Settings

RUN = "run.json"
"""Written first: settings and data of the run."""

SUMMARY = "training.json"
"""Written last: what the training came to. Where it is, the run is finished."""

LOCK = ".lock"

FREE = frozenset({"output", "checkpoint_steps", "log_steps"})
"""Settings that change nothing about the weights: a resumed run may have other ones."""


class RunError(ValueError):
    """A folder that cannot be used for this run; says what it holds and what can be done."""


class RunFolder:
    """The output folder of a run.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return (self.path / SUMMARY).is_file()

    @property
    def taken(self) -> bool:
        """Whether the folder holds a run."""
        return (self.path / RUN).is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; a process that is killed lets go."""
        self._refuse_other_files()
        self.path.mkdir(parents=True, exist_ok=True)
        with held(self.path / LOCK, RunError(f"{self.path}: found a training that is running here")):
            yield

    def _refuse_other_files(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path}: found a file, expected a folder or nothing")
        others = [] if self.taken or not self.path.exists() else self.path.iterdir()
        for entry in others:
            if entry.name != LOCK:
                raise RunError(
                    f"{self.path}: found {entry.name!r} but no run, expected an empty folder or a new one"
                )

    def admit(self, run: dict[str, Any], resume: bool = False, overwrite: bool = False) -> bool:
        """Whether there is anything left to do for a run, if the folder may be used for it.

        Args:
            run: what `description` gives.
            resume: go on with the run that the folder holds, if it is this one.
            overwrite: `claim` may remove the run that the folder holds.

        Raises:
            RunError: if the folder holds another run, or this one's data have changed.
        """
        if resume and overwrite:
            raise RunError("found both resume and overwrite, expected one of them")
        if overwrite or not self.taken:
            return True
        self._check(run)
        if not (self.finished or resume):
            raise RunError(
                f"{self.path}: found this run, unfinished; --resume goes on, --overwrite begins anew"
            )
        return not self.finished

    def claim(self, run: dict[str, Any], overwrite: bool = False) -> None:
        """Mark the folder as this run's; to overwrite, all that is in it goes first."""
        if self.taken and overwrite:
            self._clear()
        if not self.taken:
            write_json(self.path / RUN, run)

    def _check(self, run: dict[str, Any]) -> None:
        """Refuse another run than the one that is here."""
        held = json.loads((self.path / RUN).read_text("utf-8"))
        began, wanted = _flat(held["settings"]), _flat(run["settings"])
        differing = [
            f"{key} {shown(began.get(key))}, not {shown(wanted.get(key))}"
            for key in sorted(began.keys() | wanted.keys())
            if not _is_free(key, began, wanted) and _value(began, key) != _value(wanted, key)
        ]
        if differing:
            raise RunError(
                f"{self.path}: found another run ({'; '.join(differing)}), expected the same settings; "
                "--overwrite removes it"
            )
        for file, fingerprint in run["data"].items():
            if held["data"].get(file) != fingerprint:
                raise RunError(
                    f"{file}: found other content than this run began with, expected the same; "
                    f"restore the file, or begin anew with --overwrite ({self.path})"
                )

    def _clear(self) -> None:
        """Remove all but the lock; the mark that a run is here goes last."""
        entries = [entry for entry in self.path.iterdir() if entry.name not in (LOCK, RUN)]
        for entry in [*entries, self.path / RUN]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def place(self, staged: Path, summary: dict[str, Any]) -> None:
        """Move the files of a folder here, and then say that the run is finished."""
        for file in sorted(staged.iterdir()):
            file.replace(self.path / file.name)
        staged.rmdir()
        write_json(self.path / SUMMARY, summary)

    def summary(self) -> dict[str, Any]:
        """What the finished training came to."""
        content: dict[str, Any] = json.loads((self.path / SUMMARY).read_text("utf-8"))
        return content


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by key; those of a mapping within them by `mapping.key`.

    Example:
        >>> _flat({"epochs": 3, "distillation": {"epochs": 2}})
        {'epochs': 3, 'distillation.epochs': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        inner = _flat(value) if isinstance(value, Mapping) else None
        flat |= {key: value} if inner is None else {f"{key}.{name}": inner[name] for name in inner}
    return flat


def _is_free(key: str, began: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a setting need not be the same: by what it is, or as part of a mapping that one side lacks.

    That one side lacks it shows in other keys, and more shortly.
    """
    mapping, _, name = key.rpartition(".")
    return name in FREE or bool(mapping and not (key in began and key in wanted))


def _value(flat: Mapping[str, Any], key: str) -> object:
    """A setting; one that a run from before it existed does not have is what it is by default."""
    known = Settings.model_fields.get(key)
    return flat.get(key, known.default if known is not None and not known.is_required() else None)


def description(settings: Settings) -> dict[str, Any]:
    """What makes a run this run and no other: its settings, and the content of its data."""
    return {"settings": settings.to_json(), "data": fingerprints(settings.data_files)}


def fingerprints(files: Sequence[Path]) -> dict[str, str]:
    """The SHA-256 of each file's content."""
    found = {}
    for file in files:
        try:
            with file.open("rb") as stream:
                found[str(file)] = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise RunError(f"{file}: found no readable file ({error.strerror})") from None
    return found
