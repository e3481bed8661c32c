"""Time that a piece of work took over all its sessions, those that were killed included."""

import threading
import time
from pathlib import Path
from types import TracebackType

from unnoted.common.files import write_text

BETWEEN = 10.0
"""Seconds between two notes of the time: what a kill can lose."""


class Stopwatch:
    """Adds the time of its `with` block to what a file has noted of earlier ones.

    Args:
        path: of the file.
        between: seconds between two notes.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "seconds.txt"
        >>> _ = path.write_text("60.0")
        >>> with Stopwatch(path) as watch:
        ...     pass
        >>> 60 <= watch.seconds < 61, path.read_text() == str(watch.seconds)
        (True, True)
    """

    def __init__(self, path: Path, between: float = BETWEEN) -> None:
        self.path = path
        self.between = between
        self.seconds = 0.0
        self._over = threading.Event()

    def __enter__(self) -> "Stopwatch":
        self._earlier = self._noted()
        self._start = time.monotonic()
        self._noting = threading.Thread(target=self._note_now_and_then, daemon=True)
        self._noting.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._noting.join()
        self._note()

    def _noted(self) -> float:
        try:
            return float(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return 0.0

    def _note_now_and_then(self) -> None:
        while not self._over.wait(self.between):
            self._note()

    def _note(self) -> None:
        self.seconds = self._earlier + time.monotonic() - self._start
        with write_text(self.path) as stream:
            stream.write(str(self.seconds))
