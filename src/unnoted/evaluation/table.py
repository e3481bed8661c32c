"""An evaluation as text, in per cent as papers have it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from unnoted.common.errors import shown
from unnoted.evaluation.score import IgnScore, Score
from unnoted.evaluation.submission import Fault, Submission

if TYPE_CHECKING:
    from unnoted.evaluation.evaluate import Evaluation

Row: TypeAlias = tuple[str, ...]

HEADER: Row = ("", "F1", "P", "R", "correct", "predicted", "gold")


def text_table(
    evaluation: "Evaluation", per_relation: bool = False, names: Mapping[str, str] | None = None
) -> str:
    """The figures as aligned columns, and what is to be known about them as lines below.

    Args:
        evaluation: the figures.
        per_relation: also show each relation.
        names: readable names of relations.
    """
    rows = [HEADER, *_rows(evaluation)]
    if per_relation:
        rows.append(("each relation",))
        rows += [
            _row(f"  {_named(relation, names or {})}", score)
            for relation, score in evaluation.relations.items()
        ]
    return "\n".join([*_aligned(rows), "", *_remarks(evaluation)])


def _rows(evaluation: "Evaluation") -> Iterator[Row]:
    yield _row("all facts", evaluation.overall)
    if evaluation.ignoring_train is not None:
        yield _row("ignoring facts of train (Ign F1)", evaluation.ignoring_train)
    often = f"{len(evaluation.frequent_relations)} frequent relations"
    yield _row(often, evaluation.frequent)
    if evaluation.published is not None:
        yield _row("all facts, published denominator", evaluation.published.overall)
        yield _row(f"{often}, published denominator", evaluation.published.frequent)
    if evaluation.evidence is not None:
        yield _row("evidence sentences", evaluation.evidence)
    for distance, score in evaluation.distances.items():
        yield _row(str(distance), score)
    if evaluation.train_frequencies is not None:
        yield ("relations by facts in train",)
        for group, score in evaluation.train_frequencies.items():
            yield _row(f"  {group}", score)


def _row(name: str, score: Score | IgnScore) -> Row:
    figures = (name, *(f"{100 * value:.2f}" for value in (score.f1, score.precision, score.recall)))
    if isinstance(score, IgnScore):
        return figures
    return (*figures, *(f"{count:,}" for count in (score.correct, score.predicted, score.gold)))


def _named(relation: str, names: Mapping[str, str]) -> str:
    name = names.get(relation, relation)
    return relation if name == relation else f"{relation} {name}"


def _aligned(rows: Iterable[Row]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    filled = [row + ("",) * (len(HEADER) - len(row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    for name, *figures in filled:
        cells = [name.ljust(widths[0])]
        cells += [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()


def _remarks(evaluation: "Evaluation") -> Iterator[str]:
    submission = evaluation.submission
    yield (
        f"{evaluation.documents:,} documents; {len(submission.predictions):,} distinct predictions, "
        f"{submission.repeated:,} repeated ones left out"
    )
    yield f"frequent relations: {', '.join(evaluation.frequent_relations)}"
    if evaluation.ignoring_train is None:
        yield "no Ign F1 and nothing by frequency in train: no training documents were given"
    else:
        yield f"correct facts known from train: {evaluation.ignoring_train.correct_in_train:,}"
    yield from _curve_remarks(evaluation)
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
            f"highest F1 on the curve {100 * best.f1:.2f} at threshold {best.threshold:g} "
            "(chosen on the gold: a bound, not a result)"
        )


def _published_remarks(evaluation: "Evaluation") -> Iterator[str]:
    if (published := evaluation.published) is None:
        if evaluation.benchmark.has_published_denominator:
            yield "no published denominator: no training documents were given"
        return
    yield (
        f"the published denominator leaves out {published.facts_of_unseen_relations:,} facts of "
        f"{len(published.unseen_relations)} relations that train does not have, "
        f"{published.facts_of_shared_mentions:,} facts of entities that no mention names alone, "
        f"and {published.predictions_left_out:,} predictions of either"
    )


def _fault_remarks(submission: Submission) -> Iterator[str]:
    counts = Counter(submission.faults.values())
    for fault in Fault:
        if counts[fault]:
            title, head, tail, relation = submission.examples(fault)[0]
            yield (
                f"counted as wrong: {counts[fault]:,} × {fault.slug}: {fault.value}, "
                f"e.g. {shown(title)}, h_idx {head}, t_idx {tail}, r {shown(relation)}"
            )
