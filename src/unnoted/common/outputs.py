"""Text and JSON out: files plain or gzip, written whole or not at all; pipes and devices as they come."""

import gzip
import io
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from unnoted.common.locks import BUSY, held, is_held, output_lock
from unnoted.common.output_streams import STANDARD, followed, is_stream, open_stream, shown_name
from unnoted.common.replacing import replacing

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


@contextmanager
def claimed(*outputs: Path, inputs: Iterable[Path] = ()) -> Iterator[None]:
    """Keep outputs for this process while they are made: no other command writes them meanwhile.

    Raises:
        ValueError: an output is read as well or named twice, or another process is writing it.
        OSError: the folder of the locks cannot be used.
    """
    read = list(inputs)
    with ExitStack() as locks:
        for number, output in enumerate(outputs):
            if any(_same(output, other, 1) for other in outputs[:number]):
                raise ValueError(f"{shown_name(output)}: found twice as output, expected different files")
            check_output(output, read)
            if not is_stream(output):
                locks.enter_context(held(output_lock(output), _busy(output), passing=True))
        yield


def check_output(output: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output that is read, also under another spelling or through a link, or that is being written.

    For long work, which should not find out at its end; `claimed` looks too.

    Args:
        output: the file to be written.
        inputs: the files that are read; of a folder, such as a model's, all files in it.

    Raises:
        ValueError: names the file.

    Example:
        >>> check_output(Path("docs/../a.json"), [Path("b.json"), Path("a.json")])
        Traceback (most recent call last):
        ValueError: docs/../a.json: found as input and as output, expected another file to write to
    """
    read = (file for path in inputs for file in (path.iterdir() if path.is_dir() else [path]))
    if any(_same(output, path, 0) for path in read):
        raise ValueError(
            f"{shown_name(output)}: found as input and as output, expected another file to write to"
        )
    if not is_stream(output) and is_held(output_lock(output)):
        raise _busy(output)


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Write to what a user named: a stream as it comes, a file when it is complete; links lead to the file.

    Files whose names end in `.gz` are compressed.
    """
    if not is_stream(path):
        with write_text(path, followed(path)) as text:
            yield text
        return
    with _naming(path), os.fdopen(_opened(path), "wb") as raw, _plain(raw) as text:
        yield text


@contextmanager
def open_binary_output(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes, which are written as they are, whatever the name."""
    if is_stream(path):
        with _naming(path), os.fdopen(_opened(path), "wb") as raw:
            yield raw
        return
    with _naming(path), _made(path, followed(path)) as raw:
        yield raw


@contextmanager
def write_text(path: Path, place: Path | None = None) -> Iterator[TextIO]:
    """Write a file that appears under its name only when it is complete; `.gz` names are compressed.

    Whatever stops the writing (an exception, a full disk, a kill) leaves the old file as it was.

    Args:
        path: what the file is called.
        place: where it lies, if `path` is a link to it; otherwise a link is replaced.
    """
    encoded = _compressed if path.suffix == ".gz" else _plain
    with _naming(path), _made(path, path if place is None else place) as raw, encoded(raw) as text:
        yield text


@contextmanager
def _made(path: Path, place: Path) -> Iterator[BinaryIO]:
    """A new file at its place, under the name by which errors call it."""
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(replacing(place))
        except OSError as error:
            raise OSError(error.errno, f"cannot write here: {error.strerror}", str(path)) from None
        yield raw


def write_json(path: Path, content: object) -> None:
    """Write JSON for programs and people, whole or not at all."""
    with write_text(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one record per line to what a user named; returns how many."""
    count = 0
    with open_output(Path(path)) as stream:
        for record in records:
            stream.write(_ENCODER.encode(record) + "\n")
            count += 1
    return count


def write_list(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON list to what a user named, one record per line, never held whole; returns how many."""
    count = 0
    with open_output(Path(path)) as stream:
        stream.write("[")
        for record in records:
            stream.write((",\n" if count else "") + _ENCODER.encode(record))
            count += 1
        stream.write("]\n")
    return count


def _busy(output: Path) -> ValueError:
    return ValueError(f"{output}: {BUSY}")


def _same(output: Path, other: Path, standard: int) -> bool:
    """Whether two names are of one file; `-` stands for a descriptor, as the other name for `standard`."""
    ours, theirs = _status(output, 1), _status(other, standard)
    if ours is None or theirs is None:
        return STANDARD not in (output, other) and followed(output) == Path(os.path.realpath(other))
    return stat.S_ISREG(ours.st_mode) and os.path.samestat(ours, theirs)


def _status(path: Path, standard: int) -> os.stat_result | None:
    try:
        return os.fstat(standard) if path == STANDARD else path.stat()
    except OSError:
        return None


def _opened(path: Path) -> int:
    try:
        return open_stream(path)
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", shown_name(path)) from None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the output in errors of writing, which name no file; errors of other files stay as they are."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, f"not written: {error.strerror}", shown_name(path)) from None


@contextmanager
def _plain(raw: BinaryIO | gzip.GzipFile) -> Iterator[TextIO]:
    """A text layer, without closing what it lies over."""
    text = io.TextIOWrapper(raw, "utf-8", newline="\n")
    yield text
    text.detach()


@contextmanager
def _compressed(raw: BinaryIO) -> Iterator[TextIO]:
    """A text layer through gzip, without name and time: equal content, equal bytes."""
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed, _plain(packed) as text:
        yield text
