"""brat files after decisions about their facts: lines are added and taken away, and no other one changes."""

import json
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from unnoted.data.contents import FolderContent, file_text
from unnoted.data.decided import FactDecision, Mending
from unnoted.data.entity_rule import MarkedArc
from unnoted.data.formats import brat
from unnoted.data.formats.arc_changes import ArcChanges
from unnoted.data.formats.file_names import title_of
from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import read_whole

PROVENANCE = "Provenance"
"""The type of a note on a relation that says who decided."""

MARK = "\ufeff"
"""The byte order mark, which may begin a file."""

_NUMBERED = re.compile(r"([A-Z#])(\d{1,18})\t")
_ABOUT = re.compile(r"[AM#]\S*\t\S+ (\S+)")


def select(paths: Sequence[Path], ids: Container[str]) -> FolderContent:
    """The files of certain documents, and those that belong to none, such as brat's settings."""
    found: dict[str, bytes] = {}
    for path in paths:
        for file, folder in _files(path):
            title = _document_of(file, folder)
            if title is None or title in ids:
                name, content = file.relative_to(folder).as_posix(), file.read_bytes()
                if found.setdefault(name, content) != content:
                    fail(Kind.MALFORMED, None, None, f"two different files {name}", "one of that name")
    return FolderContent(found)


def _files(path: Path) -> Iterator[tuple[Path, Path]]:
    """The files of a folder, or the two of a document, each with the folder from which names count."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path.with_suffix(".txt"), path.with_suffix(".ann")]
    return ((file, path if path.is_dir() else path.parent) for file in files if file.is_file())


def _document_of(file: Path, folder: Path) -> str | None:
    """The document that a file belongs to."""
    belongs = file.suffix in (".txt", ".ann") and file.with_suffix(".txt").exists()
    return title_of(file, folder) if belongs else None


def mend(mending: Mending) -> list[FolderContent]:
    """The folder of each source with what was decided; of a pair of files, a folder with the two."""
    return [_mended(path, mending) for path in mending.sources]


def _mended(path: Path, mending: Mending) -> FolderContent:
    files = dict(select([path], mending.documents.keys()).files)
    for file, folder in brat.texts_of(path):
        title = title_of(file, folder)
        if title not in mending.decisions:
            continue
        annotations = file.with_suffix(".ann")
        text = file_text(annotations) if annotations.exists() else ""
        lines = text.removeprefix(MARK).split("\n")
        standoff = brat.parse(title, read_whole(file), lines, DefectLog())
        changes = ArcChanges.of(standoff.marked, mending)
        if changes:
            name = annotations.relative_to(folder).as_posix()
            kept = MARK if text.startswith(MARK) else ""
            files[name] = (kept + "".join(_lines(lines, changes, title))).encode()
    return FolderContent(files)


def _lines(lines: list[str], changes: ArcChanges, title: str) -> Iterator[str]:
    gone = {arc.place for arc in [*changes.gone, *changes.restored]}
    relations = {lines[int(place.removeprefix("line ")) - 1].split("\t")[0] for place in gone}
    for number, line in enumerate(lines, start=1):
        about = _ABOUT.match(line)
        if f"line {number}" in gone or (about and about[1] in relations):
            continue
        last = number == len(lines)
        if line or not last:
            yield f"{line}\n"
    numbers = {"R": 0, "#": 0}
    for line in lines:
        if found := _NUMBERED.match(line):
            numbers[found[1]] = max(numbers.get(found[1], 0), int(found[2]))
    for arc, decision in changes.added:
        numbers["R"] += 1
        yield brat.relation_line(f"R{numbers['R']}", arc, title)
        yield from _note(f"R{numbers['R']}", decision, numbers)
    for arc, decision in changes.rejected:
        numbers["#"] += 1
        yield brat.negative_line(f"#{numbers['#']}", arc, title)
        yield from _note(arc.head, decision, numbers, arc)


def _note(
    target: str, decision: FactDecision, numbers: dict[str, int], arc: MarkedArc | None = None
) -> Iterator[str]:
    """A note with the provenance of a decision, if it has any; of a negative, with what it is about."""
    if decision.provenance:
        numbers["#"] += 1
        said = dict(decision.provenance)
        if arc is not None:
            said = {"not": f"{arc.relation} {arc.tail}", **said}
        yield f"#{numbers['#']}\t{PROVENANCE} {target}\t{json.dumps(said, ensure_ascii=False)}\n"
