"""Links: how probable a relation is, read off the scores; for each loss, what its optimum says.

At the optimum of its loss a score is a known function of the posterior Δ = P(relation | pair), so it can be
inverted. Where training weighted the positives by γ, what is read off is Δ', whose odds are those of Δ
multiplied by γ, because minimising γ Δ ℓ(+1) + (1 - Δ) ℓ(-1) is, up to a factor, minimising
Δ' ℓ(+1) + (1 - Δ') ℓ(-1). `undo_class_weight` gives Δ.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.decisions import logits_above_threshold_class
from unnoted.utils import lookup, register

HIGHEST_START = 64.0
"""Scores are looked for between this and its opposite, far beyond the log odds of any share."""

HALVINGS = 60
"""How often what lies between is halved: down to the last digit of a double."""

Shown = Callable[[Tensor, float], Tensor]
"""From scores [P, K + 1] and the margin to the shown probability Δ' [P, K]."""


def _ranking_margin(scores: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y (f_i - f_0) - m)² is f_i - f_0 = m (2 Δ' - 1); for m = 0, its limit from above."""
    above = logits_above_threshold_class(scores)
    return ((above + margin) / (2 * margin)).clamp(0, 1) if margin else (1 + above.sign()) / 2


def _squared(scores: Tensor, margin: float) -> Tensor:
    """The optimum of ¼(y f_i - 1)² is f_i = 2 Δ' - 1."""
    return ((scores[:, 1:] + 1) / 2).clamp(0, 1)


def _sigmoid_ranking(scores: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y (f_i - f_0)) is f_i - f_0 = log odds of Δ'."""
    return logits_above_threshold_class(scores).sigmoid()


def _sigmoid(scores: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y f_i) is f_i = log odds of Δ'."""
    return scores[:, 1:].sigmoid()


def _cosine_softmax(scores: Tensor, margin: float) -> Tensor:
    """The optimum of -log σ(y λ (f_i - f_0)) is f_i - f_0 = log odds of Δ' / λ; the margin is 1 / λ."""
    return (logits_above_threshold_class(scores) / margin).sigmoid()


def _adaptive_focal(scores: Tensor, margin: float) -> Tensor:
    """With p = σ(f_i - f_0) and q = 1 - p, the optimum of -log p (1 + q) and -log q has odds 1 / (q a).

    The slopes of the two losses in p are -a = -((1 + q)/p - log p) and 1/q, so Δ' a = (1 - Δ')/q there.
    """
    above = logits_above_threshold_class(scores)
    p, q = above.sigmoid(), (-above).sigmoid()
    return 1 / (1 + q * ((1 + q) / p - logsigmoid(above)))


LINKS: dict[str, Shown] = {
    "squared": _squared,
    "ranking-margin": _ranking_margin,
    "sigmoid": _sigmoid,
    "sigmoid-ranking": _sigmoid_ranking,
    "cosine-softmax": _cosine_softmax,
    # ATLOP compares a relation with the threshold class in a soft-max; of the two alone that is a sigmoid.
    # Its loss fixes no scale for pairs with several relations: a ranking, a probability only for single ones.
    "threshold-softmax": _sigmoid_ranking,
    # The same holds for these two: the optimum with one relation, which is a sigmoid's in the balanced
    # soft-max. With more, the unlabelled ones of a pair share one soft-max, and only the ranking is sure.
    "balanced-softmax": _sigmoid,
    "adaptive-focal": _adaptive_focal,
}
"""Every link by its name in saved models."""


def register_link(name: str, shown: Shown) -> None:
    """Add a link for a loss of your own; a saved model finds it by its name.

    Raises:
        ValueError: if the name is taken.
    """
    register("link", name, shown, LINKS)


@dataclass(frozen=True, slots=True)
class Link:
    """From scores to the probability that they show, for the loss that trained them.

    Args:
        name: one of `LINKS`.
        margin: the margin m of the squared ranking loss, or 1 / λ of the soft-max over cosines; the other
            links have none. With m = 0, which teaches nothing, the shown probabilities are 1, 0 and, at a
            tie, a half.

    Example:
        >>> Link("ranking-margin", margin=0.25)(torch.tensor([[0.0, 0.125, -0.5]]))
        tensor([[0.7500, 0.0000]])
    """

    name: str
    margin: float = 0.25

    def __post_init__(self) -> None:
        lookup("link", self.name, LINKS)
        if not self.margin >= 0:
            raise ValueError(f"found margin {self.margin}, expected 0 or more")

    @property
    def unit(self) -> float:
        """What margins of this loss are measured by: m of the squared ranking loss, 1 of the others."""
        return self.margin if LINKS[self.name] is _ranking_margin and self.margin else 1.0

    def __call__(self, scores: Tensor) -> Tensor:
        """The shown probability Δ' [P, K] of scores [P, K + 1]."""
        return LINKS[self.name](scores, self.margin)


def score_showing(link: Link, shown: Tensor) -> Tensor:
    """The score, above the none class or above 0, at which a link shows a probability.

    Found by halving, so that it holds for every link, also for one of your own: all rise with the score.

    Args:
        link: from scores to probabilities.
        shown: Δ' [P, K], above 0 and below 1.

    Example:
        >>> score_showing(Link("ranking-margin", margin=0.25), torch.tensor([[0.75]])).round(decimals=6)
        tensor([[0.1250]])
    """
    wanted = shown.double()
    low, high = torch.full_like(wanted, -HIGHEST_START), torch.full_like(wanted, HIGHEST_START)
    none = wanted.new_zeros(wanted.shape[0], 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = link(torch.cat([none, middle], 1)) < wanted
        low, high = middle.where(below, low), high.where(below, middle)
    return ((low + high) / 2).to(shown.dtype)


def undo_class_weight(shown: Tensor, class_weight: Tensor) -> Tensor:
    """The probability Δ whose odds, multiplied by γ, are the shown ones.

    Args:
        shown: Δ' [P, K].
        class_weight: γ [K]. An infinite γ belongs to a relation of prior 0, and gives 0; γ = 0 belongs to one
            of prior 1, and gives 1.

    Example:
        >>> undo_class_weight(torch.tensor([[0.5, 0.5]]), torch.tensor([1.0, 3.0]))
        tensor([[0.5000, 0.2500]])
    """
    weight = class_weight.to(shown)
    # Δ = Δ' / (Δ' + γ (1 - Δ')). Where γ is infinite or 0, Δ' = 1 or Δ' = 0 would give a quotient of 0 and 0.
    usual = shown / (shown + weight * (1 - shown))
    limit = torch.where(weight > 1, 0.0, 1.0).to(shown)
    return torch.where((weight > 0) & weight.isfinite(), usual, limit)
