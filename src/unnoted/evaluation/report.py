"""An evaluation as a table of percentages, as papers print them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unnoted.evaluation.evaluator import Evaluation, Invalid, Predictions
from unnoted.evaluation.metrics import IgnScore, Score
from unnoted.utils import format_count, plural, short_repr, strip_control

Names = Mapping[str, str]


def format_evaluation(evaluation: Evaluation, per_relation: bool = False, names: Names | None = None) -> str:
    """The figures as aligned columns, and notes about them as lines below.

    Args:
        evaluation: the figures.
        per_relation: also show each relation.
        names: readable names of relations.
    """
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for title in ("F1", "P", "R", "correct", "predicted", "gold"):
        table.add_column(title, justify="right", no_wrap=True)

    def add_section(title: str, rows: Mapping[str, Score]) -> None:
        table.add_row()
        table.add_row(title)
        for name, score in rows.items():
            _add_row(table, f"  {name}", score)

    for name, score in _summary(evaluation):
        _add_row(table, name, score)
    if evaluation.train_frequencies:
        add_section("relations by facts in train", evaluation.train_frequencies)
    if per_relation:
        add_section(
            "each relation",
            {_named(relation, names or {}): score for relation, score in evaluation.relations.items()},
        )
    text = StringIO()
    Console(file=text, width=1000, color_system=None, markup=False, highlight=False).print(table)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return "\n".join([*lines, "", *_notes(evaluation)])


def _add_row(table: Table, name: str, score: Score | IgnScore) -> None:
    figures = [f"{100 * value:.2f}" for value in (score.f1, score.precision, score.recall)]
    counts = [score.correct, score.predicted, score.gold] if isinstance(score, Score) else []
    table.add_row(Text(strip_control(name)), *figures, *map(format_count, counts))


def _summary(evaluation: Evaluation) -> Iterator[tuple[str, Score | IgnScore]]:
    yield "all facts", evaluation.overall
    if evaluation.ignoring_train is not None:
        yield "ignoring facts of train (Ign F1)", evaluation.ignoring_train
    often = plural(len(evaluation.frequent_relations), "frequent relation")
    yield often, evaluation.frequent
    if evaluation.published is not None:
        yield "all facts, published denominator", evaluation.published.overall
        yield f"{often}, published denominator", evaluation.published.frequent
    if evaluation.evidence is not None:
        yield "evidence sentences", evaluation.evidence
    for distance, score in evaluation.distances.items():
        yield str(distance), score


def _named(relation: str, names: Names) -> str:
    name = names.get(relation, relation)
    return relation if name == relation else f"{relation} {name}"


def _notes(evaluation: Evaluation) -> Iterator[str]:
    predictions = evaluation.predictions
    yield (
        f"{plural(evaluation.documents, 'document')}; "
        f"{plural(len(predictions.by_key), 'distinct prediction')}, "
        f"{format_count(predictions.repeated)} repeated ones left out"
    )
    present = sum(score.gold > 0 for score in evaluation.relations.values())
    yield f"macro-F1 {100 * evaluation.macro_f1:.2f}, the mean over {plural(present, 'relation')} of the gold"
    yield f"frequent relations: {', '.join(evaluation.frequent_relations)}"
    if evaluation.ignoring_train is None:
        yield "no Ign F1 and no scores by frequency in train: no training documents were given"
    else:
        yield f"correct facts known from train: {format_count(evaluation.ignoring_train.correct_in_train)}"
    yield from _curve_notes(evaluation)
    for facts, reliability in (evaluation.reliability or {}).items():
        yield (
            f"calibration error {reliability.error:.3f} ({facts}: {plural(reliability.facts, 'fact')}, "
            f"mean score {reliability.mean:.3f}, fraction correct {reliability.correct:.3f})"
        )
    yield from _published_notes(evaluation)
    yield from _invalid_notes(predictions)


def _curve_notes(evaluation: Evaluation) -> Iterator[str]:
    curve = evaluation.curve
    if curve is None:
        yield "no average precision: the predictions have no scores"
        return
    yield (
        f"average precision {100 * curve.average_precision:.2f}; the curve ends at recall {100 * curve.end:.2f}"
    )
    if best := curve.best:
        yield (
            f"best F1 on the curve {100 * best.f1:.2f} at threshold {best.threshold:g} "
            "(chosen on the gold: a bound, not a result)"
        )


def _published_notes(evaluation: Evaluation) -> Iterator[str]:
    if (published := evaluation.published) is None:
        if evaluation.benchmark.has_published_denominator:
            yield "no published denominator: no training documents were given"
        return
    yield (
        f"the published denominator leaves out {plural(published.facts_of_unseen_relations, 'fact')} of "
        f"{plural(len(published.unseen_relations), 'relation')} that train does not have, "
        f"{plural(published.facts_of_shared_mentions, 'fact')} of entities without a mention of their own, "
        f"and {plural(published.predictions_left_out, 'prediction')} of either"
    )


def _invalid_notes(predictions: Predictions) -> Iterator[str]:
    counts = Counter(predictions.invalid.values())
    for problem in Invalid:
        if counts[problem]:
            title, head, tail, relation = predictions.examples(problem)[0]
            yield (
                f"counted as wrong: {format_count(counts[problem])} × {problem.slug}: {problem.value}, "
                f"e.g. {short_repr(title)}, h_idx {head}, t_idx {tail}, r {short_repr(relation)}"
            )
