"""The page of `unnoted demo`: what each method found, in figures, plots and drawn documents."""

from collections.abc import Sequence
from typing import TypeAlias

from unnoted.data.visualization import entity_types
from unnoted.evaluation import Score
from unnoted.experiments.demonstrate import Demonstration, MethodResult
from unnoted.experiments.tables import Column, Table, Value, counts, shares, words
from unnoted.report.drawing import draw_document, legend
from unnoted.report.judged_facts import judge
from unnoted.report.page import fill
from unnoted.report.plots import (
    MethodCurve,
    dumbbell_plot,
    parts_plot,
    precision_recall_plot,
    reliability_plot,
)
from unnoted.utils import duration, format_count, percent, signed

PARTS = ("labelled", "hidden, found", "hidden, missed")
NOTHING = Score(0, 0, 0)

RelationScores: TypeAlias = tuple[str, int, list[float]]
"""A relation's readable name, how many true facts it has, and the F1 of each method."""


def demo_page(demonstration: Demonstration) -> str:
    """The demonstration as an HTML page that needs nothing else.

    Raises:
        ValueError: the demonstration has no method.
    """
    methods = demonstration.methods
    if not methods:
        raise ValueError("methods: found none, expected at least one")
    titles, recovered = [each.title for each in methods], [each.recovered for each in methods]
    parts = [(demonstration.labelled, each.correct, each.gold - each.correct) for each in recovered]
    curves = [
        MethodCurve(each.title, [*zip(curve.recalls, curve.precisions, strict=True)] if curve else [], score)
        for each in methods
        for curve, score in [(each.evaluation.curve, each.evaluation.overall)]
    ]
    calibrated = [
        (f"{each.title}, {facts}", found)
        for each in methods
        for facts, found in (each.evaluation.reliability or {}).items()
    ]
    relations = relation_scores(demonstration)
    rows = [(f"{name} ({format_count(true)})", f1) for name, true, f1 in relations]
    types = entity_types(shown.document for shown in demonstration.shown)
    drawings = [
        (shown.document, judge(shown.document, shown.hidden, shown.extractions))
        for shown in demonstration.shown
    ]
    return fill(
        "demo",
        title="Learning from incomplete labels",
        demo=demonstration,
        titles=titles,
        methods=methods_table(methods),
        parts=parts_plot(
            list(zip(titles, parts, strict=True)), PARTS, "true facts of the training documents", "parts-plot"
        ),
        curves=precision_recall_plot(curves, "curves-plot"),
        reliability=reliability_plot(calibrated, "reliability-plot") if calibrated else None,
        without_curve=[curve.title for curve in curves if not curve.points],
        relations=relations_table(relations, titles),
        by_relation=dumbbell_plot(rows, titles, "F1", "relations-plot"),
        left_out=len({name for each in methods for name in each.evaluation.relations}) - len(relations),
        legend=legend(types),
        drawings=[
            draw_document(document, facts, demonstration.relation_names, number, types)
            for number, (document, facts) in enumerate(drawings, start=1)
        ],
    )


def relation_scores(demonstration: Demonstration) -> list[RelationScores]:
    """The relations that have true facts in the unseen documents."""
    scored = [method.evaluation.relations for method in demonstration.methods]
    true = {relation: score.gold for each in scored for relation, score in each.items() if score.gold}
    names = demonstration.relation_names
    return [
        (names.get(relation, relation), number, [each.get(relation, NOTHING).f1 for each in scored])
        for relation, number in true.items()
    ]


def methods_table(methods: Sequence[MethodResult]) -> Table:
    """Each method's scores on unseen documents, as decided and along its curve."""
    return Table.of(
        "Scores in % on unseen documents. Best F1: the highest F1 on the precision-recall curve, its "
        "threshold chosen on the labels of these documents: a bound, not a result. AP: average precision, "
        "the area under that curve. Bold: best of a column.",
        methods,
        {
            words("Method"): lambda method: method.title,
            shares("F1"): lambda method: method.evaluation.overall.f1,
            shares("Precision"): lambda method: method.evaluation.overall.precision,
            shares("Recall"): lambda method: method.evaluation.overall.recall,
            shares("Best F1"): lambda method: (
                best.f1 if (curve := method.evaluation.curve) and (best := curve.best) else None
            ),
            shares("AP"): lambda method: (
                curve.average_precision if (curve := method.evaluation.curve) else None
            ),
            counts("Correct"): lambda method: method.evaluation.overall.correct,
            counts("Predicted"): lambda method: method.evaluation.overall.predicted,
            Column("Training took", duration): lambda method: method.seconds,
        },
    )


def relations_table(relations: Sequence[RelationScores], titles: Sequence[str]) -> Table:
    """F1 of each relation that has true facts, and what each method gains over the first."""
    first, *others = titles
    columns = (
        *(words("Relation"), counts("True facts"), *(Column(title, percent) for title in titles)),
        *(Column(f"{title} − {first}", signed) for title in others),
    )
    rows: list[tuple[Value, ...]] = []
    for name, true, f1 in relations:
        written = [float(percent(share)) for share in f1]  # so that readers can check the differences
        rows.append((name, true, *f1, *(share - written[0] for share in written[1:])))
    return Table("F1 in % on unseen documents; differences in points.", columns, tuple(rows))
