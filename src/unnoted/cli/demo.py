"""`unnoted demo`: why it matters, in one command."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from unnoted.cli.common import Seed, console, reports_errors, table
from unnoted.cli.predict import quieten_transformers
from unnoted.common.files import write_text
from unnoted.documents.levels import LEVELS

if TYPE_CHECKING:  # loading torch takes seconds
    from unnoted.experiments import Demonstration

EXAMPLES = 8
"""How many facts are printed that were never labelled and were found."""


@reports_errors
def demo(
    to: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="Where documents, models and the report go.")
    ] = Path("demo"),
    documents: Annotated[int, typer.Option(min=2, help="How many documents to learn from.")] = 800,
    test_documents: Annotated[int, typer.Option(min=1, help="How many unseen documents to score on.")] = 200,
    epochs: Annotated[int, typer.Option(min=1, help="Of each training.")] = 12,
    level: Annotated[str, typer.Option(help=f"Which labels are hidden: {', '.join(LEVELS)}.")] = "incomplete",
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the trainings of another demo in the folder.")
    ] = False,
) -> None:
    """Generate documents, hide most labels, train ATLOP and SSR-PU, and show what each finds.

    Both train from the same new encoder, on the same labels, for the same steps, with the same seed: only the
    risk differs. Interrupted, the same command goes on where it was.
    """
    from unnoted.experiments import DemoPlan, demonstrate
    from unnoted.report import demo_page

    quieten_transformers()
    plan = DemoPlan(documents, test_documents, level, epochs, seed)
    shown = demonstrate(to, plan, overwrite=overwrite, tell=lambda line: typer.echo(line, err=True))
    page = to / "report.html"
    with write_text(page) as stream:
        stream.write(demo_page(shown))
    out = console()
    out.print(_methods(shown))
    out.print()
    for line in _examples(shown):
        out.print(line, soft_wrap=True)
    out.print(f"\nreport: {page}", markup=False)
    out.print(f"also: unnoted predict {to / 'ssr-pu'} {to / 'test.jsonl'}", markup=False)


def _methods(shown: "Demonstration") -> Table:
    rows = table(
        f"On {shown.test_documents:,} unseen documents with complete labels; "
        f"trained on {shown.labelled:,} labels where {shown.labelled + shown.hidden:,} facts are true",
        "",
        "F1",
        "precision",
        "recall",
        "never labelled, found",
        "of them true",
        "seconds",
    )
    for loss in shown.methods:
        score, beyond = loss.evaluation.overall, loss.recovered
        rows.add_row(
            loss.title,
            f"{score.f1:.2%}",
            f"{score.precision:.2%}",
            f"{score.recall:.2%}",
            f"{beyond.predicted:,}",
            f"{beyond.correct:,} = {beyond.recall:.0%} of {beyond.gold:,}",
            f"{loss.seconds:.0f}",
        )
    ceiling = shown.complete
    figures = (f"{figure:.2%}" for figure in (ceiling.f1, ceiling.precision, ceiling.recall))
    rows.add_row(f"{shown.methods[0].title}, nothing hidden", *figures, "", "", "")
    return rows


def _examples(shown: "Demonstration") -> Iterator[str]:
    """True facts of the shown training documents that were never labelled, found by the last loss."""
    title = shown.methods[-1].title
    found = [
        (fact, document)
        for document in shown.shown
        for fact in document.extractions[title].facts
        if fact.decided
        and (fact.head, fact.tail, fact.relation) in {hidden.triple for hidden in document.hidden}
    ]
    yield (
        f"Never labelled, found by {title} in the first {len(shown.shown)} training documents "
        f"({min(EXAMPLES, len(found))} of {len(found)}):"
    )
    for fact, document in found[:EXAMPLES]:
        entities = document.document.entities
        names = " | ".join(
            (entities[fact.head].name, shown.relation_names[fact.relation], entities[fact.tail].name)
        )
        support = "; ".join(" ".join(document.document.sentences[number]) for number in fact.evidence)
        yield escape(f"  {fact.probability:.2f}  {names}   {support}")
