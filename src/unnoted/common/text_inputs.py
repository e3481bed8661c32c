"""Text files in: plain or gzip, strict UTF-8, streamed."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
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
