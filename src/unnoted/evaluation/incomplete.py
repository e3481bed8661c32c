"""Scores against gold that misses facts, corrected by the label frequency: the share c of true facts it has.

Of n predictions k are in the gold, which has g facts. A gold fact stands for 1 / c true ones, so that there are
T = g / c true facts, whatever a system predicts. How many predictions hold (H) has to be assumed or counted:

* If a true fact is labelled equally often whether or not it is predicted (selected completely at random), H =
  k / c: precision is 1 / c times the measured one, recall is as measured, F1 = 2k / (cn + g).
* If predicted true facts are labelled ρ times as often as all true facts, H = k / (ρc): all three are 1 / ρ of that.
* If h of m random predictions that the gold lacks were found to hold, H = k + (n - k) h / m, with no assumption.

Always k ≤ H ≤ n and H + (g - k) ≤ T, because the gold's facts are taken to be right. With a label frequency for
each relation, a gold fact of relation r stands for 1 / c_r facts. Derivation: docs/concepts/evaluation.md.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unnoted.evaluation.metrics import Gold, Key, Score, relation_of, scores_by
from unnoted.evaluation.significance import draw_documents, ratio
from unnoted.priors import Priors

Array: TypeAlias = NDArray[np.float64]

LEVEL = 0.95
"""Nominal coverage of the intervals."""

NORMAL = 1.959964
"""How many standard deviations on either side hold that share of a normal distribution."""

RESAMPLES = 1000
"""How often documents and the label frequency are drawn."""

FAVOURS = (1.25, 1.5, 2.0)
"""Values of ρ that are reported. On DocRED's labels it is 1.4 to 2.2 (docs/results/missing-labels.md)."""


