"""The options of commands that find entities in plain text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnoted.cli.common import tell
from unnoted.errors import DefectLog, Kind
from unnoted.utils import plural

if TYPE_CHECKING:
    from unnoted.inference import Extractor

Text = Annotated[
    bool,
    typer.Option(
        "--text",
        help="FILES are plain text, one document each: entities are found first (needs the extra `spacy`).",
    ),
]
Entities = Annotated[
    str | None,
    typer.Option(
        "--entities",
        metavar="NAME",
        help="What finds the entities of plain text: an installed spaCy pipeline, or a folder with one or "
        "with a GLiNER model; by default the one pipeline that is installed.",
    ),
]
TypePair = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="FOUND=OURS",
        help="What the model calls a type of entity that is found, such as PERSON=PER; nothing behind the = "
        "leaves that type out. May be given several times.",
    ),
]


def refuse_without_text(entities: str | None, types: list[str] | None) -> None:
    """Refuse options that say how entities are found where documents have them already.

    Raises:
        ValueError: names the option.
    """
    if entities is not None or types:
        option = "--type" if entities is None else "--entities"
        raise ValueError(
            f"found {option} without --text, expected both: documents have their entities already"
        )


@contextmanager
def found_in_text(
    extractor: "Extractor", files: list[Path], entities: str | None, types: list[str]
) -> Iterator[Path]:
    """A file with the documents of text files, their entities found; what the model does not know is told."""
    from unnoted.data.ner import parse_types
    from unnoted.inference.predict_files import text_files_as_documents

    reader = extractor.text_reader(entities, parse_types(types), lambda line: tell(f"note: {line}"))
    log = DefectLog()
    with text_files_as_documents(files, reader, log) as kept:
        without = log.counts[Kind.NO_ENTITIES]
        if without:
            tell(f"note: no entity found in {plural(without, 'document')} of {len(files):,}")
        yield kept
