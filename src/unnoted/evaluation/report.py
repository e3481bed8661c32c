"""An evaluation as a table of percentages, as papers print them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unnoted.evaluation.evaluator import Evaluation, Invalid
from unnoted.evaluation.incomplete import CorrectedScores, Figures
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

    def add(name: str, score: Score | IgnScore | Figures | None) -> None:
        if score is not None:
            figures = [f"{100 * value:.2f}" for value in (score.f1, score.precision, score.recall)]
            counts = [score.correct, score.predicted, score.gold] if isinstance(score, Score) else []
            table.add_row(Text(strip_control(name)), *figures, *map(format_count, counts))

    def add_section(title: str, rows: Mapping[str, Score | Figures]) -> None:
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
    if evaluation.corrected is not None:
        add_section("estimated for complete gold", _corrected_rows(evaluation.corrected))
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
    corrected = [] if evaluation.corrected is None else ["", *_corrected_notes(evaluation.corrected)]
    return "\n".join([*lines, *corrected, "", *_notes(evaluation)])


def _corrected_rows(corrected: CorrectedScores) -> dict[str, Figures]:
    frequency = corrected.label_frequency
    if corrected.favour is None:
        estimate = f"label frequency {frequency.estimate:.3g}" + ", by relation" * bool(frequency.relations)
    else:
        estimate = "from checked predictions"
    rows = {
        estimate: corrected.estimate,
        "  lower end, 95 %": corrected.low,
        "  upper end, 95 %": corrected.high,
    }
    rows |= {f"  label frequency {share:.3g}": figures for share, figures in corrected.by_label_frequency}
    for favour, figures in corrected.by_favour:
        rows[f"  predicted facts labelled {favour:g} times as often"] = figures
    return rows | {"  at least, whatever was labelled": corrected.least, "  at most": corrected.most}


def _corrected_notes(corrected: CorrectedScores) -> Iterator[str]:
    frequency = corrected.label_frequency
    how = (
        f"{frequency.low:.3g} to {frequency.high:.3g}" if frequency.low < frequency.high else "taken as exact"
    )
    each = "each relation has its own" if frequency.relations else how
    if corrected.favour is None:
        yield (
            f"estimated for complete gold: of all true facts {100 * frequency.estimate:.3g} % are labelled ({each}); "
            "assumes that labels are right, and that a true fact is labelled equally often whether or not it is "
            "predicted. Labels usually favour what is predicted, and figures are then too high: check some predictions "
            "(--checked)"
        )
        if corrected.excess > 1:
            yield (
                f"warning: that would make {corrected.excess:.2f} true facts of each prediction, so it cannot hold: "
                "gold is more complete, or labels favour what is predicted; check some predictions "
                "(docs/guides/troubleshooting.md#favoured)"
            )
    else:
        yield (
            f"estimated for complete gold: precision from checked predictions, {100 * frequency.estimate:.3g} % of "
            f"all true facts labelled ({each}); predicted facts are labelled {corrected.favour:.2f} times as often "
            "as all true facts"
        )
    yield (
        f"about {corrected.true_predictions:,.0f} predictions hold, of about {corrected.true_facts:,.0f} true facts; "
        f"macro-F1 {100 * corrected.macro_f1:.2f}"
    )
    figures = [each.average_precision for each in (corrected.estimate, corrected.low, corrected.high)]
    if None not in figures:
        area, low, high = (100 * (figure or 0.0) for figure in figures)
        yield f"average precision, estimated for complete gold: {area:.2f} ({low:.2f} to {high:.2f})"


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
    if 0 < counts[Invalid.UNKNOWN_DOCUMENT] == len(predictions.by_key):
        yield "no prediction is about a document of the gold: are both of the same documents?"
    if 2 * counts[Invalid.UNKNOWN_RELATION] > len(predictions.by_key):
        known = ", ".join(short_repr(relation) for relation in list(evaluation.relations)[:3])
        yield f"most predictions are of relations that do not exist; the gold's are called {known}, …"
