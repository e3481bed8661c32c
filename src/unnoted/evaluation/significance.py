"""A paired bootstrap over documents and seeds: is one system better than another?

Facts of one document are not independent, so documents are resampled. Both systems are scored on the same
resample each time, so that easy and hard resamples cancel in their difference.

Where a system was trained with several seeds, its runs are resampled too. Of r runs, r - 1 are drawn: the mean
of so many has the variance of the mean of r new runs, while r draws would understate it. Systems with equally
many runs share these draws, so that runs of the same seed are compared with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unnoted.evaluation.metrics import IGN_SLACK, IgnScore, Score
from unnoted.utils import short_repr

DocumentScores: TypeAlias = Mapping[str, Score] | Mapping[str, IgnScore]
"""The score of each document by its id: of one run."""

TIE = 1e-9
"""Points by which equal figures may differ, because they were added up in another order."""

BLOCK = 500
"""How many resamples are held at a time, so that memory does not grow with their number."""

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """How much better the first system is than the second.

    Attributes:
        difference: of their F1 on the documents as they are, in points.
        low: the 2.5th percentile of the resampled differences.
        high: the 97.5th percentile.
        share: the fraction of resamples in which the first is better; a tie is not.
    """

    difference: float
    low: float
    high: float
    share: float


def paired_bootstrap(
    first: Sequence[DocumentScores],
    second: Sequence[DocumentScores],
    resamples: int = 10_000,
    seed: int = 0,
) -> BootstrapResult:
    """Compare two systems by what they would have scored on other documents like these.

    A system has the mean of its runs' F1. Given the `Score` of each document, F1 is compared; given its
    `IgnScore`, Ign F1.

    Args:
        first: the scores of each document, for each run (seed) of the first system.
        second: the same of the second, in the same order of seeds; it may have another number of runs.
        resamples: how many times documents and runs are drawn, with replacement.
        seed: of the draws.

    Raises:
        ValueError: a system without runs, runs on different documents, or no document or resample at all.

    Reference:
        Efron and Tibshirani, An Introduction to the Bootstrap, 1993.

    Example:
        >>> good = {"a": Score(2, 2, 3), "b": Score(1, 2, 2)}
        >>> poor = {"a": Score(1, 2, 3), "b": Score(1, 2, 2)}
        >>> comparison = paired_bootstrap([good], [poor], resamples=1000)
        >>> round(comparison.difference, 2), 0.7 < comparison.share < 0.8  # better if "a" is drawn: 3 of 4
        (22.22, True)
    """
    if resamples < 1:
        raise ValueError(f"resamples: {resamples} must be at least 1")
    if not first or not second:
        raise ValueError("runs: a system has none; at least one is needed")
    _check_comparable([*first, *second])
    documents, numbers = list(first[0]), (len(first), len(second))
    systems = [_counts(runs, documents) for runs in (first, second)]
    slack = IGN_SLACK if isinstance(first[0][documents[0]], IgnScore) else 0.0

    def difference(times: NDArray[np.int64], *weights: Array) -> Array:
        ours, theirs = (
            (_f1(counts, times, slack) * weight).sum(axis=1)
            for counts, weight in zip(systems, weights, strict=True)
        )
        return np.asarray(100 * (ours - theirs))

    uniform = [np.full((1, number), 1 / number) for number in numbers]
    observed = difference(np.ones((1, len(documents)), dtype=np.int64), *uniform)
    drawn = zip(
        draw_documents(len(documents), resamples, seed),
        *(draw_runs(number, resamples, seed) for number in numbers),
        strict=True,
    )
    resampled = np.concatenate([difference(*each) for each in drawn])
    low, high = np.percentile(resampled, (2.5, 97.5))
    return BootstrapResult(float(observed[0]), float(low), float(high), float(np.mean(resampled > TIE)))


def draw_documents(documents: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each document is drawn, in blocks of [some resamples, documents]."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        drawn = generator.integers(documents, size=(rows, documents))
        cells = drawn + documents * np.arange(rows)[:, None]  # numbered through, to be counted at once
        yield np.bincount(cells.ravel(), minlength=rows * documents).reshape(rows, documents)


def draw_runs(runs: int, resamples: int, seed: int) -> Iterator[Array]:
    """The weight of each run, in blocks of [some resamples, runs] whose rows sum to 1."""
    generator = np.random.default_rng([seed, runs])  # equally many runs share their draws
    drawn = max(1, runs - 1)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        yield generator.multinomial(drawn, np.full(runs, 1 / runs), size=rows) / drawn


def _check_comparable(runs: Sequence[DocumentScores]) -> None:
    """Every run must have the same documents, with the same kind of scores and the same number of gold facts."""
    reference = runs[0]
    if not reference:
        raise ValueError("scores: there are none; at least one document is needed")
    for run in runs[1:]:
        if different := sorted(run.keys() ^ reference.keys()):
            raise ValueError(f"documents: {short_repr(different[0])} is in one run and not in another")
        for document, score in run.items():
            other = reference[document]
            if type(score) is not type(other):
                found = f"{type(score).__name__} in one run and {type(other).__name__} in another"
                raise ValueError(f"document {short_repr(document)}: {found}")
            (gold, _), (known, _) = _plain(score), _plain(other)
            if gold.gold != known.gold:
                found = f"{gold.gold} gold facts in one run and {known.gold} in another"
                raise ValueError(f"document {short_repr(document)}: {found}")


def _plain(score: Score | IgnScore) -> tuple[Score, int]:
    """The score, and how many of its correct facts get no credit in precision."""
    return (score.score, score.correct_in_train) if isinstance(score, IgnScore) else (score, 0)


def _counts(runs: Sequence[DocumentScores], documents: Sequence[str]) -> Array:
    """Correct facts, those credited in precision, predictions and gold facts: [4, documents, runs]."""
    rows = []
    for document in documents:
        scores = [_plain(run[document]) for run in runs]
        rows.append([(s.correct, s.correct - known, s.predicted - known, s.gold) for s, known in scores])
    return np.moveaxis(np.array(rows, dtype=np.float64), 2, 0)


def _f1(counts: Array, times: NDArray[np.int64], slack: float) -> Array:
    """The F1 of each run, [draws, runs], given how often each document was drawn, [draws, documents]."""
    correct, credited, predicted, gold = (times.astype(np.float64) @ each for each in counts)
    precision, recall = ratio(credited, predicted + slack), ratio(correct, gold)
    return ratio(2 * precision * recall, precision + recall)


def ratio(part: Array, whole: Array) -> Array:
    """A fraction; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
