"""Plain text, without entities: one file is one document, called by the file's name.

It has no mark to be detected by. So the name of a file decides (`.txt`), and no line of it may look like a
table: a damaged PubTator file is no text. A folder of such files is as many documents.
"""

from collections.abc import Iterator
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.formats import brat
from unnoted.data.formats.annotated_text import AnnotatedText, to_document
from unnoted.data.formats.records import ReadContext
from unnoted.io import read_whole

SUFFIX = ".txt"


def sniff(path: Path, start: bytes) -> bool:
    """Whether a path is a text file, or a folder of text files without annotations."""
    if path.is_dir():
        return any(path.rglob(f"*{SUFFIX}")) and not any(path.rglob("*.ann"))
    lines = start.decode("utf-8", "replace").split("\n")
    is_table = any(line.count("\t") > 1 or "|t|" in line or "|a|" in line for line in lines)
    is_json = lines[0].lstrip()[:1] in ("[", "{")
    return path.suffix == SUFFIX and not is_table and not is_json and any(map(str.strip, lines))


def read(path: Path, context: ReadContext) -> Iterator[Document]:
    """Yield the document of a file, or those of a folder and the folders in it, by name."""
    return context.read_each(brat.text_files(path), _document)


def _document(source: tuple[Path, Path], context: ReadContext) -> Document:
    file, folder = source
    context.log.file = str(file)
    identifier = context.register_id(brat.id_from_file(file, folder), "file name")
    return to_document(AnnotatedText(identifier, read_whole(file)), context)
