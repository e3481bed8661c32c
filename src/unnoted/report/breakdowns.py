"""The demonstration's figures as tables: each method overall, what it recovered, by relation, by distance."""

from collections.abc import Mapping

from markupsafe import Markup

from unnoted.evaluation import Score
from unnoted.evaluation.breakdowns import Distance
from unnoted.experiments import Demonstration
from unnoted.report.formats import count, counted, points
from unnoted.report.page import figure, folded, joined, paragraphs
from unnoted.report.plots import DumbbellRow, dumbbell_plot
from unnoted.report.tables import Column, Table, Value, counts, differences, durations, shares, words

NOTHING = Score(0, 0, 0)


def methods_table(demonstration: Demonstration) -> Table:
    """Each method's scores on unseen documents."""
    rows = [
        (
            method.title,
            score.f1,
            score.precision,
            score.recall,
            score.correct,
            score.predicted,
            method.seconds,
        )
        for method in demonstration.methods
        for score in [method.evaluation.overall]
    ]
    true = demonstration.methods[0].evaluation.overall.gold
    return Table(
        f"Scores in per cent on {counted(demonstration.test_documents, 'unseen document')} with "
        f"{counted(true, 'true fact')}. Bold: the best of a column.",
        (
            words("Method"),
            shares("F1"),
            shares("Precision"),
            shares("Recall"),
            counts("Correct"),
            counts("Stated"),
            durations("Training took"),
        ),
        tuple(rows),
    )


def recovery_table(demonstration: Demonstration) -> Table:
    """What each method found of what had been hidden."""
    rows = [
        (
            method.title,
            method.recovered.correct,
            method.recovered.recall if method.recovered.gold else None,
            method.recovered.predicted,
            method.recovered.precision if method.recovered.predicted else None,
        )
        for method in demonstration.methods
    ]
    return Table(
        f"Facts stated in the training documents beyond the {count(demonstration.labelled)} labelled ones, "
        f"against the {count(demonstration.hidden)} hidden ones.",
        (
            words("Method"),
            counts("Hidden facts found"),
            shares("Share of hidden (%)"),
            counts("Stated beyond the labels"),
            shares("Of these true (%)"),
        ),
        tuple(rows),
    )


def distance_table(demonstration: Demonstration) -> Table:
    """Each method's scores within and across sentences."""
    evaluations = [method.evaluation for method in demonstration.methods]
    distances = [distance for distance in Distance if any(distance in each.distances for each in evaluations)]
    columns: list[Column] = [words("Method")]
    for distance in distances:
        name = str(distance).capitalize()
        columns += [shares(figure, group=name) for figure in ("F1", "Precision", "Recall")]
    rows: list[tuple[Value, ...]] = []
    for method in demonstration.methods:
        scores = [method.evaluation.distances.get(distance, NOTHING) for distance in distances]
        figures = [value for score in scores for value in (score.f1, score.precision, score.recall)]
        rows.append((method.title, *figures))
    true = "; ".join(
        f"{distance}: {counted(evaluations[0].distances.get(distance, NOTHING).gold, 'true fact')}"
        for distance in distances
    )
    return Table(
        "Scores in per cent on unseen documents, by whether head and tail of a fact are ever named in one "
        f"sentence ({true}).",
        tuple(columns),
        tuple(rows),
    )


def relations_section(demonstration: Demonstration) -> Markup:
    """F1 of each relation: a plot, and the same figures as a table."""
    scores = [method.evaluation.relations for method in demonstration.methods]
    true = {relation: score.gold for each in scores for relation, score in each.items() if score.gold}
    if not true:
        return paragraphs("No relation has a true fact in the unseen documents.")
    names = {relation: demonstration.relation_names.get(relation, relation) for relation in true}
    rows = [
        DumbbellRow(
            f"{names[relation]} ({count(true[relation])})",
            tuple(each.get(relation, NOTHING).f1 for each in scores),
        )
        for relation in true
    ]
    titles = [method.title for method in demonstration.methods]
    caption = "F1 on unseen documents for each relation. In brackets, how many true facts there are."
    left_out = {relation for each in scores for relation in each} - true.keys()
    if left_out:
        caption += f" Left out: {counted(len(left_out), 'relation')} without a true fact there."
    return joined(
        [
            figure(dumbbell_plot(rows, titles, "F1", "relations-plot"), caption),
            folded("The same as a table", _relations_table(titles, names, true, scores).to_html()),
        ]
    )


def _relations_table(
    titles: list[str], names: Mapping[str, str], true: Mapping[str, int], scores: list[Mapping[str, Score]]
) -> Table:
    others = titles[1:]
    columns = [words("Relation"), counts("True facts"), *(shares(title, best=None) for title in titles)]
    columns += [differences(f"{title} − {titles[0]}") for title in others]
    rows: list[tuple[Value, ...]] = []
    for relation, number in true.items():
        f1 = [each.get(relation, NOTHING).f1 for each in scores]
        rows.append((names[relation], number, *f1, *(points(value, f1[0]) for value in f1[1:])))
    caption = "F1 in per cent on unseen documents" + ("; differences in points." if others else ".")
    return Table(caption, tuple(columns), tuple(rows))
