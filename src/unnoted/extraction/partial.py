"""Results that outlive an interruption: a line for each document that is done.

A first line says what they were made from. The file lies beside the result under the name `RESULT.partial`
until everything is done. A program that is killed leaves at most its last line cut, which is dropped when the
work continues.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from unnoted.documents.schema import Document
from unnoted.extraction.facts import Extraction


class PartialResults:
    """The results so far, open for more; used in a `with` statement.

    Args:
        path: the file; made if it is not there.
        made_from: what the results depend on, as JSON values. A file made from anything else is refused.

    Raises:
        ValueError: the file's results were made from something else, or it is damaged before its last line.
    """

    def __init__(self, path: Path, made_from: Mapping[str, Any]) -> None:
        self.path = path
        self._first = json.dumps(made_from, sort_keys=True)
        self._stream: BinaryIO = path.open("a+b")
        try:
            self._start = self._check_first()
        except ValueError:
            self._stream.close()
            raise

    def __enter__(self) -> "PartialResults":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def pass_over(self, documents: Iterator[Document]) -> int:
        """Take the documents that are done from a stream; afterwards it stands at the first that is not.

        A cut last line is dropped.

        Returns:
            How many are done.

        Raises:
            ValueError: a line is damaged or belongs to another document than the stream's.
        """
        self._stream.seek(self._start)
        end, count = self._start, 0
        for line in self._stream:
            if not line.endswith(b"\n"):
                break
            found = self._parsed(line, count + 2).get("id")
            document = next(documents, None)
            if document is None or document.id != found:
                expected = "no more documents" if document is None else f"document {document.id!r}"
                raise ValueError(
                    f"{self.path}: line {count + 2}: found document {found!r}, expected {expected}"
                )
            end, count = end + len(line), count + 1
        self._stream.truncate(end)
        return count

    def append(self, extraction: Extraction) -> None:
        """Add one document's result; on disk, as far as a killed program is concerned, on return."""
        self._write(json.dumps(extraction.to_json(), ensure_ascii=False))

    def records(self) -> Iterator[dict[str, Any]]:
        """All results, as `Extraction.to_json` gives them."""
        self._stream.seek(self._start)
        for number, line in enumerate(self._stream, start=2):
            yield self._parsed(line, number)

    def _write(self, line: str) -> None:
        self._stream.write(line.encode() + b"\n")
        self._stream.flush()

    def _check_first(self) -> int:
        """Where the results start, after a first line that is as it should be; written if it is not there."""
        self._stream.seek(0)
        first = self._stream.readline()
        if not first.endswith(b"\n"):
            self._stream.truncate(0)
            self._write(self._first)
            return len(self._first.encode()) + 1
        found, expected = self._parsed(first, 1), json.loads(self._first)
        for name in sorted(found.keys() | expected.keys()):
            if found.get(name) != expected.get(name):
                raise ValueError(
                    f"{self.path}: results of an interrupted run with another {name}: found "
                    f"{found.get(name)}, expected {expected.get(name)}; delete the file to start anew"
                )
        return len(first)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ValueError(
                f"{self.path}: line {number}: found {line[:40]!r}, expected a JSON object; "
                "delete the file to start anew"
            )
        return record
