"""Is one system better than another? A paired bootstrap over documents and seeds.

Facts of one document stand or fall together, so it is documents that are drawn. Both systems are scored on
the same draw each time: what makes a draw easy or hard is taken out of their difference.

Where a system was trained with several seeds, its runs are drawn too, since another training would have had
another seed. Of r runs, r - 1 are drawn: the mean of so many varies as much as the mean of r runs does, while
the mean of r drawn ones varies less, by a fifth of its deviation for three runs. Systems with equally many
runs share these draws, so that runs of the same seed are compared with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unnoted.evaluation.score import IGN_SLACK, IgnScore, Score
from unnoted.utils import short_repr

DocumentScores: TypeAlias = Mapping[str, Score] | Mapping[str, IgnScore]
"""The score of each document by its id: of one run."""

MIDDLE = (2.5, 97.5)
"""Between these percentiles lie the middle 95 % of the resampled differences."""

TIE = 1e-9
"""Points by which equal figures may differ, because they were added up in another order."""

TOGETHER = 500
"""How many draws are held at a time, so that memory does not grow with their number."""


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """How much better the first system is than the second.

    Attributes:
        difference: of their F1 on the documents as they are, in points.
        low: where the middle 95 % of the resampled differences begin.
        high: where they end.
        share: of the resamples in which the first is better; a tie is not.
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

    As many documents as there are get drawn, with replacement, over and over, and with them the runs of each
    system that has several. A system has the mean of its runs' F1. Given the `Score` of each document, F1 is
    compared; given its `IgnScore`, Ign F1.

    Args:
        first: the scores of each document, for each run (seed) of the first system.
        second: the same of the second, in the same order of seeds; it may have another number of runs.
        resamples: how many times documents and runs are drawn.
        seed: of the draws.

    Raises:
        ValueError: a system without runs, runs on different documents, or no document or resample at all.

    Example:
        >>> good = {"a": Score(2, 2, 3), "b": Score(1, 2, 2)}
        >>> poor = {"a": Score(1, 2, 3), "b": Score(1, 2, 2)}
        >>> comparison = paired_bootstrap([good], [poor], resamples=1000)
        >>> round(comparison.difference, 2), 0.7 < comparison.share < 0.8  # better if "a" is drawn: 3 of 4
        (22.22, True)
    """
    if resamples < 1:
        raise ValueError(f"resamples: found {resamples}, expected at least 1")
    documents = _documents([*first, *second])
    systems = [_System.of(runs, documents) for runs in (first, second)]

    def difference(times: NDArray[np.int64], *runs: NDArray[np.float64]) -> NDArray[np.float64]:
        ours, theirs = (system.f1(times, share) for system, share in zip(systems, runs, strict=True))
        return 100 * (ours - theirs)

    numbers = len(first), len(second)
    alike = [np.full((1, number), 1 / number) for number in numbers]
    observed = difference(np.ones((1, len(documents)), dtype=np.int64), *alike)
    drawn = zip(
        draws(len(documents), resamples, seed),
        *(run_draws(number, resamples, seed) for number in numbers),
        strict=True,
    )
    resampled = np.concatenate([difference(*each) for each in drawn])
    low, high = np.percentile(resampled, MIDDLE)
    return BootstrapResult(float(observed[0]), float(low), float(high), float(np.mean(resampled > TIE)))


def draws(documents: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each document is drawn, in blocks of [some resamples, documents]."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, TOGETHER):
        rows = min(TOGETHER, resamples - start)
        drawn = generator.integers(documents, size=(rows, documents))
        cells = (
            drawn + documents * np.arange(rows)[:, None]
        )  # numbered on from row to row, to be counted at once
        yield np.bincount(cells.ravel(), minlength=rows * documents).reshape(rows, documents)


def run_draws(runs: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """What each run counts, in blocks of [some resamples, runs] whose rows sum to 1."""
    # As many runs, the same draws.
    generator = np.random.default_rng([seed, runs])
    drawn = max(1, runs - 1)
    for start in range(0, resamples, TOGETHER):
        rows = min(TOGETHER, resamples - start)
        yield generator.multinomial(drawn, np.full(runs, 1 / runs), size=rows) / drawn


def _documents(runs: Sequence[DocumentScores]) -> list[str]:
    """The ids that all runs share; every run must have the same, and the same facts to be found in each."""
    if not runs or not runs[0]:
        raise ValueError("scores: found none, expected those of at least one document")
    expected = runs[0]
    for run in runs[1:]:
        if different := sorted(run.keys() ^ expected.keys()):
            raise ValueError(
                f"documents: found {short_repr(different[0])} in one run and not in another, "
                "expected the same in all"
            )
        for document, score in run.items():
            found, known = _plain(score).gold, _plain(expected[document]).gold
            if type(score) is not type(expected[document]):
                raise ValueError(
                    f"document {short_repr(document)}: found a {type(score).__name__} in one run and "
                    f"a {type(expected[document]).__name__} in another, expected the same of all"
                )
            if found != known:
                raise ValueError(
                    f"document {short_repr(document)}: found {found} true facts in one run and "
                    f"{known} in another, expected as many"
                )
    return list(expected)


def _plain(score: Score | IgnScore) -> Score:
    return score.score if isinstance(score, IgnScore) else score


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The counts of each run and document, and how F1 follows from their sums."""

    correct: NDArray[np.float64]  # [documents, runs], as all below
    credited: NDArray[np.float64]
    """The correct ones that count for precision."""
    predicted: NDArray[np.float64]
    """The predicted ones that count for precision."""
    gold: NDArray[np.float64]
    slack: float
    """What is added to the predicted ones."""

    @classmethod
    def of(cls, runs: Sequence[DocumentScores], documents: Sequence[str]) -> "_System":
        if not runs:
            raise ValueError("runs: found a system without any, expected at least one")
        ignoring = isinstance(runs[0][documents[0]], IgnScore)
        rows = [[_row(run[document]) for run in runs] for document in documents]
        counts = np.moveaxis(np.array(rows, dtype=np.float64), 2, 0)  # [4, documents, runs]
        correct, credited, predicted, gold = counts
        return cls(correct, credited, predicted, gold, slack=IGN_SLACK if ignoring else 0.0)

    def f1(self, times: NDArray[np.int64], share: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean F1 of the runs in each of several draws, [draws].

        Args:
            times: how often each document was drawn, [draws, documents].
            share: what each run counts, [draws, runs].
        """
        weights = times.astype(np.float64)
        precision = _ratio(weights @ self.credited, weights @ self.predicted + self.slack)  # [draws, runs]
        recall = _ratio(weights @ self.correct, weights @ self.gold)
        harmonic = _ratio(2 * precision * recall, precision + recall)
        mean: NDArray[np.float64] = (harmonic * share).sum(axis=1)
        return mean


def _row(score: Score | IgnScore) -> tuple[int, int, int, int]:
    plain = _plain(score)
    known = score.correct_in_train if isinstance(score, IgnScore) else 0
    return plain.correct, plain.correct - known, plain.predicted - known, plain.gold


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """A share; 0 of nothing, as `unnoted.evaluation.score.ratio`."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
