"""An evaluation as a table of percentages, as papers print them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from unnoted.evaluation.score import IgnScore, Score
from unnoted.evaluation.submission import Fault, Submission
from unnoted.experiments.tables import Column, Table, Value, counts, words
from unnoted.utils import format_count, plural, short_repr

if TYPE_CHECKING:
    from unnoted.evaluation.figures import Evaluation

Row: TypeAlias = tuple[Value, ...]

COLUMNS = (
    words(""),
    *(Column(title, lambda share: f"{100 * share:.2f}") for title in ("F1", "P", "R")),
    *(counts(title) for title in ("correct", "predicted", "gold")),
)


def text_table(
    evaluation: "Evaluation", per_relation: bool = False, names: Mapping[str, str] | None = None
) -> str:
    """The figures as aligned columns, and remarks about them as lines below.

    Args:
        evaluation: the figures.
        per_relation: also show each relation.
        names: readable names of relations.
    """
    rows = [("", row) for row in _rows(evaluation)]
    rows += [
        ("relations by facts in train", _row(group, score))
        for group, score in (evaluation.train_frequencies or {}).items()
    ]
    if per_relation:
        rows += [
            ("each relation", _row(_named(relation, names or {}), score))
            for relation, score in evaluation.relations.items()
        ]
    return Table(
        caption="",
        columns=COLUMNS,
        rows=tuple(row for _, row in rows),
        row_groups=tuple(heading for heading, _ in rows),
        notes=(("", tuple(_remarks(evaluation))),),
    ).text()


def _rows(evaluation: "Evaluation") -> Iterator[Row]:
    yield _row("all facts", evaluation.overall)
    if evaluation.ignoring_train is not None:
        yield _row("ignoring facts of train (Ign F1)", evaluation.ignoring_train)
    often = plural(len(evaluation.frequent_relations), "frequent relation")
    yield _row(often, evaluation.frequent)
    if evaluation.published is not None:
        yield _row("all facts, published denominator", evaluation.published.overall)
        yield _row(f"{often}, published denominator", evaluation.published.frequent)
    if evaluation.evidence is not None:
        yield _row("evidence sentences", evaluation.evidence)
    for distance, score in evaluation.distances.items():
        yield _row(str(distance), score)


def _row(name: str, score: Score | IgnScore) -> Row:
    figures = (name, score.f1, score.precision, score.recall)
    if isinstance(score, IgnScore):
        return (*figures, "", "", "")
    return (*figures, score.correct, score.predicted, score.gold)


def _named(relation: str, names: Mapping[str, str]) -> str:
    name = names.get(relation, relation)
    return relation if name == relation else f"{relation} {name}"


def _remarks(evaluation: "Evaluation") -> Iterator[str]:
    submission = evaluation.submission
    yield (
        f"{plural(evaluation.documents, 'document')}; "
        f"{plural(len(submission.predictions), 'distinct prediction')}, "
        f"{format_count(submission.repeated)} repeated ones left out"
    )
    present = sum(score.gold > 0 for score in evaluation.relations.values())
    macro = 100 * evaluation.macro_f1
    yield f"macro-F1 {macro:.2f}, the mean over {plural(present, 'relation')} of the gold"
    yield f"frequent relations: {', '.join(evaluation.frequent_relations)}"
    if evaluation.ignoring_train is None:
        yield "no Ign F1 and nothing by frequency in train: no training documents were given"
    else:
        yield f"correct facts known from train: {format_count(evaluation.ignoring_train.correct_in_train)}"
    yield from _curve_remarks(evaluation)
    for facts, found in (evaluation.reliability or {}).items():
        yield (
            f"calibration error {found.error:.3f} ({facts}: {plural(found.facts, 'fact')}, mean probability "
            f"{found.mean:.3f}, {found.share:.3f} true)"
        )
    yield from _published_remarks(evaluation)
    yield from _fault_remarks(submission)


def _curve_remarks(evaluation: "Evaluation") -> Iterator[str]:
    curve = evaluation.curve
    if curve is None:
        yield "no average precision: the predictions have no scores"
        return
    area, end = 100 * curve.average_precision, 100 * curve.end
    yield f"average precision {area:.2f}; the curve ends at recall {end:.2f}"
    if best := curve.best:
        yield (
            f"best F1 on the curve {100 * best.f1:.2f} at threshold {best.threshold:g} "
            "(chosen on the gold: a bound, not a result)"
        )


def _published_remarks(evaluation: "Evaluation") -> Iterator[str]:
    if (published := evaluation.published) is None:
        if evaluation.benchmark.has_published_denominator:
            yield "no published denominator: no training documents were given"
        return
    yield (
        f"the published denominator leaves out {plural(published.facts_of_unseen_relations, 'fact')} of "
        f"{plural(len(published.unseen_relations), 'relation')} that train does not have, "
        f"{plural(published.facts_of_shared_mentions, 'fact')} of entities that no mention names alone, "
        f"and {plural(published.predictions_left_out, 'prediction')} of either"
    )


def _fault_remarks(submission: Submission) -> Iterator[str]:
    faults = Counter(submission.faults.values())
    for fault in Fault:
        if faults[fault]:
            title, head, tail, relation = submission.examples(fault)[0]
            yield (
                f"counted as wrong: {format_count(faults[fault])} × {fault.slug}: {fault.value}, "
                f"e.g. {short_repr(title)}, h_idx {head}, t_idx {tail}, r {short_repr(relation)}"
            )
