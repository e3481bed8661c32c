"""Plain text files as a file of documents, for commands that read documents more than once."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from unnoted.data.document import Document
from unnoted.data.ner import TextReader
from unnoted.data.writing import write_documents
from unnoted.errors import DataError, DefectLog, Kind, fail
from unnoted.io import TextInput, read_whole


def text_documents(files: Sequence[Path], reader: TextReader, log: DefectLog) -> Iterator[Document]:
    """The documents of text files, one each; the file's name, as it was given, is the id.

    Raises:
        DataError: a file cannot be read as text, or holds none; names it.
    """
    texts = ((TextInput(file).name, _text(file)) for file in files)
    return reader.documents(texts, log)


def _text(file: Path) -> str:
    try:
        text = read_whole(file)
        if not text.strip():
            fail(Kind.UNREADABLE, None, None, "no text", "a text")
        return text
    except DataError as error:
        raise DefectLog(TextInput(file).name).located(error) from None


@contextmanager
def as_document_file(files: Sequence[Path], reader: TextReader, log: DefectLog) -> Iterator[Path]:
    """A file with the documents of text files, for as long as the block lasts.

    The same texts and pipeline give the same bytes, so that what was interrupted can be taken up again.
    """
    with tempfile.TemporaryDirectory(prefix="unnoted-") as folder:
        kept = Path(folder, "texts.jsonl")
        write_documents(kept, text_documents(files, reader, log))
        yield kept
