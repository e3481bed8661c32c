"""What scores mean: how they decide, and how probable they say that a relation is.

A risk says it once, the model that it trains stores it, and all who read scores ask it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from unnoted.priors import Priors
from unnoted.risks.decisions import Decision, decision_from_json
from unnoted.risks.links import Link, undo_class_weight


@dataclass(frozen=True, slots=True)
class ScoreMeaning:
    """What the scores that a risk has trained mean.

    Attributes:
        decision: which relations they predict.
        link: the probability that they show.
        priors: that the risk was given; None for a risk without priors.
        class_weighted: whether positives weighed more the rarer they are, which probabilities have to undo.

    Example:
        >>> from unnoted.risks.decisions import NoneClass
        >>> meaning = ScoreMeaning(NoneClass(), Link("ranking-margin", margin=0.25))
        >>> scores = torch.tensor([[0.0, 0.125]])
        >>> meaning.decide(scores), meaning.margins(scores), meaning.probabilities(scores)
        (tensor([[True]]), tensor([[0.1250]]), tensor([[0.7500]]))
        >>> ScoreMeaning.from_json(meaning.to_json()) == meaning
        True
    """

    decision: Decision
    link: Link
    priors: Priors | None = None
    class_weighted: bool = False

    def decide(self, scores: Tensor) -> Tensor:
        """Which relations are predicted, bool [P, K], from scores [P, K + 1]."""
        return self.decision(scores)

    def margins(self, scores: Tensor) -> Tensor:
        """How far each score lies above what the decision rule asks of it, [P, K]."""
        return self.decision.margins(scores)

    def probabilities(self, scores: Tensor) -> Tensor:
        """The probability of each relation, [P, K]."""
        shown = self.link(scores)
        if self.priors is None or not self.class_weighted:
            return shown
        return undo_class_weight(shown, torch.tensor(self.priors.class_weight, dtype=scores.dtype))

    def has_scale_of(self, other: "ScoreMeaning") -> bool:
        """Whether a score says the same here and there; tuned thresholds, read off the scores, may differ."""
        return (self.decision.name, self.link) == (other.decision.name, other.link)

    def scale(self) -> str:
        """What a score is measured by, in words."""
        decision, link = self.decision.name, self.link
        return f"the decision rule {decision!r}, the link {link.name!r} and the margin {link.margin:g}"

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; `from_json` reads it."""
        return {
            "decision": self.decision.to_json(),
            "link": asdict(self.link),
            "priors": None if self.priors is None else self.priors.to_dict(),
            "class_weighted": self.class_weighted,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ScoreMeaning":
        """What `to_json` wrote."""
        priors = value.get("priors")
        return cls(
            decision_from_json(value["decision"]),
            Link(**value["link"]),
            None if priors is None else Priors(**priors),
            bool(value["class_weighted"]),
        )
