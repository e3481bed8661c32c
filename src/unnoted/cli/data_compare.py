"""`unnoted data compare`: which facts does one labelling miss that another has?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.common import (
    AsJSON,
    Vocabulary,
    console,
    json_text,
    read_vocabulary,
    reports_errors,
    say,
    table,
    tell,
    tell_defects,
)
from unnoted.data.comparison import LabellingComparison, RelationComparison
from unnoted.data.comparison import compare as compare_labellings
from unnoted.data.loading import load_documents
from unnoted.io import TextInput
from unnoted.utils import shorten, strip_control


@reports_errors
def compare(
    a: Annotated[Path, typer.Argument(help="Documents with labelling A, the incomplete one.")],
    b: Annotated[Path, typer.Argument(help="The same documents with labelling B, the more complete one.")],
    vocabulary: Vocabulary = None,
    as_json: AsJSON = False,
) -> None:
    """Compare two labellings of the same documents: how many facts of B are missing in A?"""
    names = read_vocabulary(vocabulary)
    corpora = [load_documents(path, vocabulary=names) for path in (a, b)]
    for path, corpus in zip((a, b), corpora, strict=True):
        tell_defects(corpus.log)
        if not any(document.facts for document in corpus):
            tell(f"note: {TextInput(path).name}: its documents have no facts")
    result = compare_labellings(*corpora)
    if as_json:
        say(json_text(_as_json(result)))
        return
    out = console()
    rows = table(
        None, "relation", "name", "in A", "in B", "in both", "missed by A", "only in A", "B ÷ A", text=2
    )
    for row in (result.overall, *result.relations):
        name = names.name(row.relation) if names and row.relation in names else ""
        rows.add_row(shorten(row.relation), shorten(name), *_figures(row))
    out.print(rows)
    _print_documents(result)


def _figures(row: RelationComparison) -> list[str]:
    ratio = "none in A" if row.ratio is None else f"{row.ratio:.2f}"
    counts = (row.in_a, row.in_b, row.in_both, row.missed, row.only_a)
    return [*(f"{count:,}" for count in counts), ratio]


def _print_documents(result: LabellingComparison) -> None:
    out = console()
    ratios = [row.ratio for row in result.relations if row.ratio is not None]
    if ratios:
        out.print(
            f"\nB ÷ A by relation: {min(ratios):.2f} to {max(ratios):.2f}, median {result.median_ratio:.2f}"
        )
    out.print(f"documents compared: {result.compared:,}")
    for reason, documents in _left_out(result).items():
        if documents:
            first = ", ".join(strip_control(shorten(document, 60)) for document in documents[:5])
            rest = ", …" if len(documents) > 5 else ""
            out.print(f"not compared, {reason}: {len(documents):,} ({first}{rest})", markup=False)


def _left_out(result: LabellingComparison) -> dict[str, list[str]]:
    return {
        "entities differ": result.entities_differ,
        "words differ": result.words_differ,
        "only in A": result.only_in_a,
        "only in B": result.only_in_b,
    }


def _as_json(result: LabellingComparison) -> dict[str, Any]:
    rows = [
        {
            "relation": row.relation,
            "in_a": row.in_a,
            "in_b": row.in_b,
            "in_both": row.in_both,
            "missed": row.missed,
            "only_a": row.only_a,
            "ratio": row.ratio,
        }
        for row in (result.overall, *result.relations)
    ]
    return {
        "documents_compared": result.compared,
        "not_compared": {reason.replace(" ", "_"): names for reason, names in _left_out(result).items()},
        "overall": rows[0],
        "median_ratio": result.median_ratio,
        "relations": rows[1:],
    }
