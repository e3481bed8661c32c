"""`unnoted demo`: why it matters, in one command."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from unnoted.cli.common import console, reports_errors, table, tell
from unnoted.data.hide_labels import LABELLING_SETTINGS
from unnoted.io import open_output

if TYPE_CHECKING:  # loading torch takes seconds
    from unnoted.experiments.demonstrate import Demonstration

EXAMPLES = 8
"""How many facts are printed that were never labelled and were found."""

DemoFolder = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where everything goes.")]
TrainSize = Annotated[int, typer.Option(min=2, help="How many documents to learn from.")]
TestSize = Annotated[int, typer.Option(min=1, help="How many unseen documents to score on.")]
DemoEpochs = Annotated[int, typer.Option(min=1, help="Epochs per training.")]
Level = Annotated[str, typer.Option(help=f"Which labels are hidden: {', '.join(LABELLING_SETTINGS)}.")]
DemoSeed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=2**32 - 1, help="The random seed; the same seed gives the same result."
    ),
]
OverwriteDemo = Annotated[bool, typer.Option("--overwrite", help="Replace another demo in the folder.")]


@reports_errors
def demo(
    to: DemoFolder = Path("demo"),
    documents: TrainSize = 800,
    test_documents: TestSize = 200,
    epochs: DemoEpochs = 12,
    level: Level = "incomplete",
    seed: DemoSeed = 0,
    overwrite: OverwriteDemo = False,
) -> None:
    """Generate documents, hide most labels, train ATLOP, SSR-PU and `best`, and show what each finds.

    All train from the same new encoder, on the same labels, for the same steps, with the same seed. ATLOP and
    SSR-PU differ in their loss only; `best` is the recommended method, which also trains on two halves to
    draw its line. If it is interrupted, the same command continues.
    """
    from unnoted.experiments.demonstrate import DemoPlan, demonstrate
    from unnoted.report import demo_page

    plan = DemoPlan(documents, test_documents, level, epochs, seed)
    shown = demonstrate(to, plan, overwrite=overwrite, tell=tell)
    page = to / "report.html"
    with open_output(page) as stream:
        stream.write(demo_page(shown))
    out = console()
    out.print(_methods(shown), end="\n\n")
    for line in _examples(shown):
        out.print(escape(line), soft_wrap=True)
    out.print(f"\nreport: {page}", markup=False)
    out.print(f"also: unnoted predict {to / 'best'} {to / 'test.jsonl'}", markup=False)


def _methods(shown: "Demonstration") -> Table:
    title = (
        f"On {shown.test_documents:,} unseen documents with complete labels; "
        f"trained on {shown.labelled:,} labels where {shown.labelled + shown.hidden:,} facts are true"
    )
    columns = ("F1", "precision", "recall", "never labelled, found", "of them true", "seconds")
    rows = table(title, "", *columns)
    for loss in shown.methods:
        score, beyond = loss.evaluation.overall, loss.recovered
        figures = (f"{figure:.2%}" for figure in (score.f1, score.precision, score.recall))
        true = f"{beyond.correct:,} = {beyond.recall:.0%} of {beyond.gold:,}"
        rows.add_row(loss.title, *figures, f"{beyond.predicted:,}", true, f"{loss.seconds:.0f}")
    most = shown.complete
    figures = (f"{figure:.2%}" for figure in (most.f1, most.precision, most.recall))
    rows.add_row(f"{shown.methods[0].title}, nothing hidden", *figures, "", "", "")
    return rows


def _examples(shown: "Demonstration") -> Iterator[str]:
    """True facts of the shown training documents that were never labelled, found by the last loss."""
    title, found = shown.methods[-1].title, []
    for each in shown.shown:
        hidden = {fact.triple for fact in each.hidden}
        for fact in each.extractions[title].facts:
            if fact.decided and (fact.head, fact.tail, fact.relation) in hidden:
                found.append((fact, each.document))
    number = f"{min(EXAMPLES, len(found))} of {len(found)}"
    yield f"Never labelled, found by {title} in the first {len(shown.shown)} training documents ({number}):"
    for fact, document in found[:EXAMPLES]:
        head, tail = (document.entities[index].name for index in (fact.head, fact.tail))
        support = "; ".join(" ".join(document.sentences[sentence]) for sentence in fact.evidence)
        yield f"  {fact.score:.2f}  {head} | {shown.relation_names[fact.relation]} | {tail}   {support}"
