"""Score decoding: from logits to decisions, scores and probabilities.

Logits are [P, K + 1] for P pairs and K relations, with the threshold class f_0 in column 0. A loss says once
how its logits are decoded, and the model that it trains stores this with its weights:

- a *decision rule*: which relations are predicted, from margins above f_0 or above 0;
- a *link*: which probability a logit shows at the optimum of the loss;
- a *calibration*, once fitted: from margins to calibrated probabilities, with a decision threshold.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.calibration import Calibration
from unnoted.priors import Priors
from unnoted.utils import lookup, register

MAX_INVERSE_LOGIT = 64.0
"""`Link.inverse` looks for logits between this and its opposite, far beyond the log odds of any frequency."""

BISECTIONS = 60
"""Steps of `Link.inverse`: down to the last digit of a double."""


def logits_above_threshold_class(logits: Tensor) -> Tensor:
    """f_i - f_0, from [P, K + 1] to [P, K]."""
    return logits[:, 1:] - logits[:, :1]


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """Which relations are predicted: those with a margin above 0, of which the `top_k` best of each pair.

    Args:
        reference: what margins are measured from: the threshold class, f_i - f_0, or zero, f_i.
        threshold: subtracted from margins, one for all relations or one for each; only with the reference
            zero.
        top_k: how many relations of a pair are predicted at most; None for any number.

    Example:
        >>> logits = torch.tensor([[0.5, 0.7, 0.9, 0.1]])
        >>> DecisionRule().decide(logits), DecisionRule(top_k=1).decide(logits)
        (tensor([[ True,  True, False]]), tensor([[False,  True, False]]))
        >>> DecisionRule("zero", threshold=(0.8, 0.0, 0.0)).decide(logits)
        tensor([[False,  True,  True]])
    """

    reference: Literal["threshold-class", "zero"] = "threshold-class"
    threshold: float | tuple[float, ...] = 0.0
    top_k: int | None = None

    def __post_init__(self) -> None:
        if self.reference not in ("threshold-class", "zero"):
            raise ValueError(
                f"a decision rule needs the reference threshold-class or zero, not {self.reference!r}"
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if not self.is_tunable and self.threshold != 0:
            raise ValueError("a decision rule has no other threshold beside the threshold class")

    @property
    def is_tunable(self) -> bool:
        """Whether thresholds can be tuned on development documents."""
        return self.reference == "zero"

    @property
    def uses_threshold_class(self) -> bool:
        """Whether the logit of the threshold class means anything, so that losses train it."""
        return self.reference == "threshold-class" or self.top_k is not None

    def margins(self, logits: Tensor) -> Tensor:
        """How far each logit lies above what the rule asks of it, [P, K + 1] to [P, K]."""
        if self.reference == "threshold-class":
            return logits_above_threshold_class(logits)
        if not isinstance(self.threshold, tuple):
            return logits[:, 1:] - self.threshold
        if len(self.threshold) != (relations := logits.shape[1] - 1):
            raise ValueError(
                f"{len(self.threshold)} thresholds do not fit {relations} relations: give one for each"
            )
        thresholds = torch.tensor(self.threshold, dtype=logits.dtype).to(logits.device, non_blocking=True)
        return logits[:, 1:] - thresholds

    def decide(self, logits: Tensor) -> Tensor:
        """The predicted relations, bool [P, K]; ties at the `top_k`-th place are all kept.

        The threshold class is ranked among the classes, as published: ATLOP's relations lie above it anyway,
        DocuNet trains it as one more label.
        """
        return (self.margins(logits) > 0) & self.among_best(logits)[:, 1:]

    def among_best(self, ranked: Tensor) -> Tensor:
        """Which columns are among the `top_k` best of their row, bool of the same shape."""
        if self.top_k is None:
            return torch.ones_like(ranked, dtype=torch.bool)
        return ranked >= ranked.topk(min(self.top_k, ranked.shape[1]), dim=1).values[:, -1:]

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON; `from_json` reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "DecisionRule":
        """What `to_json` wrote."""
        threshold = value["threshold"]
        threshold = tuple(map(float, threshold)) if isinstance(threshold, list | tuple) else float(threshold)
        return cls(value["reference"], threshold, value["top_k"])


LinkFunction: TypeAlias = Callable[[Tensor, float], Tensor]
"""From logits [P, K + 1] and the margin to the shown probability [P, K]."""


def _squared(logits: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y f_i - 1)² is f_i = 2Δ - 1."""
    return ((logits[:, 1:] + 1) / 2).clamp(0, 1)


def _ranking_margin(logits: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y (f_i - f_0) - m)² is f_i - f_0 = m (2Δ - 1); for m = 0, its limit from above."""
    above = logits_above_threshold_class(logits)
    return ((above + margin) / (2 * margin)).clamp(0, 1) if margin else (1 + above.sign()) / 2


def _sigmoid(logits: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y f_i) is f_i = log odds of Δ."""
    return logits[:, 1:].sigmoid()


