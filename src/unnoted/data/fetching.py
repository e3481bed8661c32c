"""Fetching the public data sets: resumed where a download stopped, verified before a file gets its name.

A file is streamed to `<name>.part` beside its final place. Only a part whose size and checksum are those of
the catalog is renamed, so a file under its final name is always whole. What goes wrong is a `FetchError`.
"""

import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple, TypeAlias

import requests
from urllib3.exceptions import HTTPError

from unnoted.data.catalog import Catalog, CatalogFile, FetchError
from unnoted.io import Limits, lock_output, variable
from unnoted.utils import short_repr

CHUNK = 1 << 16
PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP answers that may be another one a moment later."""


class _Interrupted(Exception):
    """The network failed in a way that another attempt may mend."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one run bears with a bad connection.

    Args:
        attempts: how often a file is asked for; each attempt continues where the last one stopped.
        pause: seconds before the second attempt; doubled before each further one.
        timeout: seconds of silence after which a connection counts as lost.
        deadline: seconds after which it gives up whatever still arrives; None is `Limits.fetch_seconds`.
    """

    attempts: int = 3
    pause: float = 1.0
    timeout: float = 30.0
    deadline: float | None = None

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts: found {self.attempts}, expected 1 or more")


DEFAULT_PATIENCE = Patience()

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a file's name, how many of its bytes are here, and how many it has (None if nobody says)."""


class Outcome(StrEnum):
    """How a file came to be there."""

    FETCHED = "fetched"
    VERIFIED = "already there and verified"


class FetchedFile(NamedTuple):
    """A file that is there and verified."""

    name: str
    path: Path
    size: int
    outcome: Outcome


def fetch(
    dataset: str,
    to: Path,
    catalog: Catalog | None = None,
    progress: Progress = lambda name, done, total: None,
    *,
    force: bool = False,
    patience: Patience = DEFAULT_PATIENCE,
) -> list[FetchedFile]:
    """Fetch every file of a data set into the folder `to`; files that are there and right are kept.

    Args:
        dataset: its name in the catalog.
        to: the folder; made if it is not there.
        catalog: where the files are; the shipped catalog if not given.
        progress: told about every piece that arrives.
        force: replace files that are there with other contents, instead of raising an error.
        patience: attempts, pauses and timeout.

    Returns:
        Every file of the data set, in the order of the catalog.

    Raises:
        FetchError: the data set is unknown, a file cannot be fetched, is not what it should be, or cannot be
            written. Files that were complete by then stay.

    Example:
        >>> fetch("docrd", Path("data"))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        unnoted.data.catalog.FetchError: no data set is named 'docrd', expected ... (nearest: 'docred')
    """
    chosen = (catalog or Catalog.read()).dataset(dataset)
    limits = Limits.current()
    seconds = limits.fetch_seconds if patience.deadline is None else patience.deadline
    deadline = _Deadline(seconds, time.monotonic() + seconds)
    downloads = [
        _Download(f"{dataset}: {name}", name, file, to / name, progress, patience, limits, deadline)
        for name, file in chosen.files.items()
    ]
    # All that is there is looked at first: a wrong file is not worth learning of after an hour's download.
    present = [download.is_present(force) for download in downloads]
    return [download.bring(there) for download, there in zip(downloads, present, strict=True)]


class _Deadline(NamedTuple):
    """When a run gives up: after so many seconds, which is when the clock shows `end`."""

    seconds: float
    end: float


