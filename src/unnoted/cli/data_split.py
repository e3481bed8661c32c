"""`unnoted data split`: a corpus into parts by document."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.common import Files, FormatName, Overwrite, Seed, Strict, reports_errors, say, tell_defects
from unnoted.data.loading import load_documents
from unnoted.data.selecting import AllBut, ids_of, write_selected
from unnoted.data.splitting import split_documents
from unnoted.io import display_name, is_stream, lock_output
from unnoted.utils import plural


@reports_errors
def split(
    files: Files,
    into: Annotated[
        list[str],
        typer.Option(
            metavar="FILE=SHARE", help="A part and its share, e.g. train.json=0.9; give one per part."
        ),
    ],
    seed: Seed = 0,
    format: FormatName = None,
    strict: Strict = False,
    overwrite: Overwrite = False,
) -> None:
    """Split a corpus by document, at random but reproducibly.

    Parts whose names end as the file's does keep its format, and each record every character.
    """
    targets = [_target(part) for part in into]
    paths = [path for path, _ in targets]
    streamed = any(map(is_stream, paths))
    with lock_output(*paths, inputs=files, overwrite=overwrite):
        corpus = load_documents(*files, strict=strict)
        parts = split_documents(corpus.documents, [share for _, share in targets], seed)
        # What is no document, such as a task that was rejected, is in the first part.
        first = AllBut(ids_of(document for part in parts[1:] for document in part))
        for path, part in zip(paths, parts, strict=True):
            write_selected(files, part, path, format, first if part is parts[0] else None)
            say(f"{plural(len(part), 'document')} written to {display_name(path)}", err=streamed)
    tell_defects(corpus.log)


def _target(part: str) -> tuple[Path, float]:
    path, _, share = part.rpartition("=")
    if not path or not share.replace(".", "", 1).isdecimal():
        raise ValueError(f"--into: found {part!r}, expected FILE=SHARE, e.g. train.json=0.9")
    return Path(path), float(share)
