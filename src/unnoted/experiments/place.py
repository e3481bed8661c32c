"""The folder of one run in a grid: where everything of it is, and whose it is at the moment."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unnoted.common.files import write_json, write_text
from unnoted.common.locks import held, is_held
from unnoted.experiments.runs import Run
from unnoted.training.record import Failure, Record


class Busy(RuntimeError):
    """Another process is at this run."""


class Place:
    """The folder of one run.

    Args:
        folder: of the grid.
        address: of the run.

    Attributes:
        path: the run's folder.
        specification: the run as JSON, for the process that performs it.
        model: the folder that is trained into; afterwards a model.
        log: what the run's processes printed.
    """

    def __init__(self, folder: Path, address: str) -> None:
        self.address = address
        self.path = folder / address
        self.specification = self.path / "run.json"
        self.model = self.path / "model"
        self.log = self.path / "log.txt"
        self.seconds = self.path / "seconds.txt"
        self._record = self.path / "record.json"
        self._failed = self.path / "failed.txt"
        self._lock = self.path / ".lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; a process that is killed lets go.

        Raises:
            Busy: another process is at this run.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with held(self._lock, Busy(f"{self.path}: found another process at this run")):
            yield

    @property
    def busy(self) -> bool:
        """Whether a process is at this run; only a look, which may be outdated at once."""
        return is_held(self._lock)

    def specify(self, run: Run) -> Path:
        """Write what is to be done; its file."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.specification, run.to_json())
        return self.specification

    def record(self, tell: Callable[[str], None] = lambda line: None) -> Record | None:
        """The record of the finished run; None if there is none, or a damaged one."""
        try:
            record = Record.from_json(json.loads(self._record.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            tell(
                f"{self._record}: found a damaged record ({type(error).__name__}: {error}); it is made again"
            )
            return None
        if record.address != self.address:
            tell(f"{self._record}: found the record of {record.address}; it is made again")
            return None
        return record

    def finish(self, record: Record) -> None:
        """Write the record: from now on the run is finished."""
        with write_text(self._record) as stream:
            json.dump(record.to_json(), stream, ensure_ascii=False)

    def fail(self, reason: str, details: str) -> None:
        """Write why the run failed; the first line is the reason."""
        with write_text(self._failed) as stream:
            stream.write(f"{reason}\n\n{details}")

    def forget_failure(self) -> None:
        """The run is tried again."""
        self._failed.unlink(missing_ok=True)

    def failure(self) -> Failure | None:
        """Why the run failed the last time; None if it did not."""
        try:
            return Failure(self.address, self._failed.read_text("utf-8").split("\n", 1)[0])
        except FileNotFoundError:
            return None
