"""What scores mean: how they decide, how sure they are, and how probable they say that a relation is.

A loss says it once, the model that it trains stores it, and all who read scores ask it. *Confidence* orders
and decides: it rises with the margin, and 0.5 is the line. A *probability* is something else: it has been
calibrated.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unnoted.calibration import Calibration
from unnoted.losses.decisions import Decision, decision_from_json
from unnoted.losses.lined import Lined
from unnoted.losses.links import Link, undo_class_weight
from unnoted.priors import Priors


@dataclass(frozen=True, slots=True)
class ScoreDecoder:
    """What the scores that a loss has trained mean.

    Attributes:
        decision: which relations they predict, without a calibration.
        link: the probability that they show, if the loss was minimised.
        priors: that the loss was given; None for a loss without priors.
        class_weighted: whether positives weighed more the rarer they are, which probabilities have to undo.
        calibration: from the decision's margins to probabilities, with a line that decides instead; or None.

    Example:
        >>> from unnoted.losses.decisions import NoneClass
        >>> decoder = ScoreDecoder(NoneClass(), Link("ranking-margin", margin=0.25))
        >>> scores = torch.tensor([[0.0, 0.125]])
        >>> decoder.decide(scores), decoder.margins(scores), decoder.probabilities(scores)
        (tensor([[True]]), tensor([[0.1250]]), tensor([[0.7500]]))
        >>> ScoreDecoder.from_json(decoder.to_json()) == decoder
        True
    """

    decision: Decision
    link: Link
    priors: Priors | None = None
    class_weighted: bool = False
    calibration: Calibration | None = None

    @property
    def is_calibrated(self) -> bool:
        """Whether `probabilities` have been calibrated; else they are what the loss would have them be."""
        return self.calibration is not None

    def decide(self, scores: Tensor) -> Tensor:
        """Which relations are predicted, bool [P, K], from scores [P, K + 1]."""
        return self._rule(scores)

    def margins(self, scores: Tensor) -> Tensor:
        """How far each score lies above what is asked of it: by the decision rule, or by the line, [P, K]."""
        return self._rule.margins(scores)

    def distances(self, scores: Tensor) -> Tensor:
        """How far each relation lies from the line, [P, K], in a unit that relations share; at the line 0.

        With a calibration the difference of log odds, else the margin in units of the loss. It rises with the
        margin of a relation, without ties; `confidence_of` makes numbers between 0 and 1 of it.
        """
        if self.calibration is None:
            return self.margins(scores) / self.link.unit
        margins = self.decision.margins(scores)
        # The threshold's log odds from the curve, too: so both are rounded alike.
        threshold = margins.new_tensor([self.calibration.margin_threshold])
        return self.calibration.curve(margins) - self.calibration.curve(threshold)

    @property
    def threshold(self) -> float:
        """The score from which on a relation is predicted, unless a limit of relations for each pair forbids it."""
        return 0.5 if self.calibration is None else self.calibration.threshold

    def scores(self, logits: Tensor) -> Tensor:
        """The score of each relation, float64 [P, K] in [0, 1], from logits [P, K + 1].

        The calibrated probability; without a calibration the sigmoid of the margin, in units of the loss. It
        rises with the margin, without ties, so that it orders facts.
        """
        if self.calibration is None:
            return self.distances(logits).double().sigmoid()
        return self.calibration.curve(self.decision.margins(logits)).double().sigmoid()

    def probabilities(self, scores: Tensor) -> Tensor:
        """The probability of each relation, [P, K]: calibrated, or what the link shows."""
        if self.calibration is not None:
            return self.calibration.probabilities(self.decision.margins(scores))
        shown = self.link(scores)
        if self.priors is None or not self.class_weighted:
            return shown
        return undo_class_weight(shown, torch.tensor(self.priors.class_weight, dtype=scores.dtype))

    def at_precision(self, target: float) -> "ScoreDecoder":
        """The same with the line that is expected to reach a precision.

        Raises:
            ValueError: there is no calibration, or no line reaches it.
        """
        return replace(self, calibration=self._calibration("target precision").at_precision(target))

    def at_recall(self, target: float) -> "ScoreDecoder":
        """The same with the line that is expected to reach a recall.

        Raises:
            ValueError: there is no calibration, or no line reaches it.
        """
        return replace(self, calibration=self._calibration("target recall").at_recall(target))

    def has_scale_of(self, other: "ScoreDecoder") -> bool:
        """Whether a score says the same here and there; tuned thresholds, read off the scores, may differ."""
        return (self.decision.name, self.link) == (other.decision.name, other.link)

    def scale(self) -> str:
        """What a score is measured by, in words."""
        decision, link = self.decision.name, self.link
        return f"the decision rule {decision!r}, the link {link.name!r} and the margin {link.margin:g}"

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; `from_json` reads it. Without a calibration there is no key for it."""
        written = {
            "decision": self.decision.to_json(),
            "link": asdict(self.link),
            "priors": None if self.priors is None else self.priors.to_dict(),
            "class_weighted": self.class_weighted,
        }
        return written if self.calibration is None else written | {"calibration": self.calibration.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ScoreDecoder":
        """What `to_json` wrote."""
        priors, calibration = value.get("priors"), value.get("calibration")
        return cls(
            decision_from_json(value["decision"]),
            Link(**value["link"]),
            None if priors is None else Priors(**priors),
            bool(value["class_weighted"]),
            None if calibration is None else Calibration.from_json(calibration),
        )

    @property
    def _rule(self) -> Decision | Lined:
        return (
            self.decision
            if self.calibration is None
            else Lined(self.decision, self.calibration.margin_threshold)
        )

    def _calibration(self, wanted: str) -> Calibration:
        if self.calibration is None:
            raise ValueError(
                f"{wanted}: found a model that is not calibrated, expected one with probabilities "
                "(docs/concepts/probabilities.md says how to calibrate a model)"
            )
        return self.calibration


def confidence_of(distance: NDArray[np.floating]) -> NDArray[np.float64]:
    """Distances from the line as confidences: ½ (1 + d / (1 + |d|)), between 0 and 1, at the line ½.

    Unlike a sigmoid it never reaches 1, so that what is far above the line keeps its order.

    Example:
        >>> confidence_of(np.array([-1.0, 0.0, 3.0])).tolist()
        [0.25, 0.5, 0.875]
    """
    exact = np.asarray(distance, dtype=np.float64)
    result: NDArray[np.float64] = (1 + exact / (1 + np.abs(exact))) / 2
    return result


def distance_of(confidence: float) -> float:
    """The distance from the line that has a confidence; infinite at 0 and 1.

    Example:
        >>> distance_of(0.875), distance_of(0.0)
        (3.0, -inf)
    """
    share = 2 * confidence - 1
    return share / (1 - abs(share)) if abs(share) < 1 else share * float("inf")
