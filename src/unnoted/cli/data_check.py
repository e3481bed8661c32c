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
from unnoted.common.errors import plain, shortened
from unnoted.common.text_inputs import TextInput
from unnoted.documents import candidates as candidate_rules
from unnoted.documents.checking import CheckReport, check_files, group_files


@reports_errors
def check(
    files: Files,
    vocabulary: Vocabulary = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            help="Candidate pairs to count: all, or HeadType:TailType,… (PubTator: those of its facts)."
        ),
    ] = None,
    per_relation: Annotated[
        bool, typer.Option("--per-relation", help="Also count the facts of each relation.")
    ] = False,
    strict: Strict = False,
    as_json: AsJSON = False,
) -> None:
    """Validate files and show what they contain. The exit code is 0 only if all are usable."""
    rule = candidate_rules.parse(candidates) if candidates else None
    names = read_vocabulary(vocabulary)
    sources = [TextInput(file) for file in files]
    reports = [check_files(group, names, rule, strict) for group in group_files(sources)]
    if as_json:
        say(json_text([report.to_json() for report in reports]))
    else:
        for report in reports:
            _print(report, per_relation, names.names if names else {})
    if not all(report.usable for report in reports):
        raise typer.Exit(1)


def _print(report: CheckReport, per_relation: bool, names: Mapping[str, str]) -> None:
    out = console()
    files = " + ".join(plain(Path(file).name) for file in report.files)
    out.print(f"\n[bold]{escape(files)}[/bold] ({escape(report.format)})")
    if report.statistics.documents:
        out.print(_figures(report))
    if per_relation:
        counts = table(None, "relation", "name", "facts", text=2)
        for relation, count in report.statistics.relations.most_common():
            counts.add_row(shortened(relation), shortened(names.get(relation, "")), f"{count:,}")
        out.print(counts)
    for kind in report.defects:
        out.print(f"[bold]{kind.severity}[/bold] {report.log.counts[kind]:,} × {kind.slug}: {kind.meaning}")
        for defect in report.log.examples[kind][:2]:
            where = f"{plain(Path(defect.file).name)}: " if len(report.files) > 1 else ""
            out.print(f"    e.g. {where}{defect.within_file}", markup=False, soft_wrap=True)
    out.print("usable" if report.usable else "[bold]not usable[/bold]")


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
        ("candidate pairs", pairs),
    ):
        each = "" if name == "documents" else f"{statistics.mean(total):,.2f}"
        figures.add_row(name, f"{total:,}", each)
    share = labelled / pairs if pairs else 0.0
    figures.add_row("  of them labelled", f"{labelled:,}", f"{share:.2%} of pairs")
    figures.add_row("relations", f"{len(statistics.relations):,}", "")
    figures.add_row(
        "longest document (words)", f"{statistics.longest[0]:,}", shortened(statistics.longest[1], 60)
    )
    figures.add_row(
        "most entities", f"{statistics.most_entities[0]:,}", shortened(statistics.most_entities[1], 60)
    )
    if rows := report.relation_rows():
        read, kept = rows.pop("read"), rows.pop("kept")
        dropped = ", ".join(f"{count} {reason}" for reason, count in rows.items()) or "0 dropped"
        figures.add_row("relation rows", f"{read:,}", f"{kept:,} kept; {dropped}")
    return figures
