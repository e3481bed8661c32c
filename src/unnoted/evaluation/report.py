"""An evaluation as a table of percentages, as papers print them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unnoted.evaluation.evaluator import Evaluation, Invalid
from unnoted.evaluation.metrics import IgnScore, Score
from unnoted.utils import format_count, plural, short_repr, strip_control


def format_evaluation(
    evaluation: Evaluation, per_relation: bool = False, names: Mapping[str, str] | None = None
) -> str:
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

    def add(name: str, score: Score | IgnScore | None) -> None:
        if score is not None:
            figures = [f"{100 * value:.2f}" for value in (score.f1, score.precision, score.recall)]
            counts = [score.correct, score.predicted, score.gold] if isinstance(score, Score) else []
            table.add_row(Text(strip_control(name)), *figures, *map(format_count, counts))

    def add_section(title: str, rows: Mapping[str, Score]) -> None:
        table.add_row()
        table.add_row(title)
        for name, score in rows.items():
            add(f"  {name}", score)

    often, published = plural(len(evaluation.frequent_relations), "frequent relation"), evaluation.published
    add("all facts", evaluation.overall)
    add("ignoring facts of train (Ign F1)", evaluation.ignoring_train)
    add(often, evaluation.frequent)
    if published is not None:
        add("all facts, published denominator", published.overall)
        add(f"{often}, published denominator", published.frequent)
    add("evidence sentences", evaluation.evidence)
    for distance, score in evaluation.distances.items():
        add(str(distance), score)
    if evaluation.train_frequencies:
        add_section("relations by facts in train", evaluation.train_frequencies)
    if per_relation:
        rows = {}
        for relation, score in evaluation.relations.items():
            name = (names or {}).get(relation, relation)
            rows[relation if name == relation else f"{relation} {name}"] = score
        add_section("each relation", rows)
    text = StringIO()
    Console(file=text, width=1000, color_system=None, markup=False, highlight=False).print(table)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return "\n".join([*lines, "", *_notes(evaluation)])


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
    if (ign := evaluation.ignoring_train) is None:
        yield "no Ign F1 and no scores by frequency in train: no training documents were given"
    else:
        yield f"correct facts known from train: {format_count(ign.correct_in_train)}"
    if (curve := evaluation.curve) is None:
        yield "no average precision: the predictions have no scores"
    else:
        area, end = 100 * curve.average_precision, 100 * curve.end
        yield f"average precision {area:.2f}; the curve ends at recall {end:.2f}"
        if best := curve.best:
            yield (
                f"best F1 on the curve {100 * best.f1:.2f} at threshold {best.threshold:g} "
                "(chosen on the gold: a bound, not a result)"
            )
    for facts, reliability in (evaluation.reliability or {}).items():
        yield (
            f"calibration error {reliability.error:.3f} ({facts}: {plural(reliability.facts, 'fact')}, "
            f"mean score {reliability.mean:.3f}, fraction correct {reliability.correct:.3f})"
        )
    if (published := evaluation.published) is not None:
        yield (
            f"the published denominator leaves out {plural(published.facts_of_unseen_relations, 'fact')} of "
            f"{plural(len(published.unseen_relations), 'relation')} that train does not have, "
            f"{plural(published.facts_of_shared_mentions, 'fact')} of entities without a mention of their own, "
            f"and {plural(published.predictions_left_out, 'prediction')} of either"
        )
    elif evaluation.benchmark.has_published_denominator:
        yield "no published denominator: no training documents were given"
    counts = Counter(predictions.invalid.values())
    for problem in Invalid:
        if counts[problem]:
            title, head, tail, relation = predictions.examples(problem)[0]
            yield (
                f"counted as wrong: {format_count(counts[problem])} × {problem.slug}: {problem.value}, "
                f"e.g. {short_repr(title)}, h_idx {head}, t_idx {tail}, r {short_repr(relation)}"
            )
