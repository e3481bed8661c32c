"""`unnoted data split`: a corpus into parts by document."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import (
    Files,
    FormatName,
    Overwrite,
    Seed,
    Strict,
    handle_errors,
    log_defects,
    print_text,
)
from unnoted.data.convert import split_files
from unnoted.io import display_name, is_stream, lock_output
from unnoted.utils import plural


@handle_errors
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

    Parts whose names have the ending of the file keep its format, and each record verbatim.
    """
    parts = [_parse_part(part) for part in into]
    paths = [path for path, _ in parts]
    with lock_output(*paths, inputs=files, overwrite=overwrite):
        counts, defects = split_files(files, parts, seed, format, strict)
    for path, count in zip(paths, counts, strict=True):
        print_text(
            f"{plural(count, 'document')} written to {display_name(path)}", err=any(map(is_stream, paths))
        )
    log_defects(defects)


def _parse_part(part: str) -> tuple[Path, float]:
    path, _, share = part.rpartition("=")
    if not path or not share.replace(".", "", 1).isdecimal():
        raise ValueError(f"--into: {part!r} is no FILE=SHARE, such as train.json=0.9")
    return Path(path), float(share)
