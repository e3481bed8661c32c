"""`unnoted data`: check, convert, split, hide-labels, compare, fetch and generate."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from unnoted.cli.options import (
    AsJSON,
    Files,
    FormatName,
    Overwrite,
    Seed,
    Strict,
    To,
    Vocabulary,
    console,
    handle_errors,
    log,
    log_defects,
    print_text,
    read_vocabulary,
    table,
    to_json_text,
)
from unnoted.data.candidates import CandidatePairs
from unnoted.data.check import CheckReport, check_files, group_files
from unnoted.data.compare import LabellingComparison, RelationComparison, compare_labels
from unnoted.data.convert import convert_files, split_files
from unnoted.data.formats import FORMATS, write_documents
from unnoted.data.hide_labels import (
    DEFAULT_BIAS,
    LABELLING_SETTINGS,
    HideReport,
    LabelDropout,
    PopularityBiasedLabelDropout,
    UniformLabelDropout,
    fit_setting,
    hide_labels,
)
from unnoted.data.loading import load_documents, stream_documents
from unnoted.errors import DefectLog
from unnoted.io import TextInput, display_name, is_stream, lock_output, rereadable, write_json
from unnoted.utils import plural, shorten, strip_control

PerRelation = Annotated[bool, typer.Option("--per-relation", help="Also count the facts of each relation.")]
Setting = typer.Option("--setting", help=f"Labelling setting of the paper: {', '.join(LABELLING_SETTINGS)}.")

# check ---------------------------------------------------------------------------------------------------------

FEW_RELATIONS = 30
"""Up to so many relations are listed without being asked for."""

MOST_TYPES = 12
"""How many types, or pairs of types, one line names."""


@handle_errors
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
    per_relation: PerRelation = False,
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
        print_text(to_json_text([report.to_json() for report in reports]))
    else:
        for report in reports:
            _print_report(report, per_relation, every, names.names if names else {})
    if not all(report.usable for report in reports):
        raise typer.Exit(1)


def _print_report(report: CheckReport, per_relation: bool, every: bool, names: Mapping[str, str]) -> None:
    out = console()
    files = " + ".join(strip_control(Path(file).name) for file in report.files)
    out.print(f"\n[bold]{escape(files)}[/bold] ({escape(report.format)})")
    if report.statistics.documents:
        out.print(_statistics_table(report))
    if per_relation or 0 < len(report.statistics.relations) <= FEW_RELATIONS:
        out.print(_relations_table(report, names))
    for kind in report.defects:
        out.print(f"[bold]{kind.severity}[/bold] {report.log.counts[kind]:,} × {kind.slug}: {kind.meaning}")
        for defect in report.log.examples[kind][: None if every else 2]:
            where = f"{strip_control(defect.file)}: " if every or len(report.files) > 1 else ""
            example = "" if every else "e.g. "
            out.print(f"    {example}{where}{defect.within_file}", markup=False, soft_wrap=True)
    out.print("usable" if report.usable else "[bold]not usable[/bold]")


def _relations_table(report: CheckReport, names: Mapping[str, str]) -> Table:
    """Each relation with the types that it connects: a misspelt type stands out."""
    rows = table(None, "relation", "name", "from type → to type", "facts", text=3)
    for relation, count in report.statistics.relations.most_common():
        types = report.statistics.types_of[relation].most_common()
        listed = [f"{shorten(head, 30)} → {shorten(tail, 30)} {each:,}" for (head, tail), each in types]
        if len(listed) > MOST_TYPES:
            listed[MOST_TYPES:] = [f"and {len(listed) - MOST_TYPES} more"]
        rows.add_row(shorten(relation), shorten(names.get(relation, "")), "; ".join(listed), f"{count:,}")
    return rows


def _statistics_table(report: CheckReport) -> Table:
    statistics = report.statistics
    pairs, labelled = statistics.count_candidates(report.candidates)
    rows = table(None, "", "total", "per document")
    rows.add_row("documents", f"{statistics.documents:,}", "")
    for name, total, always in (
        ("sentences", statistics.sentences, True),
        ("words", statistics.words, True),
        ("entities", statistics.entities, True),
        ("mentions", statistics.mentions, True),
        ("facts", statistics.facts, True),
        ("  of them across sentences", statistics.across_sentences, True),
        ("  of them with evidence", statistics.facts_with_evidence, False),
        ("known negatives", statistics.negatives, False),
        ("candidate pairs", pairs, True),
    ):
        if total or always:
            rows.add_row(name, f"{total:,}", f"{statistics.mean(total):,.2f}")
    rows.add_row("  of them labelled", f"{labelled:,}", f"{labelled / pairs if pairs else 0:.2%} of pairs")
    rows.add_row("relations", f"{len(statistics.relations):,}", "")
    types = statistics.entity_types.most_common()
    listed = [f"{shorten(type, 30)} {count:,}" for type, count in types[:MOST_TYPES]]
    more = ", …" if types[MOST_TYPES:] else ""
    rows.add_row("entity types", f"{len(types):,}", ", ".join(listed) + more)
    for name, (size, document) in (
        ("longest document (words)", statistics.longest),
        ("most entities", statistics.most_entities),
    ):
        rows.add_row(name, f"{size:,}", shorten(document, 60))
    if counts := report.relation_rows():
        read, kept = counts.pop("read"), counts.pop("kept")
        dropped = ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "0 dropped"
        rows.add_row("relation rows", f"{read:,}", f"{kept:,} kept; {dropped}")
    return rows


# convert and split ---------------------------------------------------------------------------------------------


@handle_errors
def convert(
    files: Files,
    to: To,
    format: FormatName = None,
    vocabulary: Vocabulary = None,
    strict: Strict = False,
    overwrite: Overwrite = False,
) -> None:
    """Convert documents to another format, and say what it has no place for."""
    with lock_output(to, inputs=[*files, *([vocabulary] if vocabulary else [])], overwrite=overwrite):
        done = convert_files(files, to, format, read_vocabulary(vocabulary), strict)
    log_defects(done.log)
    if done.lost:
        log(f"note: not kept in {FORMATS[done.format].name}: {'; '.join(done.lost)}")
    print_text(f"{plural(done.records, 'record')} written to {display_name(to)}", err=is_stream(to))


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
    """Split a corpus by document, at random but reproducibly."""
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


# hide-labels ---------------------------------------------------------------------------------------------------


@handle_errors
def hide(
    files: Files,
    to: To,
    setting: Annotated[str | None, Setting] = None,
    keep: Annotated[
        float | None, typer.Option(help="Share of the labels to keep, each equally likely.")
    ] = None,
    keep_popular: Annotated[
        float | None,
        typer.Option(help="Share of the labels to keep, preferring frequent relations and entities."),
    ] = None,
    bias: Annotated[
        float,
        typer.Option(
            min=0, max=100, help="How strongly --keep-popular prefers frequent facts; 0 is uniform."
        ),
    ] = DEFAULT_BIAS,
    seed: Seed = 0,
    format: FormatName = None,
    per_relation: PerRelation = False,
    strict: Strict = False,
    overwrite: Overwrite = False,
) -> None:
    """Hide labels of a corpus; documents and entities stay."""
    if len([option for option in (setting, keep, keep_popular) if option is not None]) != 1:
        raise ValueError("give one of --setting, --keep and --keep-popular")
    report = HideReport()
    defects = DefectLog(strict=strict)
    with lock_output(to, inputs=files, overwrite=overwrite), rereadable(files) as sources:
        rule: LabelDropout
        if keep is not None:
            rule = UniformLabelDropout(keep)
        elif keep_popular is not None:
            rule = PopularityBiasedLabelDropout.fit(stream_documents(*sources), keep_popular, bias)
        else:
            rule = fit_setting(setting or "", stream_documents(*sources))
        left = hide_labels(stream_documents(*sources, log=defects), rule, seed, report)
        write_documents(to, left, format)
    log_defects(defects)
    _print_hidden(report, per_relation, is_stream(to))


def _print_hidden(report: HideReport, per_relation: bool, err: bool) -> None:
    """What was hidden; on stderr if the documents went to stdout."""
    if not report.before:
        log("note: the documents have no facts, so there was nothing to hide")
    before, after = report.before.total(), report.after.total()
    print_text(
        f"{plural(report.documents, 'document')}: {plural(before, 'fact')} before, "
        f"{after:,} kept ({report.share:.2%}), {before - after:,} hidden; "
        f"{after / max(report.documents, 1):.2f} facts per document",
        err=err,
    )
    if report.unlabelled_relations:
        print_text(
            f"relations without a label now: {shorten(', '.join(report.unlabelled_relations), 1000)}", err=err
        )
    if per_relation:
        rows = table(None, "relation", "before", "kept", "share")
        for relation, count in report.before.most_common():
            kept = report.after[relation]
            rows.add_row(shorten(relation), f"{count:,}", f"{kept:,}", f"{kept / count:.1%}")
        console(err).print(rows)


# compare -------------------------------------------------------------------------------------------------------


@handle_errors
def compare(
    a: Annotated[Path, typer.Argument(help="Documents with labelling A, the incomplete one.")],
    b: Annotated[Path, typer.Argument(help="The same documents with labelling B, the more complete one.")],
    vocabulary: Vocabulary = None,
    priors: Annotated[
        Path | None,
        typer.Option(
            "--priors",
            metavar="FILE",
            help="Write multipliers by relation, for training on A with --set prior_file=FILE.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJSON = False,
) -> None:
    """Compare two labellings of the same documents: how many facts of B are missing in A?"""
    names = read_vocabulary(vocabulary)
    corpora = [load_documents(path, vocabulary=names) for path in (a, b)]
    for path, corpus in zip((a, b), corpora, strict=True):
        log_defects(corpus.log)
        if not any(document.facts for document in corpus):
            log(f"note: {TextInput(path).name}: its documents have no facts")
    result = compare_labels(*corpora)
    if priors is not None:
        with lock_output(priors, inputs=[a, b], overwrite=overwrite):
            write_json(priors, result.priors(corpora[0].relations.ids))
    if as_json:
        print_text(to_json_text(result.to_json()))
        return
    rows = table(
        None, "relation", "name", "in A", "in B", "in both", "missed by A", "only in A", "B ÷ A", text=2
    )
    for row in (result.overall, *result.relations):
        name = names.name(row.relation) if names and row.relation in names else ""
        rows.add_row(shorten(row.relation), shorten(name), *_comparison_cells(row))
    console().print(rows)
    _print_comparison(result)


def _comparison_cells(row: RelationComparison) -> list[str]:
    counts = (row.in_a, row.in_b, row.in_both, row.missed, row.only_a)
    return [*(f"{count:,}" for count in counts), "none in A" if row.ratio is None else f"{row.ratio:.2f}"]


def _print_comparison(result: LabellingComparison) -> None:
    ratios = [row.ratio for row in result.relations if row.ratio is not None]
    if ratios:
        print_text(
            f"\nB ÷ A by relation: {min(ratios):.2f} to {max(ratios):.2f}, median {result.median_ratio:.2f}"
        )
    print_text(f"documents compared: {result.compared:,}")
    for reason, documents in result.not_compared.items():
        if documents:
            first = ", ".join(shorten(document, 60) for document in documents[:5])
            more = ", …" if len(documents) > 5 else ""
            print_text(f"not compared, {reason}: {len(documents):,} ({strip_control(first)}{more})")


# fetch ---------------------------------------------------------------------------------------------------------


@handle_errors
def fetch(
    dataset: Annotated[str, typer.Argument(help="docred, re-docred or chemdisgene.", show_default=False)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder for the files.")],
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Only the documents that the results pages are about (docred: with Re-DocRED's labels too).",
        ),
    ] = False,
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", metavar="FILE", help="A mirror's catalog to use instead of our own."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files of the same name that have other contents.")
    ] = False,
) -> None:
    """Download a public data set and verify every file."""
    from unnoted.data import download  # requests takes long to import

    chosen = download.Catalog.read(catalog or download.SHIPPED_CATALOG)
    screen = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        if sample:
            files = download.download_sample(dataset, to, chosen, show, overwrite)
        else:
            files = download.download(dataset, to, chosen, show, overwrite)
    entry = chosen.entry(dataset)
    print_text(f"{dataset}: {entry.description}")
    for file in files:
        print_text(f"  {file.name}: {file.outcome} ({file.size:,} bytes)")
    print_text(f"{plural(len(files), 'file')} in {to}. Licence: {entry.licence}.")


# generate ------------------------------------------------------------------------------------------------------

FITTED = 1_000
"""The labelling setting is fitted to the first documents of a seed, whatever part is generated."""


@handle_errors
def generate(
    to: To,
    documents: Annotated[int, typer.Option(min=1, help="Documents to generate.")] = 1_000,
    setting: Annotated[str, Setting] = "full",
    seed: Seed = 0,
    start: Annotated[int, typer.Option(min=0, help="Number of the first document.")] = 0,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the documents with all their facts to this file."),
    ] = None,
    format: FormatName = None,
    overwrite: Overwrite = False,
) -> None:
    """Generate documents whose complete facts are known. Any part of a corpus can be generated alone."""
    from unnoted.data.synthetic import generate_documents  # reads its grammar

    rule = fit_setting(setting, generate_documents(FITTED, seed))
    report = HideReport()
    labelled = hide_labels(generate_documents(documents, seed, start), rule, seed, report)
    outputs = [to, *([truth] if truth else [])]
    streamed = any(map(is_stream, outputs))
    with lock_output(*outputs, overwrite=overwrite):
        write_documents(to, labelled, format)
        print_text(
            f"{plural(report.documents, 'document')} written to {display_name(to)}: "
            f"{report.after.total():,} of {plural(report.before.total(), 'true fact')} labelled "
            f"({report.share:.2%})",
            err=streamed,
        )
        if truth is not None:
            write_documents(truth, generate_documents(documents, seed, start), format)
            print_text(f"documents with all facts written to {display_name(truth)}", err=streamed)
