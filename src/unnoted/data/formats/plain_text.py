"""Plain text, without entities: one file is one document, called by the file's name.

It has no mark to be recognised by. So it is what a file is called that tells (`.txt`), and no line of it may
look like a table: a damaged PubTator file is no text. A folder of such files is as many documents.
"""

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from unnoted.data.contents import FileContent
from unnoted.data.document import Document
from unnoted.data.entity_rule import MarkedText
from unnoted.data.formats import brat_mending
from unnoted.data.formats.file_names import title_of
from unnoted.data.formats.marked_text import document_of
from unnoted.data.formats.reading import Reading
from unnoted.io import read_whole

SUFFIX = ".txt"


def recognises(path: Path, start: bytes) -> bool:
    """Whether a path is a text file, or a folder of text files without annotations."""
    if path.is_dir():
        return any(path.rglob(f"*{SUFFIX}")) and not any(path.rglob("*.ann"))
    return path.suffix == SUFFIX and _is_text(start)


def _is_text(start: bytes) -> bool:
    lines = start.decode("utf-8", "replace").split("\n")
    tables = any(line.count("\t") > 1 or "|t|" in line or "|a|" in line for line in lines)
    return not tables and lines[0].lstrip()[:1] not in ("[", "{") and any(map(str.strip, lines))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """Yield the document of a file, or those of a folder and the folders in it, by name."""
    files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
    folder = path if path.is_dir() else path.parent
    return reading.each(((file, folder) for file in files if not file.is_dir()), _document)


def _document(source: tuple[Path, Path], reading: Reading) -> Document:
    file, folder = source
    reading.log.file = str(file)
    title = reading.new_id(title_of(file, folder), "file name")
    return document_of(MarkedText(title, read_whole(file)), reading)


def select(paths: Sequence[Path], ids: Container[str]) -> FileContent:
    """The file, if it is one; else a folder with the files of certain documents."""
    if len(paths) == 1 and not paths[0].is_dir():
        return paths[0].read_bytes()
    return brat_mending.select(paths, ids)