@dataclass(frozen=True, slots=True)
class LabelFrequency:
    """The share of true facts that the gold has, and how well it is known.

    Args:
        estimate: the share.
        low: the lower end of its range, or of its 95 % interval.
        high: the upper end.
        sample: the number of true facts among which the labelled ones were counted; None for a range, of which
            any value may be right.
        relations: the share of each relation where they differ; `estimate` is then that of all together.

    Example:
        >>> LabelFrequency.from_counts(54, 150)  # doctest: +ELLIPSIS
        LabelFrequency(estimate=0.36, low=0.287..., high=0.439..., sample=150, relations={})
        >>> LabelFrequency.from_range(0.3, 0.5).estimate
        0.4
    """

    estimate: float
    low: float
    high: float
    sample: float | None = None
    relations: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.estimate <= self.high <= 1:
            shown = f"{self.estimate:g} ({self.low:g} to {self.high:g})"
            raise ValueError(
                f"label frequency: {shown} must lie above 0 and be at most 1, the lower end first"
            )

    @classmethod
    def from_range(cls, low: float, high: float) -> Self:
        """Any share between two, which may be equal."""
        return cls((low + high) / 2, low, high)

    @classmethod
    def from_counts(cls, labelled: int, true: int) -> Self:
        """So many of a random sample of true facts are labelled; with Wilson's interval."""
        if not 0 < labelled <= true:
            raise ValueError(
                f"label frequency: {labelled} of {true} facts must be at least 1 of them and at most all"
            )
        share, z = labelled / true, NORMAL**2 / true
        middle = (share + z / 2) / (1 + z)
        width = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
        return cls(share, float(middle - width), min(1.0, float(middle + width)), true)

    @classmethod
    def from_interval(cls, estimate: float, low: float, high: float) -> Self:
        """An estimate with its 95 % interval, taken to be as good as counts whose interval is as wide."""
        deviation = (high - low) / (2 * NORMAL)
        return cls(estimate, low, high, estimate * (1 - estimate) / deviation**2 if deviation else None)

    @classmethod
    def from_priors(cls, priors: Priors) -> Self:
        """The label frequency of each relation: its labelled prior ÷ its overall prior. Taken as exact."""
        columns = zip(priors.relations, priors.labelled, priors.overall, strict=True)
        known = {name: (one, all_) for name, one, all_ in columns if one}
        if not known:
            raise ValueError("label frequency: no relation has a label")
        labelled, overall = map(sum, zip(*known.values(), strict=True))
        share = labelled / overall
        return cls(share, share, share, None, {name: one / all_ for name, (one, all_) in known.items()})

    def weights(self, relations: Sequence[str], share: ArrayLike) -> Array:
        """How many true facts a gold fact of each relation stands for, if the overall share is `share`."""
        ratios = np.array([self.relations.get(each, self.estimate) for each in relations]) / self.estimate
        weights: Array = 1 / np.minimum(1, np.asarray(share, dtype=np.float64)[..., None] * ratios)
        return weights

    def draw(self, generator: np.random.Generator, draws: int) -> Array:
        """Shares as uncertain as this one: [1, draws] if it was counted, else both ends of the range."""
        if self.sample is None:
            return np.repeat([[self.low], [self.high]], draws, axis=1)
        labelled = self.estimate * self.sample
        return generator.beta(labelled + 0.5, self.sample - labelled + 0.5, (1, draws))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scored facts, for average precision: the document, the relation and the score of each, and if it is gold."""

    documents: Sequence[str]
    relations: Sequence[str]
    scores: ArrayLike
    labelled: ArrayLike


@dataclass(frozen=True, slots=True)
class Figures:
    """Estimates of what complete gold would say; average precision is None without scores."""

    f1: float
    precision: float
    recall: float
    average_precision: float | None = None


@dataclass(frozen=True, slots=True)
class CorrectedScores:
    """What complete gold would say of predictions, as far as incomplete gold can tell.

    Attributes:
        label_frequency: the share of true facts that the gold has.
        estimate: with the label frequency's estimate.
        low: the lower end of the interval of each figure.
        high: the upper end.
        true_predictions: how many predictions hold.
        true_facts: how many facts hold.
        excess: how many predictions would hold for each that there is; above 1 if that is impossible.
        by_label_frequency: figures for label frequencies over the range, the lowest first.
        by_favour: figures if predicted true facts are labelled so many times as often as all true facts.
        favour: that number where predictions were checked; else unknown.
        least: the lowest figures that are possible with so many true facts, however labels were chosen.
        most: the highest.
        relations: figures of each relation of the gold, without average precision.
    """

    label_frequency: LabelFrequency
    estimate: Figures
    low: Figures
    high: Figures
    true_predictions: float
    true_facts: float
    excess: float
    by_label_frequency: tuple[tuple[float, Figures], ...]
    by_favour: tuple[tuple[float, Figures], ...]
    favour: float | None
    least: Figures
    most: Figures
    relations: Mapping[str, Figures]

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the relations of the gold."""
        return sum(each.f1 for each in self.relations.values()) / len(self.relations)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        curves = {
            name: [{key: value} | asdict(figures) for value, figures in getattr(self, name)]
            for name, key in (("by_label_frequency", "label_frequency"), ("by_favour", "favour"))
        }
        return asdict(self) | {"level": LEVEL, "macro_f1": self.macro_f1} | curves


