"""Results that outlive an interruption: a line for each document that is done.

A first line says that the file is of this kind and what its results were made from; every other line is a
result and its checksum. The file lies beside the result under the name `RESULT.partial` until everything is
done. A program that is killed leaves at most its last line cut, which is dropped when the work continues.
"""

import errno
import fcntl
import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from unnoted.data.document import Document
from unnoted.inference.facts import Extraction
from unnoted.utils import short_repr, shorten, strip_control

KIND, VERSION = "partial results of unnoted", 3
MARK = f'{{"{KIND}": '.encode()
"""What such a file begins with: one that begins otherwise is a user's own."""


class PartialResults:
    """The results so far, open for more and locked; used in a `with` statement.

    Args:
        path: the file; made if it is not there. A link is not followed.
        made_from: what the results depend on, as JSON values. A file made from anything else is refused.

    Raises:
        ValueError: the file is not of this kind, its results were made from something else, it is damaged, or
            another process has it.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, made_from: Mapping[str, Any]) -> None:
        self.path = path
        self._made_from = json.loads(json.dumps(made_from))
        self._stream = os.fdopen(self._open(), "r+b")
        try:
            self._refuse_others()
            self._start = self._check_first()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> "PartialResults":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stream.close()
        except OSError:  # what could not be written is tried once more, and that it could not has been said
            if kind is None:
                raise

    def pass_over(self, documents: Iterator[Document], chunk: int = 1) -> int:
        """Take the documents that are done from a stream; afterwards it stands at the first that is not.

        Results after the last whole chunk are dropped. They depend, in their last digits, on the documents
        that are computed with them, which are the same only if the whole chunk is done again.

        Args:
            documents: all of them.
            chunk: how many are computed together.

        Returns:
            How many are done.

        Raises:
            ValueError: a line is damaged or belongs to another document than the stream's.
        """
        self._stream.seek(self._start)
        complete = sum(line.endswith(b"\n") for line in self._stream)
        done = complete - complete % chunk
        self._stream.seek(self._start)
        for number in range(2, done + 2):
            found = self._result(self._stream.readline(), number).get("id")
            document = next(documents, None)
            if document is None or document.id != found:
                expected = "no more documents" if document is None else f"document {document.id!r}"
                raise ValueError(f"{self.path}: line {number}: found document {found!r}, expected {expected}")
        self._stream.truncate()
        return done

    def append(self, extraction: Extraction) -> None:
        """Add one document's result; on disk, as far as a killed program is concerned, on return."""
        result = json.dumps(extraction.to_json(), ensure_ascii=False)
        self._write(f"{result}\t{zlib.crc32(result.encode()):08x}")

    def records(self) -> Iterator[dict[str, Any]]:
        """All results, as `Extraction.to_json` gives them."""
        self._stream.seek(self._start)
        for number, line in enumerate(self._stream, start=2):
            yield self._result(line, number)

    def remove(self) -> None:
        """Remove the file: its results are in a safe place."""
        self.path.unlink()

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(self.path, flags, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise self._foreign("a link") from None
            raise OSError(error.errno, f"cannot write here: {error.strerror}", str(self.path)) from None
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(descriptor)
            raise self._foreign("no regular file with one name")
        return descriptor

    def _refuse_others(self) -> None:
        """Lock the file, and see that it still is the one of that name: a process at its end removes it."""
        descriptor = self._stream.fileno()
        if not _locked(descriptor) or not os.fstat(descriptor).st_nlink:
            raise ValueError(f"{self.path}: another process is writing it")

    def _write(self, line: str) -> None:
        self._stream.seek(0, os.SEEK_END)
        try:
            self._stream.write(line.encode() + b"\n")
            self._stream.flush()
        except OSError as error:
            raise OSError(error.errno, f"not written: {error.strerror}", str(self.path)) from None

    def _check_first(self) -> int:
        """Where the results start, after a first line that is as it should be; written if it is not there."""
        first = self._stream.readline()
        if not (first.startswith(MARK) or MARK.startswith(first)):
            raise self._foreign(f"{first[:40]!r} in line 1")
        if not first.endswith(b"\n"):  # nothing, or a first line that was cut
            self._stream.truncate(0)
            self._write(json.dumps({KIND: VERSION, **self._made_from}))
            return self._stream.tell()
        found, expected = self._parsed(first, 1), {KIND: VERSION, **self._made_from}
        for name in sorted(found.keys() | expected.keys()):
            if found.get(name) != expected.get(name):
                raise ValueError(
                    f"{self.path}: results of an interrupted run with another {shorten(strip_control(name))}: "
                    f"found {short_repr(found.get(name), 200)}, expected {short_repr(expected.get(name), 200)}; delete "
                    "the file to start anew"
                )
        return len(first)

    def _foreign(self, found: str) -> ValueError:
        return ValueError(
            f"{self.path}: found {found}, expected nothing or what an interrupted run left; if it is a file "
            "of yours, move it, or write to another file; if an earlier version of unnoted left it, delete it"
        )

    def _result(self, line: bytes, number: int) -> dict[str, Any]:
        result, _, checksum = line.removesuffix(b"\n").rpartition(b"\t")
        if checksum != b"%08x" % zlib.crc32(result):
            raise ValueError(
                f"{self.path}: line {number}: found {short_repr(line[:40])} that does not match its checksum, "
                "expected the result that was written; delete the file to start anew"
            )
        return self._parsed(result, number)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise ValueError(
                f"{self.path}: line {number}: found {line[:40]!r}, expected a JSON object; "
                "delete the file to start anew"
            )
        return record


def _locked(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if somebody else holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True
