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
    documents = _shared_documents([*first, *second])
    systems = [_System.from_runs(runs, documents) for runs in (first, second)]

    def difference(times: NDArray[np.int64], *runs: NDArray[np.float64]) -> NDArray[np.float64]:
        ours, theirs = (system.f1(times, weight) for system, weight in zip(systems, runs, strict=True))
        return 100 * (ours - theirs)

    numbers = len(first), len(second)
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


def draw_runs(runs: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """The weight of each run, in blocks of [some resamples, runs] whose rows sum to 1."""
    generator = np.random.default_rng([seed, runs])  # equally many runs share their draws
    drawn = max(1, runs - 1)
    for start in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - start)
        yield generator.multinomial(drawn, np.full(runs, 1 / runs), size=rows) / drawn


def _shared_documents(runs: Sequence[DocumentScores]) -> list[str]:
    """The ids that all runs share; every run must have the same, and the same number of gold facts in each."""
    if not runs or not runs[0]:
        raise ValueError("scores: there are none; at least one document is needed")
    reference = runs[0]
    for run in runs[1:]:
        if different := sorted(run.keys() ^ reference.keys()):
            raise ValueError(f"documents: {short_repr(different[0])} is in one run and not in another")
        for document, score in run.items():
            other = reference[document]
            if type(score) is not type(other):
                names = f"{type(score).__name__} in one run and {type(other).__name__} in another"
                raise ValueError(f"document {short_repr(document)}: {names}")
            if (gold := _plain(score).gold) != (known := _plain(other).gold):
                raise ValueError(
                    f"document {short_repr(document)}: {gold} gold facts in one run and {known} in another"
                )
    return list(reference)


def _plain(score: Score | IgnScore) -> Score:
    return score.score if isinstance(score, IgnScore) else score


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The counts of each run and document, and how F1 follows from their sums.

    Attributes:
        correct: [documents, runs], as all others.
        credited: the correct ones that count for precision.
        predicted: the predicted ones that count for precision.
        gold: the gold facts.
        slack: what is added to the sum of the predicted ones.
    """

    correct: NDArray[np.float64]
    credited: NDArray[np.float64]
    predicted: NDArray[np.float64]
    gold: NDArray[np.float64]
    slack: float

    @classmethod
    def from_runs(cls, runs: Sequence[DocumentScores], documents: Sequence[str]) -> "_System":
        if not runs:
            raise ValueError("runs: a system has none; at least one is needed")
        rows = [[_counts(run[document]) for run in runs] for document in documents]
        counts = np.moveaxis(np.array(rows, dtype=np.float64), 2, 0)  # [4, documents, runs]
        slack = IGN_SLACK if isinstance(runs[0][documents[0]], IgnScore) else 0.0
        correct, credited, predicted, gold = counts
        return cls(correct, credited, predicted, gold, slack)

    def f1(self, times: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weighted mean F1 of the runs in each of several draws, [draws].

        Args:
            times: how often each document was drawn, [draws, documents].
            weight: of each run, [draws, runs].
        """
        times = times.astype(np.float64)
        precision = _ratio(times @ self.credited, times @ self.predicted + self.slack)  # [draws, runs]
        recall = _ratio(times @ self.correct, times @ self.gold)
        f1 = _ratio(2 * precision * recall, precision + recall)
        mean: NDArray[np.float64] = (f1 * weight).sum(axis=1)
        return mean


def _counts(score: Score | IgnScore) -> tuple[int, int, int, int]:
    plain = _plain(score)
    known = score.correct_in_train if isinstance(score, IgnScore) else 0
    return plain.correct, plain.correct - known, plain.predicted - known, plain.gold


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """A fraction; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
