"""Another rule's margins with a line for each relation: how a calibrated model decides."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unnoted.losses.decisions import Decision


@dataclass(frozen=True, slots=True)
class Lined:
    """A relation is predicted where its margin under a rule is above its line, e.g. f_i − f_0 > t_i.

    A limit of the rule stays: of more relations than that, those furthest above their lines are kept. The
    none class takes no place among them, because lines below it are possible.

    Args:
        rule: whose margins are read.
        lines: one for each relation.

    Example:
        >>> from unnoted.losses.decisions import NoneClass, TopK
        >>> scores = torch.tensor([[0.5, 0.75, 1.0]])
        >>> Lined(NoneClass(), (0.5, 0.25))(scores), Lined(TopK(1), (-0.5, 0.25))(scores)
        (tensor([[False,  True]]), tensor([[ True, False]]))
    """

    rule: Decision
    lines: tuple[float, ...]

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]. Ties at the last place are all kept."""
        margins, limit = self.margins(scores), self.rule.limit
        if limit is None or limit >= margins.shape[1]:
            return margins > 0
        lowest = margins.topk(limit, dim=1).values[:, -1:]
        return (margins > 0) & (margins >= lowest)

    def margins(self, scores: Tensor) -> Tensor:
        """The rule's margin less the line, [P, K]."""
        margins = self.rule.margins(scores)
        if len(self.lines) != margins.shape[1]:
            raise ValueError(
                f"found {len(self.lines)} lines, expected one for each of {margins.shape[1]} relations"
            )
        return margins - torch.tensor(self.lines, dtype=margins.dtype).to(margins.device, non_blocking=True)
