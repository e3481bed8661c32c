"""`unnoted suggest`: which labels are missing?"""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.common import Vocabulary, console, reports_errors, stops_with, table, tell
from unnoted.io import check_output
from unnoted.suggestions import SuggestionSet
from unnoted.utils import format_count, plural, shorten

SHOWN = 10
"""Relations of which the command prints how many labels are missing."""

Labelled = Annotated[
    Path, typer.Argument(metavar="FILE", help="Documents with some of their facts labelled.")
]
SuggestionsTo = Annotated[
    Path,
    typer.Option("--to", metavar="FILE", help="What to write: .jsonl for `unnoted review`, .csv or .html."),
]
FoldConfig = Annotated[
    str, typer.Option(metavar="CONFIG", help="Settings of the models that are trained for the scores.")
]
FoldEncoder = Annotated[
    str | None, typer.Option(metavar="ENCODER", help="Their encoder: a folder, or a name on the hub.")
]
Folds = Annotated[
    int | None, typer.Option(min=2, help="Parts; each is judged by a model that is trained on the others.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Folds that are trained at a time.")]
Repeats = Annotated[int, typer.Option(min=1, help="Make all folds so many times and take the mean.")]
FoldFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep the folds here: the same command continues them.")
]
Anew = Annotated[bool, typer.Option("--overwrite", help="Remove another run in that folder.")]
UnseeingModel = Annotated[
    Path | None, typer.Option(metavar="MODEL", help="A trained model that never saw FILE, instead of folds.")
]
ReadyScores = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Out-of-fold scores of FILE, instead of folds.")
]
Told = Annotated[
    float | None, typer.Option(help="True facts per labelled fact; estimated if it is not told.")
]
AtLeast = Annotated[float, typer.Option(min=0.0, max=1.0, help="The lowest probability that is listed.")]
Limit = Annotated[int, typer.Option(min=1, help="Suggestions at most.")]
Doubtful = Annotated[int, typer.Option(min=0, help="Labelled facts that look wrong, at most.")]
FoldChanges = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change any other setting; may be repeated."),
]


@reports_errors
def suggest(
    file: Labelled,
    to: SuggestionsTo,
    config: FoldConfig = "best",
    encoder: FoldEncoder = None,
    folds: Folds = None,
    jobs: Jobs = 1,
    repeats: Repeats = 1,
    output: FoldFolder = None,
    overwrite: Anew = False,
    model: UnseeingModel = None,
    scores: ReadyScores = None,
    prior_multiplier: Told = None,
    vocabulary: Vocabulary = None,
    at_least: AtLeast = 0.01,
    limit: Limit = 200_000,
    doubtful: Doubtful = 200,
    changes: FoldChanges = None,
) -> None:
    """Suggest facts that nobody noted, and say how many labels are missing.

    Every document is judged by models that never saw its labels.
    An example: unnoted suggest own.jsonl --encoder FOLDER --folds 5 --to suggestions.jsonl
    """
    check_output(to, [path for path in (file, model, scores) if path is not None])
    kept = "; the same command continues" if output else ""
    with stops_with(f"interrupted; nothing was written{kept}"):
        # Here, because they load torch, which the other commands need not wait for.
        from unnoted.suggestions.listing import ListLimits
        from unnoted.suggestions.suggesting import suggest as suggested
        from unnoted.training.settings import parse_changes

        found = suggested(
            file, config=config, encoder=encoder, folds=folds, jobs=jobs, repeats=repeats, output=output,
            overwrite=overwrite, model=model, scores=scores, prior_multiplier=prior_multiplier,
            vocabulary=vocabulary, changes=parse_changes(changes or []),
            limits=ListLimits(at_least, limit, doubtful), tell=tell,
        )  # fmt: skip
        found.export(to)
    _print(found, to)


def _print(found: SuggestionSet, to: Path) -> None:
    if found.missing:
        title = "Labels that are thought to be missing"
        rows = table(title, "relation", "name", "labelled", "missing", "low", "high", text=2)
        for each in found.missing[:SHOWN]:
            figures = (f"{number:,.0f}" for number in (each.missing, each.low, each.high))
            name = found.relations[each.relation][0]
            rows.add_row(shorten(each.relation), shorten(name), format_count(each.labelled), *figures)
        console().print(rows)
    suggested = sum(not each.labelled for each in found.suggestions)
    doubted = plural(len(found.suggestions) - suggested, "labelled fact")
    typer.echo(
        f"{plural(suggested, 'suggestion')} and {doubted} that look wrong are in {to}; "
        f"{format_count(found.unlisted.candidates)} less probable ones are not"
    )
