"""`unnoted suggest`: which labels are missing?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel

from unnoted.cli.options import (
    Changes,
    Encoder,
    Multiplier,
    Rules,
    Vocabulary,
    console,
    handle_errors,
    log,
    on_interrupt,
    table,
)
from unnoted.io import lock_output
from unnoted.suggestions import SuggestionSet
from unnoted.utils import format_count, plural, short_repr, shorten

SHOWN_RELATIONS = 10


@handle_errors
def suggest(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Documents with some of their facts labelled.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="FILE", help="Output: .jsonl for `unnoted review`, .csv or .html.")
    ],
    config: Annotated[str, typer.Option(metavar="CONFIG", help="Of the models that are trained.")] = "best",
    encoder: Encoder = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Parts; each is scored by a model that is trained on the others."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Folds that are trained at a time; by default, one for each core."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Train all folds so often; scores are averaged.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the folds here: the same command continues them."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove another run in that folder.")
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A trained model that never saw FILE, instead of folds."),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Out-of-fold scores of FILE, instead of folds.")
    ] = None,
    prior_multiplier: Multiplier = None,
    rules: Rules = None,
    vocabulary: Vocabulary = None,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The lowest score that is listed.")
    ] = 0.01,
    limit: Annotated[int, typer.Option(min=1, help="Suggestions at most.")] = 200_000,
    label_errors: Annotated[int, typer.Option(min=0, help="Labelled facts that look wrong, at most.")] = 200,
    changes: Changes = None,
) -> None:
    """Suggest facts that are probably missing from the labels, and estimate how many are.

    Every document is scored by models that never saw its labels.
    An example: unnoted suggest own.jsonl --encoder FOLDER --to suggestions.jsonl
    """
    read = [path for path in (file, model, scores, rules, vocabulary) if path is not None]
    kept = "; the same command continues" if output else ""
    with lock_output(to, inputs=read), on_interrupt(f"interrupted; nothing was written{kept}"):
        # Here, because they load torch, which the other commands need not wait for.
        from unnoted.suggestions.suggest import suggest as run
        from unnoted.training.config import parse_changes

        changed = parse_changes(changes or []) | ({} if rules is None else {"rules": str(rules)})
        found = run(
            file, config=config, encoder=encoder, folds=folds, jobs=jobs, repeats=repeats, output=output,
            overwrite=overwrite, model=model, scores=scores, prior_multiplier=prior_multiplier,
            vocabulary=vocabulary, changes=changed, min_score=min_score, max_suggestions=limit,
            max_label_errors=label_errors, log=log,
        )  # fmt: skip
        found.export(to)
    _print(found, to)


def _print(found: SuggestionSet, to: Path) -> None:
    if found.is_rough:
        out = Console(stderr=True)
        out.print(
            Panel(
                f"[bold]ONLY {plural(found.labels, 'label').upper()}: SCORES ARE ROUGH.[/bold]\n"
                "A review begins in random order, which needs no good scores.",
                expand=False,
            )
        )
    if found.duplicates:
        name, pairs = next(iter(found.duplicates.items()))
        entities = found.documents[name].entities
        one, other = (short_repr(entities[index].name) for index in pairs[0])
        count = plural(sum(map(len, found.duplicates.values())), "pair")
        log(
            f"note: {count} of entities may be one each, such as {one} and {other} in {short_repr(name)}: "
            "merge them in the review (key M)"
        )
    if found.missing:
        title = "Estimated missing labels (90 % interval)"
        rows = table(title, "relation", "name", "labelled", "missing", "low", "high", text=2)
        for each in found.missing[:SHOWN_RELATIONS]:
            figures = (f"{number:,.0f}" for number in (each.missing, each.low, each.high))
            name = found.relations[each.relation][0]
            rows.add_row(shorten(each.relation), shorten(name), format_count(each.labelled), *figures)
        console().print(rows)
    suggested = sum(not each.labelled for each in found.suggestions)
    errors = plural(len(found.suggestions) - suggested, "labelled fact")
    typer.echo(
        f"{plural(suggested, 'suggestion')} and {errors} that look wrong are in {to}; "
        f"{format_count(found.below_cutoff.candidates)} with lower scores are not"
    )
