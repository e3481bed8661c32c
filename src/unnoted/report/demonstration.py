"""The page of `unnoted demo`: what the demonstration came to, in figures, plots and drawn documents."""

from pathlib import Path

from markupsafe import Markup

from unnoted.evaluation import Score
from unnoted.experiments import Demonstration, MethodResult
from unnoted.report.breakdowns import distance_table, methods_table, recovery_table, relations_section
from unnoted.report.drawing import Drawing, entity_types, legend
from unnoted.report.formats import count, counted, percent, points
from unnoted.report.page import Headline, Page, Section, figure, joined, paragraphs
from unnoted.report.plots import MethodCurve, PartsRow, parts_plot, precision_recall_plot
from unnoted.report.states import judge


def render(demonstration: Demonstration) -> str:
    """The page as the text of an HTML file.

    Raises:
        ValueError: the demonstration has no method.
    """
    return page_of(demonstration).to_html()


def write(demonstration: Demonstration, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    page_of(demonstration).write(path)


def page_of(demonstration: Demonstration) -> Page:
    """The page in its parts."""
    if not demonstration.methods:
        raise ValueError("methods: found none, expected at least one")
    return Page(
        title="Learning from incomplete labels",
        lead=_lead(demonstration),
        headlines=tuple(map(_headline, demonstration.methods)),
        sections=(
            Section("done", "What was done", paragraphs(*_done(demonstration))),
            Section("methods", "On unseen documents", _methods(demonstration)),
            Section("recovered", "True facts never labelled, found all the same", _recovered(demonstration)),
            Section("curves", "Precision and recall", _curves(demonstration)),
            Section("relations", "By relation", relations_section(demonstration)),
            Section("distances", "Within and across sentences", distance_table(demonstration).to_html()),
            Section("documents", "Some of the training documents", _documents(demonstration)),
            Section("again", "Run it again", _again()),
        ),
    )


def _lead(demonstration: Demonstration) -> tuple[str, ...]:
    labelled, total = demonstration.labelled, demonstration.labelled + demonstration.hidden
    baseline, *others = demonstration.methods
    first = (
        f"The training documents hold {counted(total, 'true fact')}. "
        f"Only {count(labelled)} of them were labelled."
        if labelled < total
        else f"The training documents hold {counted(total, 'true fact')}, all of them labelled."
    )
    second = " ".join(_difference(method, baseline) for method in others)
    return (first, second) if second else (first,)


def _difference(method: MethodResult, baseline: MethodResult) -> str:
    f1, other = method.evaluation.overall.f1, baseline.evaluation.overall.f1
    both = f"On unseen documents {method.title} reaches an F1 of {percent(f1)}"
    difference = points(f1, other)
    if not difference:
        return f"{both}, the same as {baseline.title}."
    direction = "above" if difference > 0 else "below"
    return f"{both}: {abs(difference):.1f} points {direction} {baseline.title} ({percent(other)})."


def _headline(method: MethodResult) -> Headline:
    score = method.evaluation.overall
    details = (("precision", percent(score.precision)), ("recall", percent(score.recall)))
    return Headline(method.title, percent(score.f1), "F1", details)


def _done(demonstration: Demonstration) -> list[str]:
    labelled, hidden = demonstration.labelled, demonstration.hidden
    shares = Score(labelled, 0, labelled + hidden).recall
    titles = [method.title for method in demonstration.methods]
    several = len(titles) > 1
    return [
        f"{counted(demonstration.train_documents, 'document')} for training were generated, so that "
        f"everything true in them is known: {counted(labelled + hidden, 'fact')}. "
        f"{count(labelled)} of these ({percent(shares)}%) were left labelled. "
        f"The other {count(hidden)} ({percent(1 - shares)}%) were hidden.",
        f"{_listed(titles)} {'were' if several else 'was'} trained on what was left labelled: "
        f"{demonstration.encoder}, {counted(demonstration.epochs, 'epoch')}, seed {demonstration.seed}. "
        + (
            "All of this is the same for each method. Only the risk that is minimised differs. "
            if several
            else ""
        )
        + "A risk that needs priors was told that true facts are "
        f"{demonstration.prior_multiplier:g} times as frequent as labelled ones.",
        f"The trained {'models were' if several else 'model was'} then given "
        f"{counted(demonstration.test_documents, 'document')} "
        "not seen before, and scored against everything that is true in them. "
        "Names and sentences are generated, so the figures say nothing about other data.",
    ]


def _listed(titles: list[str]) -> str:
    """Titles in a sentence.

    Example:
        >>> _listed(["A"]), _listed(["A", "B"]), _listed(["A", "B", "C"])
        ('A', 'A and B', 'A, B and C')
    """
    return " and ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)


def _methods(demonstration: Demonstration) -> Markup:
    explained = (
        "Precision is the share of the stated facts that are true. Recall is the share of the true facts "
        "that are stated. F1 is the harmonic mean of the two."
    )
    baseline, ceiling = demonstration.methods[0].title, demonstration.complete
    compared = (
        f"For comparison: {baseline}, trained in the same way with nothing hidden, reaches an F1 of "
        f"{percent(ceiling.f1)} (precision {percent(ceiling.precision)}, recall {percent(ceiling.recall)})."
    )
    return joined([paragraphs(explained), methods_table(demonstration).to_html(), paragraphs(compared)])


def _recovered(demonstration: Demonstration) -> Markup:
    told = [_recovery(method) for method in demonstration.methods]
    rows = [
        PartsRow(
            method.title, (demonstration.labelled, recovered.correct, recovered.gold - recovered.correct)
        )
        for method in demonstration.methods
        for recovered in [method.recovered]
    ]
    parts = ("labelled", "hidden, found", "hidden, not found")
    plot = parts_plot(rows, parts, "true facts of the training documents", "recovered-plot")
    caption = (
        "The true facts of the training documents, and what each method found of those that were hidden."
    )
    return joined([paragraphs(*told), figure(plot, caption), recovery_table(demonstration).to_html()])


def _recovery(method: MethodResult) -> str:
    recovered = method.recovered
    if not recovered.predicted:
        return f"{method.title} states nothing in the training documents beyond what was labelled."
    return (
        f"{method.title} found {count(recovered.correct)} of the "
        f"{counted(recovered.gold, 'hidden fact')} ({percent(recovered.recall)}%). "
        f"Of the {counted(recovered.predicted, 'fact')} it states beyond the labels, "
        f"{percent(recovered.precision)}% {'is' if recovered.predicted == 1 else 'are'} true."
    )


def _curves(demonstration: Demonstration) -> Markup:
    methods = [
        MethodCurve(method.title, method.evaluation.curve, method.evaluation.overall)
        for method in demonstration.methods
    ]
    caption = (
        "Precision and recall on unseen documents at every threshold. The marker is where a method "
        "decides by itself. Along a faint line F1 is the same."
    )
    lacking = [method.title for method in methods if method.curve is None or not len(method.curve)]
    if lacking:
        caption += f" No curve for {_listed(lacking)}: there are no scored predictions."
    return figure(precision_recall_plot(methods, "curves-plot"), caption)


def _documents(demonstration: Demonstration) -> Markup:
    if not demonstration.shown:
        return paragraphs("No document was chosen to be shown.")
    types = entity_types(shown.document for shown in demonstration.shown)
    drawings = [
        Drawing(
            shown.document,
            judge(shown.document, shown.hidden, shown.extractions),
            tuple(shown.extractions),
            demonstration.relation_names,
            number,
            types,
        ).to_html()
        for number, shown in enumerate(demonstration.shown, start=1)
    ]
    explained = paragraphs(
        "Each entity of a text has a number, the same wherever it is named. Each fact goes from its head to "
        "its tail. Beside it stands the probability that each method gives: with ✓ or ✗ if the method states "
        "the fact, in brackets if it does not, – if it gives none. Point at a fact, or choose it, to see its "
        "head (solid frame), its tail (dashed frame) and its supporting sentences in the text."
    )
    return joined([explained, legend(types), *drawings])


def _again() -> Markup:
    return joined(
        [paragraphs("This page was written by the command"), Markup("<pre><code>unnoted demo</code></pre>")]
    )
