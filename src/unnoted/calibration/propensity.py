"""The labelling propensity: how probable it is that a true fact was labelled, given how evident it is.

Annotators label the evident facts first, and a model finds the same facts easy. With the log odds f that a
relation holds, and the label frequency c = π_l / π of its relation,

    log odds of c(f) = log odds of c + s log(1 + exp f) - d.

Below even odds (f < 0) the propensity is nearly constant, above them its odds grow with those of the fact.
The offset d, one for all relations, keeps the expected number of labels right: it solves

    sum over pairs and relations of Δ (c(f) - c) = 0,    Δ = σ(f).

With s = 0 the labels are a fair sample of the true facts (selected completely at random, as the losses of the
paper assume), and no pair can be labelled with a probability above c. Where labels are denser than that, no
finite score fits them. With s > 0 every label density below 1 has one.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

PROPENSITY_SLOPE = 0.4
"""s. Chosen among 0, 0.4 and 0.8 on labels of held-out training documents (docs/results/ablations.md)."""

HIGHEST = 20.0
"""Log odds above which a fact counts as no more evident, so that one extreme score cannot move the offset."""

STEPS = 6
"""Newton steps to the offset, from its first-order value."""

LONGEST_STEP = 2.0
"""Of Newton: where all propensities are close to 0 or 1 the slope says little of the distance."""


def labelling_log_odds(
    log_odds: Tensor,
    facts: Tensor,
    frequency: Tensor,
    slope: float = PROPENSITY_SLOPE,
    total: Callable[[Tensor], Tensor] = Tensor.sum,
) -> Tensor:
    """The log odds that a fact was labelled, of the shape of `log_odds`.

    Args:
        log_odds: f, [..., K], that a relation holds for a pair.
        facts: of the same shape, the expected number of true facts: Δ times what the pair stands for.
        frequency: [K], log odds of the label frequency c; finite.
        slope: s.
        total: the sum over all pairs and relations.

    Example:
        >>> f = torch.tensor([[-2.0], [4.0]])
        >>> facts = f.sigmoid() * torch.tensor([[100.0], [10.0]])
        >>> labelling_log_odds(f, facts, torch.tensor([0.0]), slope=0.5).sigmoid().round(decimals=2)
        tensor([[0.3000],
                [0.7500]])
    """
    if slope == 0:
        return frequency.expand_as(log_odds)
    rise = slope * softplus(log_odds.clamp(max=HIGHEST))
    mean = frequency.sigmoid()

    def newton(offset: Tensor) -> Tensor:
        propensity = (frequency + rise - offset).sigmoid()
        excess = total(facts * (propensity - mean))
        slope_there = total(facts * propensity * (1 - propensity)).clamp(min=1e-12)
        return offset + (excess / slope_there).clamp(-LONGEST_STEP, LONGEST_STEP)

    with torch.no_grad():
        offset = total(facts * rise) / total(facts).clamp(min=1e-12)
        for _ in range(STEPS):
            offset = newton(offset)
    # The derivative of one step at the solution is that of the solution (implicit function theorem).
    return frequency + rise - newton(offset)