def _sigmoid_ranking(logits: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y (f_i - f_0)) is f_i - f_0 = log odds of Δ."""
    return logits_above_threshold_class(logits).sigmoid()


def _cosine_softmax(logits: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y λ (f_i - f_0)) is f_i - f_0 = log odds of Δ / λ; the margin is 1 / λ."""
    return (logits_above_threshold_class(logits) / margin).sigmoid()


def _adaptive_focal(logits: Tensor, margin: float) -> Tensor:
    """With p = σ(f_i - f_0) and q = 1 - p, the optimum of -log p (1 + q) and -log q has odds 1 / (q a).

    The slopes of the two losses in p are -a = -((1 + q)/p - log p) and 1/q, so Δ a = (1 - Δ)/q there.
    """
    above = logits_above_threshold_class(logits)
    p, q = above.sigmoid(), (-above).sigmoid()
    return 1 / (1 + q * ((1 + q) / p - logsigmoid(above)))


LINKS: dict[str, LinkFunction] = {
    "squared": _squared,
    "ranking-margin": _ranking_margin,
    "sigmoid": _sigmoid,
    "sigmoid-ranking": _sigmoid_ranking,
    "cosine-softmax": _cosine_softmax,
    # ATLOP compares a relation with the threshold class in a softmax; of these two alone that is a sigmoid. Its
    # loss fixes no scale for pairs with several relations: a ranking, a probability only for single relations.
    "threshold-softmax": _sigmoid_ranking,
    # The same holds here: the optimum with one relation, which is a sigmoid's in the balanced softmax.
    "balanced-softmax": _sigmoid,
    "adaptive-focal": _adaptive_focal,
}
"""Every link by its name in saved models."""


def register_link(name: str, function: LinkFunction) -> None:
    """Add a link for a loss of your own; a saved model finds it by its name.

    Raises:
        ValueError: the name is taken.
    """
    register("link", name, function, LINKS)


@dataclass(frozen=True, slots=True)
class Link:
    """From logits to the probability that they show, for the loss that trained them.

    At the optimum of its loss a logit is a known function of Δ = P(relation | pair), which is inverted here.

    Args:
        name: one of `LINKS`.
        margin: m of the squared ranking loss, or 1 / λ of the softmax over cosines; the other links have
            none.

    Example:
        >>> Link("ranking-margin", margin=0.25)(torch.tensor([[0.0, 0.125, -0.5]]))
        tensor([[0.7500, 0.0000]])
        >>> Link("ranking-margin", margin=0.25).inverse(torch.tensor([[0.75]])).round(decimals=6)
        tensor([[0.1250]])
    """

    name: str
    margin: float = 0.25

    def __post_init__(self) -> None:
        lookup("link", self.name, LINKS)
        if not self.margin >= 0:
            raise ValueError(f"margin must be 0 or more, not {self.margin}")

    @property
    def unit(self) -> float:
        """What margins of this loss are measured by: m of the squared ranking loss, 1 of the others."""
        return self.margin if LINKS[self.name] is _ranking_margin and self.margin else 1.0

    def __call__(self, logits: Tensor) -> Tensor:
        """The shown probability [P, K] of logits [P, K + 1]."""
        return LINKS[self.name](logits, self.margin)

    def inverse(self, probability: Tensor) -> Tensor:
        """The logit, above the threshold class or above 0, that shows a probability between 0 and 1, [P, K].

        By bisection, so that it holds for every link, also for a registered one: all rise with the logit.
        """
        wanted = probability.double()
        low, high = torch.full_like(wanted, -MAX_INVERSE_LOGIT), torch.full_like(wanted, MAX_INVERSE_LOGIT)
        threshold_class = wanted.new_zeros(wanted.shape[0], 1)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = self(torch.cat([threshold_class, middle], 1)) < wanted
            low, high = middle.where(below, low), high.where(below, middle)
        return ((low + high) / 2).to(probability.dtype)


def undo_class_weight(probability: Tensor, class_weight: Tensor) -> Tensor:
    """The probability Δ whose odds, multiplied by γ, are those that a class-weighted loss shows.

    Minimising γ Δ ℓ(+1) + (1 - Δ) ℓ(-1) is, up to a factor, minimising Δ' ℓ(+1) + (1 - Δ') ℓ(-1), where the
    odds of Δ' are γ times those of Δ.

    Args:
        probability: Δ' [P, K].
        class_weight: γ [K]. An infinite γ belongs to a relation of prior 0, and gives 0; γ = 0 belongs to one
            of prior 1, and gives 1.

    Example:
        >>> undo_class_weight(torch.tensor([[0.5, 0.5]]), torch.tensor([1.0, 3.0]))
        tensor([[0.5000, 0.2500]])
    """
    weight = class_weight.to(probability)
    usual = probability / (probability + weight * (1 - probability))
    # Where γ is infinite or 0, Δ' = 1 or Δ' = 0 would give a quotient of 0 and 0.
    limit = torch.where(weight > 1, 0.0, 1.0).to(probability)
    return torch.where((weight > 0) & weight.isfinite(), usual, limit)


