"""Text files in and out: plain or gzip, strict UTF-8, streamed, written whole or not at all."""

import gzip
import hashlib
import io
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from unnoted.common.errors import Kind, fail

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a plain or gzip file, told apart by content, and turn every way to fail into a `DataError`.

    Lines end at a newline only: other characters that Python counts as line breaks occur inside abstracts.
    """
    try:
        with _open_bytes(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="\n") as text:
            yield text
    except UnicodeDecodeError as error:
        found = f"the byte 0x{error.object[error.start]:02x}"
        fail(Kind.UNREADABLE, None, None, found, "UTF-8 text")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fail(Kind.UNREADABLE, None, None, f"damaged gzip data ({error})", "a whole gzip file")
    except IsADirectoryError:
        fail(Kind.UNREADABLE, None, None, "a directory", "a file")
    except FileNotFoundError:
        fail(Kind.UNREADABLE, None, None, "no such file", "a file")
    except OSError as error:
        fail(Kind.UNREADABLE, None, None, error.strerror or str(error), "a readable file")


def _open_bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    with path.open("rb") as probe:
        compressed = probe.read(2) == GZIP_MAGIC
    return gzip.open(path, "rb") if compressed else path.open("rb")


def content_digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
        if same or output.resolve() == path.resolve():
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
