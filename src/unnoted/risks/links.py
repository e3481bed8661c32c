"""Probabilities read off the scores: for each loss, the link that its optimum gives.

At the optimum of its risk a score is a known function of the posterior Δ = P(relation | pair), so it can be
inverted. The risks weight the positives by γ = ((1 - π)/π)^0.5, and the optimum of a weighted risk shows

    Δ' = γ Δ / (γ Δ + 1 - Δ),   that is, odds multiplied by γ,

because minimising γ Δ ℓ(+1) + (1 - Δ) ℓ(-1) is, up to a factor, minimising Δ' ℓ(+1) + (1 - Δ') ℓ(-1). So the
shown odds are divided by γ to give Δ.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

Shown = Callable[[Tensor, float], Tensor]
"""From scores [P, K + 1] and the margin to the shown probability Δ' [P, K]."""


def _ranking_margin(scores: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y (f_i - f_0) - m)² is f_i - f_0 = m (2 Δ' - 1); for m = 0, its limit from above."""
    above = scores[:, 1:] - scores[:, :1]
    return ((above + margin) / (2 * margin)).clamp(0, 1) if margin else (1 + above.sign()) / 2


def _squared(scores: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y f_i - 1)² is f_i = 2 Δ' - 1."""
    return ((scores[:, 1:] + 1) / 2).clamp(0, 1)


def _sigmoid_ranking(scores: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y (f_i - f_0)) is f_i - f_0 = log odds of Δ'."""
    return (scores[:, 1:] - scores[:, :1]).sigmoid()


def _sigmoid(scores: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y f_i) is f_i = log odds of Δ'."""
    return scores[:, 1:].sigmoid()


def _adaptive_focal(scores: Tensor, margin: float) -> Tensor:
    """With p = σ(f_i - f_0) and q = 1 - p, the optimum of -log p (1 + q) and -log q has odds 1 / (q a).

    The slopes of the two losses in p are -a = -((1 + q)/p - log p) and 1/q, so Δ' a = (1 - Δ')/q there.
    """
    above = scores[:, 1:] - scores[:, :1]
    p, q = above.sigmoid(), (-above).sigmoid()
    return 1 / (1 + q * ((1 + q) / p - logsigmoid(above)))


SHOWN: dict[str, Shown] = {
    "squared": _squared,
    "ranking-margin": _ranking_margin,
    "sigmoid": _sigmoid,
    "sigmoid-ranking": _sigmoid_ranking,
    # ATLOP compares a relation with the threshold class in a soft-max; of the two alone that is a sigmoid.
    # Its loss fixes no scale for pairs with several relations: a ranking, a probability only for single ones.
    "threshold-softmax": _sigmoid_ranking,
    # The same holds for these two: the optimum with one relation, where the balanced soft-max is a sigmoid.
    # With more, the unlabelled ones of a pair share one soft-max, and only the ranking is sure.
    "balanced-softmax": _sigmoid,
    "adaptive-focal": _adaptive_focal,
}
"""The shown probability by the name that a risk gives its link."""


def undo_class_weight(shown: Tensor, class_weight: Tensor | None) -> Tensor:
    """The probability Δ whose odds, multiplied by γ, are the shown ones.

    Args:
        shown: Δ' [P, K].
        class_weight: γ [K], or None for 1. An infinite γ belongs to a relation of prior 0, and gives 0;
            γ = 0 belongs to one of prior 1, and gives 1.

    Example:
        >>> undo_class_weight(torch.tensor([[0.5, 0.5]]), torch.tensor([1.0, 3.0]))
        tensor([[0.5000, 0.2500]])
    """
    if class_weight is None:
        return shown
    weight = class_weight.to(shown)
    # Δ = Δ' / (Δ' + γ (1 - Δ')). Where γ is infinite or 0, Δ' = 1 or Δ' = 0 would give a quotient of 0 and 0.
    usual = shown / (shown + weight * (1 - shown))
    limit = torch.where(weight > 1, 0.0, 1.0).to(shown)
    return torch.where((weight > 0) & weight.isfinite(), usual, limit)


@dataclass(frozen=True, slots=True)
class Link:
    """From scores to probabilities, for the loss that trained them.

    Args:
        name: the name that the risk gives, one of `SHOWN`.
        margin: the margin m of the squared ranking loss. With 0, which teaches nothing, the shown
            probabilities are 1, 0 and, at a tie, a half.

    Example:
        >>> scores = torch.tensor([[0.0, 0.125, -0.5]])
        >>> Link("ranking-margin", margin=0.25)(scores)
        tensor([[0.7500, 0.0000]])
    """

    name: str
    margin: float = 0.25

    def __post_init__(self) -> None:
        if self.name not in SHOWN:
            raise ValueError(f"found link {self.name!r}, expected one of {', '.join(map(repr, SHOWN))}")
        if not self.margin >= 0:
            raise ValueError(f"found margin {self.margin}, expected 0 or more")

    def __call__(self, scores: Tensor, class_weight: Tensor | None = None) -> Tensor:
        """Probabilities [P, K] of scores [P, K + 1], given the class weights γ [K] that training used."""
        return undo_class_weight(SHOWN[self.name](scores, self.margin), class_weight)


def class_weight(prior: Tensor) -> Tensor:
    """γ = ((1 - π)/π)^0.5 of priors π [K]; infinite for a prior of 0.

    Example:
        >>> class_weight(torch.tensor([0.5, 0.2, 0.0]))
        tensor([1., 2., inf])
    """
    return ((1 - prior) / prior).sqrt()
