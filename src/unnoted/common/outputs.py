"""Text and JSON files out: plain or gzip, written whole or not at all."""

import gzip
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


def refuse_input(output: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write over a file that is read, also under another spelling or through a link.

    Raises:
        ValueError: names the file.

    Example:
        >>> refuse_input(Path("docs/../a.json"), [Path("b.json"), Path("a.json")])
        Traceback (most recent call last):
        ValueError: docs/../a.json: found as input and as output, expected another file to write to
    """
    for path in inputs:
        same = output.samefile(path) if output.exists() and path.exists() else False
        if same or os.path.realpath(output) == os.path.realpath(path):
            raise ValueError(f"{output}: found as input and as output, expected another file to write to")


@contextmanager
def write_text(path: Path) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; `.gz` names are compressed.

    Whatever stops the writing (an exception, a full disk, a kill) leaves the old file as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with _encoded(path, raw) as text:
                yield text
            raw.flush()
            os.fsync(raw.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"not written: {error.strerror}", str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with write_text(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one record per line; returns how many."""
    count = 0
    with write_text(Path(path)) as stream:
        for record in records:
            stream.write(_ENCODER.encode(record) + "\n")
            count += 1
    return count


def write_list(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON list, one record per line, without holding it in memory; returns how many."""
    count = 0
    with write_text(Path(path)) as stream:
        stream.write("[")
        for record in records:
            stream.write((",\n" if count else "") + _ENCODER.encode(record))
            count += 1
        stream.write("]\n")
    return count


@contextmanager
def _encoded(path: Path, raw: io.BufferedWriter) -> Iterator[TextIO]:
    """A text layer over `raw`, through gzip without name and time (equal content, equal bytes) for `.gz`."""
    if path.suffix != ".gz":
        plain = io.TextIOWrapper(raw, "utf-8", newline="\n")
        yield plain
        plain.detach()  # flushes, and leaves `raw` open for fsync
        return
    with (
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="\n") as text,
    ):
        yield text


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
