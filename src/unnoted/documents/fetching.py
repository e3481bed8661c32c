"""Fetching the public data sets: resumed where they stopped, verified before they get their name.

A file is streamed to `<name>.part` beside its final place. Only a part whose size and checksum are those of
the catalog is renamed, so a file under its final name is always whole. What goes wrong is a `FetchError`.
"""

import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from unnoted.common.errors import shown
from unnoted.documents.catalog import CHUNK, Catalog, CatalogFile, DatasetEntry, FetchError

PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP answers that may be another one a moment later."""


class _Interrupted(Exception):
    """The network failed in a way that another attempt may mend."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one run bears with a bad connection.

    Args:
        attempts: how often a file is asked for; each continues where the last one stopped.
        pause: seconds before the second attempt; doubled before each further one.
        timeout: seconds of silence after which a connection counts as lost.
    """

    attempts: int = 3
    pause: float = 1.0
    timeout: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts: found {self.attempts}, expected 1 or more")


DEFAULT_PATIENCE = Patience()

Progress: TypeAlias = Callable[[CatalogFile, int, int | None], None]
"""Called with a file, how many of its bytes are here, and how many it has (None if nobody says)."""


class Outcome(StrEnum):
    """How a file came to be there."""

    FETCHED = "fetched"
    VERIFIED = "already there and verified"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that is there and verified."""

    file: CatalogFile
    path: Path
    size: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What `fetch` did: every file of the data set, in the order of the catalog."""

    dataset: DatasetEntry
    files: tuple[FetchedFile, ...]

    def count(self, outcome: Outcome) -> int:
        """How many files came to be there in that way."""
        return sum(file.outcome is outcome for file in self.files)


def fetch(
    dataset: str,
    to: Path,
    catalog: Catalog | None = None,
    progress: Progress | None = None,
    *,
    force: bool = False,
    patience: Patience = DEFAULT_PATIENCE,
) -> FetchReport:
    """Fetch every file of a data set into the folder `to`; files that are there and right are kept.

    Args:
        dataset: its name in the catalog.
        to: the folder; made if it is not there.
        catalog: where the files are; the shipped catalog if not given.
        progress: told about every piece that arrives.
        force: replace files that are there with other contents, instead of raising an error.
        patience: attempts, pauses and timeout.

    Raises:
        FetchError: the data set is unknown, a file cannot be fetched, is not what it should be, or cannot be
            written. Files that were complete by then stay.

    Example:
        >>> fetch("docrd", Path("data"))  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        FetchError: no data set is named 'docrd'; the nearest is 'docred'
    """
    chosen = (catalog or Catalog.read()).dataset(dataset)
    items = [
        _Item(f"{chosen.name}: {file.name}", file, to / file.name, progress, patience)
        for file in chosen.files
    ]
    # All that is there is looked at first: a wrong file is not worth learning of after an hour's download.
    present = [item.is_present(force) for item in items]
    return FetchReport(chosen, tuple(item.bring(there) for item, there in zip(items, present, strict=True)))


@dataclass(frozen=True, slots=True)
class _Item:
    """One file on its way to its place; `label` begins every message about it."""

    label: str
    file: CatalogFile
    target: Path
    progress: Progress | None
    patience: Patience

    @property
    def part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

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
                self._fetch()
            except OSError as error:  # network errors are _Interrupted by now: this is the disk
                room = f"room for {self.file.size:,} bytes" if self.file.size else "room for the file"
                raise self._blocked(error, "write", f"a writable folder with {room}") from None
        outcome = Outcome.VERIFIED if present else Outcome.FETCHED
        return FetchedFile(self.file, self.target, self.target.stat().st_size, outcome)

    def _blocked(self, error: OSError, doing: str, expected: str) -> FetchError:
        found = error.strerror or str(error)
        return FetchError(f"{self.label}: cannot {doing} {self.target}: found {found!r}, expected {expected}")

    def _fetch(self) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self._download()
        if wrong := self.file.mismatch(self.part):
            self.part.unlink()
            raise FetchError(
                f"{self.label}: the download from {self.file.url} is corrupted: {wrong}; "
                "it was removed, and the next run starts clean"
            )
        self.part.replace(self.target)

    def _download(self) -> None:
        """Complete the part file, in as many attempts as patience allows."""
        for attempt in range(1, self.patience.attempts + 1):
            try:
                self._continue()
                return
            except _Interrupted as interruption:
                if attempt == self.patience.attempts:
                    raise FetchError(f"{self.label}: {interruption}; {self._advice()}") from None
            time.sleep(self.patience.pause * 2 ** (attempt - 1))

    def _advice(self) -> str:
        kept = self._kept()
        if kept:
            return f"{kept:,} bytes are kept, running the command again continues from there"
        return "nothing of it was fetched"

    def _kept(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _continue(self) -> None:
        """One attempt: ask for what the part file lacks and append it."""
        kept = self._kept()
        if kept and self.file.mismatch(self.part) is None:
            return  # a run that was stopped between the last byte and the renaming
        if self.file.size is not None and kept >= self.file.size:
            self.part.unlink()
            kept = 0
        with self._open(kept) as answer:
            if answer.status == http.client.PARTIAL_CONTENT:
                self._check_range(answer, kept)
                self._receive(answer, kept)
            elif answer.status == http.client.OK:  # also from a server that cannot continue: start over
                self._receive(answer, 0)
            else:
                raise self._refused(answer.status, answer.reason, kept)

    def _open(self, kept: int) -> http.client.HTTPResponse:
        """The server's answer, to all of the file or to what follows the `kept` bytes."""
        headers = {"User-Agent": "unnoted"} | ({"Range": f"bytes={kept}-"} if kept else {})
        request = urllib.request.Request(self.file.url, headers=headers)
        try:
            answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=self.patience.timeout)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refused(error.code, error.reason, kept) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from None
        return answer

    def _refused(self, status: int, reason: str, kept: int) -> Exception:
        if status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and kept:
            self.part.unlink()  # it is as long as the server's file or longer, and is not that file
            return _Interrupted(f"what was kept does not fit the file at {self.file.url} and was removed")
        refusal = f"found the answer {status} {reason}, expected the file at {self.file.url}"
        return _Interrupted(refusal) if status in PASSING_STATUSES else FetchError(f"{self.label}: {refusal}")

    def _unreachable(self, error: Exception) -> Exception:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            return FetchError(f"{self.label}: no trusted connection to {self.file.url} ({_said(reason)})")
        return _Interrupted(f"cannot reach {self.file.url} ({_said(reason)}): offline, or the server is down")

    def _check_range(self, answer: http.client.HTTPResponse, kept: int) -> None:
        found = answer.headers.get("Content-Range", "no range")
        if not found.startswith(f"bytes {kept}-"):
            self.part.unlink(missing_ok=True)
            raise _Interrupted(f"found {shown(found)}, expected bytes {kept}- of {self.file.url}")

    def _receive(self, answer: http.client.HTTPResponse, done: int) -> None:
        """Append the answer's body to the first `done` bytes of the part file."""
        total = self.file.size if answer.length is None else done + answer.length
        with self.part.open("ab" if done else "wb") as sink:
            while chunk := self._read(answer):
                sink.write(chunk)
                done += len(chunk)
                if self.progress:
                    self.progress(self.file, done, total)
                if self.file.size is not None and done > self.file.size:
                    return  # not this file, however much of it follows: verification will say so
            sink.flush()
            os.fsync(sink.fileno())
        # http.client returns a short body without complaint when it is read in pieces.
        if total is not None and done < total:
            raise _Interrupted(f"the connection closed early: found {done:,} bytes, expected {total:,}")

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        try:
            return answer.read(CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Interrupted(f"lost the connection to {self.file.url} ({_said(error)})") from None


def _said(reason: object) -> str:
    """What an error says, on one line."""
    return " ".join(str(reason).split()) or type(reason).__name__
