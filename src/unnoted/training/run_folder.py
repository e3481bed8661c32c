"""The folder of a run: whose it is, whether it may be used, and what the run came to."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unnoted.io import hold_lock, is_held, open_output, write_json
from unnoted.training.fingerprint import Fingerprint, RunError
from unnoted.training.record import Record
from unnoted.training.settings import Settings

RUN = "run.json"
"""Written first: what the run is, and the content of its data."""

RECORD = "record.json"
"""Written after the training, and again as each set of documents is scored."""

LOCK = ".lock"
LOG = "log.txt"
"""What the processes of a grid's run print."""

SECONDS = "seconds.txt"


class Busy(RunError):
    """Another process is at this run."""


class RunFolder:
    """The output folder of a run.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def taken(self) -> bool:
        """Whether the folder holds a run."""
        return (self.path / RUN).is_file()

    @property
    def busy(self) -> bool:
        """Whether a process is at the run; only a look, which may be outdated at once."""
        return is_held(self.path / LOCK)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; a process that is killed lets go."""
        self._refuse_other_files()
        self.path.mkdir(parents=True, exist_ok=True)
        with hold_lock(self.path / LOCK, Busy(f"{self.path}: found a training that is running here")):
            yield

    def _refuse_other_files(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path}: found a file, expected a folder or nothing")
        others = [] if self.taken or not self.path.exists() else self.path.iterdir()
        for entry in others:
            if entry.name not in (LOCK, LOG):
                raise RunError(
                    f"{self.path}: found {entry.name!r} but no run, expected an empty folder or a new one"
                )

    def check(self, wanted: Fingerprint) -> None:
        """Refuse another run than the one that is here, wherever its files are now.

        Raises:
            RunError: names the settings, or the files, that are not what the run began with.
        """
        began = self._began()
        if differing := wanted.settings_unlike(began):
            raise RunError(
                f"{self.path}: found another run ({'; '.join(differing)}), expected the same settings; "
                "--overwrite removes it"
            )
        for file in wanted.files_unlike(began):
            raise RunError(
                f"{file}: found other content than this run began with, expected the same; "
                f"restore the file, or begin anew with --overwrite ({self.path})"
            )

    def _began(self) -> dict[str, Any]:
        """The values of the run that was begun here."""
        try:
            values: dict[str, Any] = json.loads((self.path / RUN).read_text("utf-8"))["values"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RunError(
                f"{self.path / RUN}: found no readable description of a run (damaged, or of another "
                "version), expected one to compare with; --overwrite removes the run"
            ) from None
        return values

    def claim(self, run: Fingerprint, overwrite: bool = False) -> None:
        """Mark the folder as this run's; to overwrite, all that is in it goes first.

        Raises:
            RunError: what would go is read by the run.
        """
        if self.taken and overwrite:
            place = self.path.resolve()
            for path in (path for paths in run.files.values() for path in paths):
                if path.resolve().is_relative_to(place) or place.is_relative_to(path.resolve()):
                    raise RunError(
                        f"{path}: found in the folder that --overwrite would empty ({self.path}), expected "
                        "what is read elsewhere"
                    )
            self._clear()
        if not self.taken:
            files = {key: [str(path) for path in paths] for key, paths in run.files.items()}
            write_json(self.path / RUN, {"address": run.address, "values": dict(run.values), "files": files})

    def _clear(self) -> None:
        """Remove all but the lock; the mark that a run is here goes last."""
        entries = [entry for entry in self.path.iterdir() if entry.name not in (LOCK, LOG, RUN)]
        for entry in [*entries, self.path / RUN]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def place(self, staged: Path, record: Record) -> None:
        """Move the files of a trained model here, and then say that the training is finished."""
        for file in sorted(staged.iterdir()):
            file.replace(self.path / file.name)
        staged.rmdir()
        record.write(self.path / RECORD)

    def record(self, tell: Callable[[str], None] = lambda line: None) -> Record | None:
        """What the run came to; None if it is not trained, or its record is damaged."""
        try:
            return Record.read(self.path / RECORD)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            tell(f"{self.path / RECORD}: found a damaged record ({reason}); it is made again")
            return None

    def finished(self, settings: Settings, tell: Callable[[str], None] = lambda line: None) -> Record | None:
        """The record of the run, if all sets of the settings are scored."""
        record = self.record(tell)
        return record if record is not None and record.scored.keys() == settings.test.keys() else None

    @contextmanager
    def timed(self, since: float) -> Iterator[Callable[[], float]]:
        """Seconds of all sessions, also of those that were killed.

        Args:
            since: when this session began, by `time.monotonic`.
        """
        path, over = self.path / SECONDS, threading.Event()
        try:
            earlier = float(path.read_text("utf-8")) if path.is_file() else 0.0
        except ValueError as error:
            raise RunError(
                f"{path}: found no number ({error}), expected the seconds of the run so far; remove it "
                "to count from now on"
            ) from None

        def note() -> float:
            seconds = earlier + time.monotonic() - since
            with open_output(path) as stream:
                stream.write(str(seconds))
            return seconds

        def note_now_and_then() -> None:
            while not over.wait(10):
                note()

        noting = threading.Thread(target=note_now_and_then, daemon=True)
        noting.start()
        try:
            yield note
        finally:
            over.set()
            noting.join()
            note()