@dataclass(frozen=True, slots=True)
class _Download:
    """One file on its way to its place; `label` begins every message about it."""

    label: str
    name: str
    file: CatalogFile
    target: Path
    progress: Progress
    patience: Patience
    limits: Limits
    deadline: _Deadline

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    @property
    def kept(self) -> int:
        """How many bytes earlier attempts have left; what is no such part is left alone."""
        try:
            found = self.part.lstat()
        except FileNotFoundError:
            return 0
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise FetchError(
                f"{self.label}: {self.part}: found a link or a special file, expected a partial download "
                "or nothing"
            )
        return found.st_size

    def is_present(self, force: bool) -> bool:
        """Whether the right file is there; another one in its place is an error unless `force`."""
        try:
            if not self.target.exists():
                return False
            if not self.target.is_file():
                raise FetchError(f"{self.label}: {self.target}: found a folder, expected a file or nothing")
            wrong = self.file.mismatch(self.target)
        except OSError as error:
            raise self._blocked(error, "read", "a readable file or nothing") from None
        if wrong and not force:
            raise FetchError(
                f"{self.label}: {self.target} is already there with other contents: {wrong}; "
                "it was left as it is (--force replaces it)"
            )
        return wrong is None

    def bring(self, present: bool) -> FetchedFile:
        """Fetch the file unless it is present, and say what was done."""
        if not present:
            try:
                with lock_output(self.target, overwrite=True):
                    self._fetch()
            except OSError as error:  # network errors are _Interrupted by now: this is the disk
                room = f"room for {self.file.size:,} bytes" if self.file.size else "room for the file"
                raise self._blocked(error, "write", f"a writable folder with {room}") from None
        outcome = Outcome.VERIFIED if present else Outcome.FETCHED
        return FetchedFile(self.name, self.target, self.target.stat().st_size, outcome)

    def _blocked(self, error: OSError, doing: str, expected: str) -> FetchError:
        found = error.strerror or str(error)
        return FetchError(f"{self.label}: cannot {doing} {self.target}: found {found!r}, expected {expected}")

    def _fetch(self) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(self.patience.attempts):
            try:
                self._continue()
                break
            except _Interrupted as interruption:
                if attempt + 1 == self.patience.attempts:
                    raise FetchError(f"{self.label}: {interruption}; {self._advice}") from None
            time.sleep(min(self.patience.pause * 2**attempt, self._left()))
        if wrong := self.file.mismatch(self.part):
            self.part.unlink()
            raise FetchError(
                f"{self.label}: the download from {self.file.url} is corrupted: {wrong}; "
                "it was removed, and the next run starts clean"
            )
        self.part.replace(self.target)

    @property
    def _advice(self) -> str:
        kept = f"{self.kept:,} bytes are kept, running the command again continues from there"
        return kept if self.kept else "nothing of it was fetched"

    def _left(self) -> float:
        """How many seconds are left; none is an error."""
        left = self.deadline.end - time.monotonic()
        if left <= 0:
            raise FetchError(
                f"{self.label}: found no end of the download from {self.file.url} after "
                f"{self.deadline.seconds:,g} seconds, expected the whole data set by then "
                f"({variable('fetch_seconds')}); {self._advice}"
            )
        return left

    @property
    def _largest(self) -> int:
        return self.limits.download if self.file.size is None else self.file.size

    def _continue(self) -> None:
        """One attempt: ask for what the part file lacks and append it."""
        if self.kept and self.file.mismatch(self.part) is None:
            return  # a run that was stopped between the last byte and the renaming
        if self.file.size is not None and self.kept >= self.file.size:
            self.part.unlink()
        # Bytes as they are stored: what is compressed for the way could not be continued.
        headers = {"User-Agent": "unnoted", "Accept-Encoding": "identity"}
        if self.kept:
            headers["Range"] = f"bytes={self.kept}-"
        url = self.file.url
        try:
            with self._answer(headers) as answer:
                self._receive(answer, self._accepted(answer))
        except requests.exceptions.SSLError as error:
            raise FetchError(f"{self.label}: no trusted connection to {url} ({_said(error)})") from None
        except requests.RequestException as error:
            why = f"cannot reach {url} ({_said(error)}): offline, or the server is down"
            raise _Interrupted(why) from None
        except HTTPError as error:
            raise _Interrupted(f"lost the connection to {url} ({_said(error)})") from None

    def _answer(self, headers: dict[str, str]) -> requests.Response:
        """The server's answer up to its body, which it may not take longer to begin than there is time."""
        results: SimpleQueue[requests.Response | Exception] = SimpleQueue()
        left = self._left()

        def ask() -> None:
            try:
                timeout = min(self.patience.timeout, left)
                results.put(requests.get(self.file.url, headers=headers, stream=True, timeout=timeout))
            except Exception as error:  # raised below, where somebody waits for it
                results.put(error)

        # A thread, because a timeout counts from the last byte: a server may send one every other second.
        Thread(target=ask, daemon=True).start()
        try:
            found = results.get(timeout=left)
        except Empty:
            self._left()
            raise
        if isinstance(found, Exception):
            raise found
        return found

    def _accepted(self, answer: requests.Response) -> int:
        """How many bytes of the part file an answer continues; 0 also if the server can only start over."""
        kept, status, url = self.kept, answer.status_code, self.file.url
        if status == requests.codes.ok:
            return 0
        if status == requests.codes.partial_content:
            found = answer.headers.get("Content-Range", "no range")
            if found.startswith(f"bytes {kept}-"):
                return kept
            self.part.unlink(missing_ok=True)
            raise _Interrupted(f"found {short_repr(found)}, expected bytes {kept}- of {url}")
        if status == requests.codes.requested_range_not_satisfiable and kept:
            self.part.unlink()  # it is as long as the server's file or longer, and is not that file
            raise _Interrupted(f"what was kept does not fit the file at {url} and was removed")
        refusal = f"found the answer {status} {answer.reason}, expected the file at {url}"
        raise _Interrupted(refusal) if status in PASSING_STATUSES else FetchError(f"{self.label}: {refusal}")

    def _receive(self, answer: requests.Response, done: int) -> None:
        """Append the answer's body to the first `done` bytes of the part file."""
        length = answer.headers.get("Content-Length", "")
        total = done + int(length) if re.fullmatch("[0-9]{1,18}", length) else self.file.size
        with os.fdopen(self._open_part(done), "ab") as sink:
            # Not `iter_content`, which would unpack what is served as gzip.
            while chunk := answer.raw.read1(CHUNK, decode_content=False):
                sink.write(chunk)
                done += len(chunk)
                self.progress(self.name, done, total)
                if done > self._largest:
                    break  # not this file, however much of it follows
                self._left()
            sink.flush()
            os.fsync(sink.fileno())
        if done > self._largest:
            self._refuse_excess()
        elif total is not None and done < total:
            short = f"found {done:,} bytes, expected {total:,}"
            raise _Interrupted(f"lost the connection to {self.file.url} ({short})")

    def _refuse_excess(self) -> None:
        """Refuse a body that did not end in time, where verification would not: the catalog has no size."""
        if self.file.size is None:
            self.part.unlink()
            raise FetchError(
                f"{self.label}: found more than {self._largest:,} bytes at {self.file.url}, "
                f"expected {self.limits.allowance('download')}; what was fetched was removed"
            )

    def _open_part(self, done: int) -> int:
        """Open the part file to append to its first `done` bytes; never what a link points to."""
        self.kept  # noqa: B018 - refuses what is no part file
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(self.part, flags, 0o666)
        if os.fstat(descriptor).st_size > done:
            os.ftruncate(descriptor, done)
        return descriptor


def _said(error: BaseException) -> str:
    """What the first cause of an error says, on one line."""
    while error.__context__ is not None:
        error = error.__context__
    return " ".join(str(error).split()) or type(error).__name__