@dataclass(frozen=True, slots=True)
class ScoreDecoder:
    """How logits are read: which relations they predict, their scores, and their probabilities.

    Attributes:
        decision: which relations are predicted, without a calibration.
        link: the probability that logits show, if the loss was minimised.
        priors: that the loss was given; None for a loss without priors.
        class_weighted: whether the loss weighted positives by γ, which probabilities have to undo.
        calibration: from margins to probabilities, with a decision threshold; None before it is fitted.

    Example:
        >>> decoder = ScoreDecoder(DecisionRule(), Link("ranking-margin", margin=0.25))
        >>> logits = torch.tensor([[0.0, 0.125]])
        >>> decoder.decide(logits), decoder.margins(logits), decoder.probabilities(logits)
        (tensor([[True]]), tensor([[0.1250]]), tensor([[0.7500]]))
        >>> ScoreDecoder.from_json(decoder.to_json()) == decoder
        True
    """

    decision: DecisionRule
    link: Link
    priors: Priors | None = None
    class_weighted: bool = False
    calibration: Calibration | None = None

    @property
    def is_calibrated(self) -> bool:
        """Whether `probabilities` have been calibrated; else they are those of the link."""
        return self.calibration is not None

    def decide(self, logits: Tensor, threshold: float | None = None) -> Tensor:
        """The predicted relations, bool [P, K]: those with a score above a threshold, and among the `top_k` best.

        Args:
            logits: [P, K + 1].
            threshold: of the score; by default `self.threshold`.
        """
        threshold = self.threshold if threshold is None else threshold
        if self.calibration is None and threshold == self.threshold:
            return self.decision.decide(logits)  # a margin above 0 is a score above 0.5
        above = self.scores(logits) > threshold
        # Not the threshold class, which may lie above a threshold that was calibrated or given.
        return above & self.decision.among_best(self.decision.margins(logits))

    def margins(self, logits: Tensor) -> Tensor:
        """How far each logit lies above the decision threshold, [P, K]."""
        start = 0.0 if self.calibration is None else self.calibration.margin_threshold
        return self.decision.margins(logits) - start

    def distances(self, logits: Tensor) -> Tensor:
        """How far each relation lies from the decision threshold, [P, K], in a unit that relations share.

        With a calibration the difference of log odds, else the margin in units of the loss. It rises with the
        margin, without ties, and is 0 at the threshold.
        """
        if self.calibration is None:
            return self.margins(logits) / self.link.unit
        margins = self.decision.margins(logits)
        # The threshold's log odds from the curve, too: so both are rounded alike.
        threshold = margins.new_tensor([self.calibration.margin_threshold])
        return self.calibration.curve(margins) - self.calibration.curve(threshold)

    @property
    def threshold(self) -> float:
        """The score above which a relation is predicted, unless `top_k` of the decision rule forbids it."""
        return 0.5 if self.calibration is None else self.calibration.threshold

    def scores(self, logits: Tensor) -> Tensor:
        """The score of each relation, float64 [P, K] in [0, 1], from logits [P, K + 1].

        The calibrated probability; without a calibration the sigmoid of the margin, in units of the loss. It
        rises with the margin, without ties, so that it orders facts.
        """
        if self.calibration is None:
            return self.distances(logits).double().sigmoid()
        return self.calibration.curve(self.decision.margins(logits)).double().sigmoid()

    def probabilities(self, logits: Tensor) -> Tensor:
        """The probability of each relation, [P, K]: calibrated, or what the link shows."""
        if self.calibration is not None:
            return self.calibration.probabilities(self.decision.margins(logits))
        shown = self.link(logits)
        if self.priors is None or not self.class_weighted:
            return shown
        return undo_class_weight(shown, torch.tensor(self.priors.class_weight, dtype=logits.dtype))

    def is_comparable_to(self, other: "ScoreDecoder") -> bool:
        """Whether equal logits show equal probabilities; tuned thresholds may differ."""
        return (self.decision.reference, self.link) == (other.decision.reference, other.link)

    def describe_scale(self) -> str:
        """What logits are measured by."""
        link = self.link
        return (
            f"margins from {self.decision.reference}, the link {link.name!r} and the margin {link.margin:g}"
        )

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
            DecisionRule.from_json(value["decision"]),
            Link(**value["link"]),
            None if priors is None else Priors(**priors),
            bool(value["class_weighted"]),
            None if calibration is None else Calibration.from_json(calibration),
        )
