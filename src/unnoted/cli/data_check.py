"""`unnoted data check`: is this data usable, and what does it contain?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from unnoted.cli.common import (
    AsJSON,
    Files,
    Strict,
    Vocabulary,
    console,
    json_text,
    read_vocabulary,
    reports_errors,
    say,
    table,
)
from unnoted.data.candidates import CandidatePairs
from unnoted.data.checking import CheckReport, check_files, group_files
from unnoted.io import TextInput
from unnoted.utils import shorten, strip_control

FEW_RELATIONS = 30
"""Up to so many relations are listed without being asked for."""

MOST_TYPES = 12
"""How many types, or pairs of types, one line names."""

ONLY_WHERE_USED = ("  of them with evidence", "known negatives")
"""Figures that are left out where they are 0."""


@reports_errors
def check(
    files: Files,
    vocabulary: Vocabulary = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            help="Candidate pairs to count: all, or HeadType:TailType,… (PubTator: those of its facts); "
            '"intra-sentence" may follow.'
        ),
    ] = None,
    per_relation: Annotated[
        bool, typer.Option("--per-relation", help="Also count the facts of each relation.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List every defect, not only the first ones of each kind.")
    ] = False,
    strict: Strict = False,
    as_json: AsJSON = False,
) -> None:
    """Validate files and show what they contain. The exit code is 0 only if all are usable."""
    rule = CandidatePairs.parse(candidates) if candidates else None
    names = read_vocabulary(vocabulary)
    sources = [TextInput(file) for file in files]
    reports = [check_files(group, names, rule, strict, every) for group in group_files(sources)]
    if as_json:
        say(json_text([report.to_json() for report in reports]))
    else:
        for report in reports:
            _print(report, per_relation, every, names.names if names else {})
    if not all(report.usable for report in reports):
        raise typer.Exit(1)


def _print(report: CheckReport, per_relation: bool, every: bool, names: Mapping[str, str]) -> None:
    out = console()
    files = " + ".join(strip_control(Path(file).name) for file in report.files)
    out.print(f"\n[bold]{escape(files)}[/bold] ({escape(report.format)})")
    if report.statistics.documents:
        out.print(_figures(report))
    if per_relation or 0 < len(report.statistics.relations) <= FEW_RELATIONS:
        out.print(_relations(report, names))
    for kind in report.defects:
        out.print(f"[bold]{kind.severity}[/bold] {report.log.counts[kind]:,} × {kind.slug}: {kind.meaning}")
        for defect in report.log.examples[kind][: None if every else 2]:
            where = f"{strip_control(defect.file)}: " if every or len(report.files) > 1 else ""
            example = "" if every else "e.g. "
            out.print(f"    {example}{where}{defect.within_file}", markup=False, soft_wrap=True)
    out.print("usable" if report.usable else "[bold]not usable[/bold]")


def _relations(report: CheckReport, names: Mapping[str, str]) -> Table:
    """Each relation with the types that it connects: a type that was misspelt stands out."""
    counts = table(None, "relation", "name", "from type → to type", "facts", text=3)
    for relation, count in report.statistics.relations.most_common():
        types = report.statistics.connected[relation].most_common()
        shown = [f"{shorten(head, 30)} → {shorten(tail, 30)} {each:,}" for (head, tail), each in types]
        if len(shown) > MOST_TYPES:
            shown[MOST_TYPES:] = [f"and {len(shown) - MOST_TYPES} more"]
        counts.add_row(shorten(relation), shorten(names.get(relation, "")), "; ".join(shown), f"{count:,}")
    return counts


def _figures(report: CheckReport) -> Table:
    statistics = report.statistics
    pairs, labelled = statistics.candidate_pairs(report.candidates)
    figures = table(None, "", "total", "per document")
    for name, total in (
        ("documents", statistics.documents),
        ("sentences", statistics.sentences),
        ("words", statistics.words),
        ("entities", statistics.entities),
        ("mentions", statistics.mentions),
        ("facts", statistics.facts),
        ("  of them across sentences", statistics.across_sentences),
        ("  of them with evidence", statistics.facts_with_evidence),
        ("known negatives", statistics.negatives),
        ("candidate pairs", pairs),
    ):
        if not total and name in ONLY_WHERE_USED:
            continue
        each = "" if name == "documents" else f"{statistics.mean(total):,.2f}"
        figures.add_row(name, f"{total:,}", each)
    share = labelled / pairs if pairs else 0.0
    figures.add_row("  of them labelled", f"{labelled:,}", f"{share:.2%} of pairs")
    figures.add_row("relations", f"{len(statistics.relations):,}", "")
    types = statistics.entity_types.most_common()
    listed = [f"{shorten(kind, 30)} {count:,}" for kind, count in types[:MOST_TYPES]]
    figures.add_row(
        "entity types", f"{len(types):,}", ", ".join(listed) + (", …" if types[MOST_TYPES:] else "")
    )
    figures.add_row(
        "longest document (words)", f"{statistics.longest[0]:,}", shorten(statistics.longest[1], 60)
    )
    figures.add_row(
        "most entities", f"{statistics.most_entities[0]:,}", shorten(statistics.most_entities[1], 60)
    )
    if rows := report.relation_rows():
        read, kept = rows.pop("read"), rows.pop("kept")
        dropped = ", ".join(f"{count} {reason}" for reason, count in rows.items()) or "0 dropped"
        figures.add_row("relation rows", f"{read:,}", f"{kept:,} kept; {dropped}")
    return figures