def correct_scores(
    gold: Gold,
    predicted: Collection[Key],
    label_frequency: LabelFrequency,
    *,
    ranking: Ranking | None = None,
    checked: tuple[int, int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CorrectedScores:
    """Estimate precision, recall, F1 and average precision against complete gold.

    The interval is that of a bootstrap over documents, in which the label frequency (and the share of `checked`)
    is drawn anew each time if it was counted, and takes both ends of its range if not.

    Args:
        gold: documents with some of their facts, all of which hold.
        predicted: distinct predictions.
        label_frequency: the share of true facts that the gold has.
        ranking: predictions with their scores, also those that were not decided on; without it there is no
            average precision.
        checked: of predictions that the gold lacks, drawn at random, how many hold, and how many were drawn.
        resamples: how many times documents are drawn.
        seed: of the draws.

    Raises:
        ValueError: more predictions were checked than the gold lacks.

    Reference:
        Bekker and Davis, Learning from positive and unlabeled data: a survey, Machine Learning 109, 2020.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.data.hide_labels import UniformLabelDropout, hide_labels
        >>> documents = list(generate_documents(50))
        >>> gold = Gold.from_documents(hide_labels(documents, UniformLabelDropout(0.4)))
        >>> found = list(Gold.from_documents(documents).facts)[::2]  # half of all facts, and nothing else
        >>> corrected = correct_scores(gold, found, LabelFrequency.from_range(0.4, 0.4))
        >>> measured = sum(key in gold.facts for key in found) / len(found)
        >>> bool(measured < 0.45), bool(corrected.low.precision < 1.0 <= corrected.high.precision)
        (True, True)
    """
    table = _Table.build(gold, predicted, ranking)
    once, predictions = np.ones((1, len(table.predicted))), len(predicted)
    labelled = int(table.correct.sum())
    if checked is not None and not 0 <= checked[0] <= checked[1] <= predictions - labelled:
        raise ValueError(
            f"checked: {checked[0]} of {checked[1]} must be a part of the "
            f"{predictions - labelled} predictions that the gold lacks"
        )
    checked = checked if checked and checked[1] else None

    def figures(share: float, favour: float = 1.0, rate: float | None = None) -> Figures:
        weights = label_frequency.weights(table.relations, [share])
        values = table.figures(once, weights, favour, None if rate is None else np.array([rate]))
        area = table.average_precision(once[0], weights[0]) if favour == 1 and rate is None else None
        f1, precision, recall = values[:, 0].tolist()
        return Figures(f1, precision, recall, area)

    rate = checked[0] / checked[1] if checked else None
    weights = label_frequency.weights(table.relations, label_frequency.estimate)
    by_label = float(table.correct.sum(0) @ weights)  # how many predictions hold if labels do not favour them
    found = by_label if rate is None else labelled + (predictions - labelled) * rate
    facts = float(max(table.gold.sum(0) @ weights, found + table.gold.sum() - labelled))
    outer = (labelled, min(predictions, facts - table.gold.sum() + labelled))
    least, most = (Figures(*_figures(*map(np.array, (each, predictions, facts))).tolist()) for each in outer)
    low, high = table.intervals(label_frequency, checked, resamples, seed)
    favour = by_label / found if found else 1.0
    estimate = label_frequency.estimate
    return CorrectedScores(
        label_frequency=label_frequency,
        estimate=figures(estimate, rate=rate),
        low=low,
        high=high,
        true_predictions=min(found, predictions),
        true_facts=facts,
        excess=found / max(predictions, 1),
        by_label_frequency=tuple((share, figures(share, rate=rate)) for share in _spread(label_frequency)),
        by_favour=() if checked else tuple((each, figures(estimate, each)) for each in FAVOURS),
        favour=favour if checked else None,
        least=least,
        most=most,
        relations={
            relation: _of_relation(table.scores[relation], float(weight), favour)
            for relation, weight in zip(table.relations, weights, strict=True)
        },
    )


def _spread(frequency: LabelFrequency) -> list[float]:
    """Label frequencies from one end of the range to the other, or around one that is given as exact."""
    if frequency.low < frequency.high:
        return [float(share) for share in np.linspace(frequency.low, frequency.high, 5)]
    return sorted({min(1.0, frequency.estimate * factor) for factor in (0.5, 0.75, 1.0, 1.25, 1.5)})


def _figures(found: Array, predicted: Array, true: Array) -> Array:
    """F1, precision and recall, [3, …], if so many of the predictions hold; more than all of them cannot."""
    found = np.minimum(found, predicted)
    return np.stack([ratio(2 * found, predicted + true), ratio(found, predicted), ratio(found, true)])


def _of_relation(score: Score, weight: float, favour: float) -> Figures:
    found, true = score.correct * weight / favour, score.gold * weight
    return Figures(*_figures(np.array(found), np.array(float(score.predicted)), np.array(true)).tolist())


@dataclass(frozen=True, slots=True)
class _Table:
    """Counts by document and relation of the gold, [D, R], and the ranking, best first.

    `place` has the positions of gold facts in the ranking, and `end` for each how many facts are ranked as high
    or higher; `last` is the last gold fact among those.
    """

    relations: tuple[str, ...]
    scores: Mapping[str, Score]
    correct: Array
    gold: Array
    predicted: Array  # [D]
    document: NDArray[np.int64] | None  # [N]
    place: NDArray[np.int64]  # [G]
    relation: NDArray[np.int64]  # [G]
    end: NDArray[np.int64]  # [G]
    last: NDArray[np.int64]  # [G]

    @classmethod
    def build(cls, gold: Gold, predicted: Collection[Key], ranking: Ranking | None) -> "_Table":
        """Count predictions; those of unknown documents form documents of their own."""
        others = (
            {key[0] for key in predicted} | set(ranking.documents if ranking else ())
        ) - gold.documents.keys()
        row = {name: number for number, name in enumerate([*gold.documents, *sorted(others)])}
        column = {name: number for number, name in enumerate(gold.relations)}
        correct, all_gold = (np.zeros((len(row), len(column))) for _ in range(2))
        claimed = np.zeros(len(row))
        for document, _, _, relation in gold.facts:
            all_gold[row[document], column[relation]] += 1
        for key in predicted:
            claimed[row[key[0]]] += 1
            if key in gold.facts:
                correct[row[key[0]], column[key[3]]] += 1
        counts = tuple(column), scores_by(relation_of, predicted, gold.facts), correct, all_gold, claimed
        if ranking is None:
            none = np.zeros(0, np.int64)
            return cls(*counts, None, none, none, none, none)
        scores = np.asarray(ranking.scores, dtype=np.float64)
        order = np.argsort(-scores, kind="stable")
        place = np.flatnonzero(np.asarray(ranking.labelled, dtype=bool)[order])
        ordered = -scores[order]
        return cls(
            *counts,
            np.array([row[name] for name in ranking.documents], np.int64)[order],
            place,
            np.array([column[ranking.relations[each]] for each in order[place].tolist()], np.int64),
            np.searchsorted(ordered, ordered[place], side="right"),
            np.searchsorted(ordered[place], ordered[place], side="right") - 1,
        )

    def figures(self, times: Array, weights: Array, favour: float = 1.0, rate: Array | None = None) -> Array:
        """F1, precision and recall, [3, B].

        Args:
            times: how often each document is drawn, [B, D].
            weights: how many true facts a gold fact of each relation stands for, [B, R].
            favour: how many times as often predicted true facts are labelled as all true facts.
            rate: the share of predictions that hold, of those that the gold lacks, [B]; instead of `favour`.
        """
        correct, gold, predicted = times @ self.correct, times @ self.gold, times @ self.predicted
        labelled = correct.sum(1)
        if rate is None:
            found = np.maximum((correct * weights).sum(1) / favour, labelled)
        else:
            found = labelled + (predicted - labelled) * rate
        found = np.minimum(found, predicted)
        return _figures(found, predicted, np.maximum((gold * weights).sum(1), found + gold.sum(1) - labelled))

    def average_precision(self, times: Array, weights: Array) -> float | None:
        """The average precision, given how often each document is drawn, [D], and the weights, [R].

        The number of true facts that are ranked as high as a gold fact is that fact itself, and the weights of
        the others: without the weight that it has, because it is known to hold.
        """
        if self.document is None:
            return None
        drawn = times[self.document]
        copies, weight = drawn[self.place], weights[self.relation]
        mass = np.cumsum(copies * weight)[self.last]
        ranked = np.cumsum(drawn)[self.end - 1]
        precision = np.minimum(1.0, ratio(mass - copies * (weight - 1), ranked))
        true = float((times @ self.gold) @ weights)
        return min(1.0, float((copies * weight * precision).sum()) / true) if true else 0.0

    def intervals(
        self, frequency: LabelFrequency, checked: tuple[int, int] | None, resamples: int, seed: int
    ) -> tuple[Figures, Figures]:
        """Both ends of the interval of each figure."""
        generator = np.random.default_rng([seed, 1])  # draws that do not depend on those of documents
        blocks = []
        for drawn in draw_documents(len(self.predicted), resamples, seed):
            times = drawn.astype(np.float64)
            rate = None
            if checked:
                rate = generator.beta(checked[0] + 0.5, checked[1] - checked[0] + 0.5, len(times))
            ends = []
            for shares in frequency.draw(generator, len(times)):
                weights = frequency.weights(self.relations, shares)
                rows = [*self.figures(times, weights, rate=rate)]
                if self.document is not None and not checked:
                    rows.append(np.array(list(map(self.average_precision, times, weights)), dtype=np.float64))
                ends.append(np.stack(rows))
            blocks.append(np.stack(ends))  # [ends of the range, figures, draws]
        values = np.concatenate(blocks, axis=2)
        low, high = np.percentile(values, (50 * (1 - LEVEL), 50 * (1 + LEVEL)), axis=2)
        return Figures(*low.min(0).tolist()), Figures(*high.max(0).tolist())
