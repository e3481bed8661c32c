"""`unnoted data thin`: hide facts, to make a labelling level."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.common import (
    Files,
    FormatName,
    Overwrite,
    Seed,
    Strict,
    To,
    console,
    reports_errors,
    say,
    table,
    tell,
    tell_defects,
)
from unnoted.data.levels import LEVELS, level
from unnoted.data.loading import stream_documents
from unnoted.data.thinning import BIAS, PopularShare, Thinning, ThinningReport, UniformShare
from unnoted.data.thinning import thin as thin_documents
from unnoted.data.writing import write_documents
from unnoted.errors import DefectLog
from unnoted.io import is_stream, lock_output, rereadable
from unnoted.utils import plural, shorten


@reports_errors
def thin(
    files: Files,
    to: To,
    level_name: Annotated[
        str | None, typer.Option("--level", help=f"Labelling level of the paper: {', '.join(LEVELS)}.")
    ] = None,
    keep: Annotated[
        float | None, typer.Option(help="Share of the facts to keep, each equally likely.")
    ] = None,
    keep_popular: Annotated[
        float | None,
        typer.Option(help="Share of the facts to keep, preferring frequent relations and entities."),
    ] = None,
    bias: Annotated[
        float, typer.Option(min=0, help="How strongly --keep-popular prefers frequent facts; 0 is uniform.")
    ] = BIAS,
    seed: Seed = 0,
    format: FormatName = None,
    per_relation: Annotated[
        bool, typer.Option("--per-relation", help="Also count the facts of each relation.")
    ] = False,
    strict: Strict = False,
    overwrite: Overwrite = False,
) -> None:
    """Hide facts of a corpus: documents and entities stay, labels are removed."""
    report = ThinningReport()
    log = DefectLog(strict=strict)
    with lock_output(to, inputs=files, overwrite=overwrite), rereadable(files) as kept:
        rule = _rule(kept, level_name, keep, keep_popular, bias)
        documents = stream_documents(*kept, log=log)
        write_documents(to, thin_documents(documents, rule, seed, report), format)
    tell_defects(log)
    _tell(report, per_relation, is_stream(to))


def _tell(report: ThinningReport, per_relation: bool, err: bool) -> None:
    """Say what was hidden; on stderr if the documents went to stdout."""
    if not report.before:
        tell("note: the documents have no facts, so there was nothing to hide")
    before, after = report.before.total(), report.after.total()
    say(
        f"{plural(report.documents, 'document')}: {plural(before, 'fact')} before, "
        f"{after:,} kept ({report.share:.2%}), {before - after:,} hidden; "
        f"{after / max(report.documents, 1):.2f} facts per document",
        err=err,
    )
    if report.vanished:
        say(f"relations left without any fact: {shorten(', '.join(report.vanished), 1000)}", err=err)
    if per_relation:
        rows = table(None, "relation", "before", "kept", "share")
        for relation, count in report.before.most_common():
            kept = report.after[relation]
            rows.add_row(shorten(relation), f"{count:,}", f"{kept:,}", f"{kept / count:.1%}")
        console(err).print(rows)


def _rule(
    files: list[Path], name: str | None, keep: float | None, keep_popular: float | None, bias: float
) -> Thinning:
    given = [option for option in (name, keep, keep_popular) if option is not None]
    if len(given) != 1:
        raise ValueError(f"found {len(given)} of --level, --keep, --keep-popular, expected one of them")
    if keep is not None:
        return UniformShare(keep)
    if keep_popular is not None:
        return PopularShare.fit(stream_documents(*files), keep_popular, bias)
    return level(name or "", lambda: stream_documents(*files))
