"""A calibration: what a margin says of the probability, where the line is, and what is expected there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.calibration.expected_facts import ExpectedFacts
from unnoted.calibration.fitting import fit_curves
from unnoted.calibration.probability_curves import ProbabilityCurves
from unnoted.calibration.quantile_matching import matched_to
from unnoted.calibration.ranked_bins import RankedBins
from unnoted.calibration.selection import USUAL
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.priors.priors import Priors

FAR = 2.0
"""How many times more or fewer facts than its prior says a relation is stated with for that to be told."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A relation that is stated far more or far less often than its prior says it holds.

    Attributes:
        relation: the relation id.
        stated: facts stated at the line for each candidate pair.
        prior: the overall prior.
    """

    relation: str
    stated: float
    prior: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """From margins to probabilities, with the line on them; saved with the model.

    Args:
        relations: the relation ids.
        curves: from the margins of a decision rule to probabilities.
        expected: what lines are expected to give in documents like those it was fitted on.
        line: facts above this probability are stated; that of the best expected F1 unless moved.
        priors: the overall prior of each relation that it was fitted with.
        stated: of each relation, how many facts a candidate pair has above the line of the best F1.
        selection: how much labels were found to favour what is plain (`calibration.selection`).

    Example:
        >>> rng = np.random.default_rng(0)
        >>> true = rng.random((4000, 1)) < 0.1
        >>> margin = (true + rng.normal(size=true.shape)).astype(np.float32)
        >>> zeros = np.zeros(len(true), np.int32)
        >>> labelled = true & (rng.random(true.shape) < 0.5)
        >>> scores = LabelledScores(("spouse",), ("d",), zeros, zeros, zeros, margin, labelled)
        >>> priors = Priors(("spouse",), (float(labelled.mean()),), (float(true.mean()),))
        >>> calibration = Calibration.fitted(scores, priors)
        >>> probability = calibration.curves.probabilities(torch.from_numpy(margin))
        >>> round(float(probability.mean() / true.mean()), 2)
        1.0
        >>> calibration.line == calibration.expected.best_f1 / 2
        True
    """

    relations: tuple[str, ...]
    curves: ProbabilityCurves
    expected: ExpectedFacts
    line: float
    priors: tuple[float, ...]
    stated: tuple[float, ...]
    selection: float = USUAL

    def __post_init__(self) -> None:
        if not 0 < self.line < 1:
            raise ValueError(
                f"calibration: found the line {self.line}, expected a probability between 0 and 1"
            )
        counts = {self.curves.relations, len(self.priors), len(self.stated)}
        if counts != {len(self.relations)}:
            raise ValueError(
                f"calibration: found {self.curves.relations} curves, {len(self.priors)} priors and "
                f"{len(self.stated)} counts, expected one of each for {len(self.relations)} relations"
            )

    @classmethod
    def fitted(
        cls,
        scores: LabelledScores,
        priors: Priors,
        *,
        match_counts: bool = True,
        by_relation: bool = True,
        selection: float | None = None,
        final: NDArray[np.floating] | None = None,
        elsewhere: float = 0.0,
    ) -> "Calibration":
        """A calibration fitted on scored pairs, with the line of the best expected F1.

        Args:
            scores: out-of-fold margins beside labels.
            priors: of the same relations; labelled ÷ overall is the share of true facts that was labelled.
            match_counts: make the expected number of facts of each relation what its prior says.
            by_relation: a curve for each relation, which trusts the prior of each; or one for all.
            selection: how much labels favour what is plain, from 0 (they are a fair sample of the true facts)
                to 1; without it, as the labels say.
            final: [Q, K], margins of the model that is calibrated, if another than those that gave the
                scores: of pairs without a label, in similar documents. Curves are moved to their quantiles.
            elsewhere: how many true facts the documents have between pairs that are no candidates, which the
                line cannot state and F1 counts.

        Raises:
            ValueError: the relations differ, there is no pair, or a margin is not finite.
        """
        if scores.relations != priors.relations:
            raise ValueError(
                f"calibration: found priors of {len(priors.relations)} relations, expected those of the "
                f"{len(scores.relations)} that are scored, in their order"
            )
        bins = RankedBins.of(scores)
        curves, selection = fit_curves(bins, priors, match_counts, by_relation, selection)
        probability = curves.probabilities(torch.from_numpy(bins.margin.T)).numpy().T  # [K, B]
        expected = ExpectedFacts.of(probability, bins.pairs, scores.pairs, elsewhere)
        line = expected.f1_line
        stated = tuple(((probability > line) @ bins.pairs / scores.pairs).tolist())
        if final is not None:
            unlabelled = ~scores.labelled.any(1)
            curves = matched_to(curves, scores.margin[unlabelled], final)
        return cls(scores.relations, curves, expected, line, priors.overall, stated, selection)

    def at_precision(self, target: float) -> "Calibration":
        """The same with the lowest line that is expected to reach a precision.

        Raises:
            ValueError: the target is no share, or no line reaches it.
        """
        return replace(self, line=self.expected.line_of_precision(target))

    def at_recall(self, target: float) -> "Calibration":
        """The same with the highest line that is expected to reach a recall.

        Raises:
            ValueError: the target is no share, or no line reaches it.
        """
        return replace(self, line=self.expected.line_of_recall(target))

    @property
    def lines(self) -> tuple[float, ...]:
        """The margin of each relation at which its probability is that of the line."""
        return self.curves.margins_at(self.line)

    def disagreements(self, far: float = FAR) -> tuple[Disagreement, ...]:
        """Relations of which the best line states `far` times more or fewer facts than there are, by prior.

        The most facts first. A model that cannot tell a relation's facts from others states few or none of
        them; that is no fault of the line.
        """
        rows = (Disagreement(*row) for row in zip(self.relations, self.stated, self.priors, strict=True))
        found = (row for row in rows if not row.prior / far <= row.stated <= row.prior * far)
        return tuple(sorted(found, key=lambda row: (-max(row.stated, row.prior), row.relation)))

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; `from_json` reads it."""
        return {
            "relations": list(self.relations),
            "curves": self.curves.to_json(),
            "expected": self.expected.to_json(),
            "line": self.line,
            "priors": list(self.priors),
            "stated": list(self.stated),
            "selection": self.selection,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Calibration":
        """What `to_json` wrote."""
        return cls(
            tuple(map(str, value["relations"])),
            ProbabilityCurves.from_json(value["curves"]),
            ExpectedFacts.from_json(value["expected"]),
            float(value["line"]),
            tuple(map(float, value["priors"])),
            tuple(map(float, value["stated"])),
            float(value.get("selection", USUAL)),
        )
