"""Another rule's margins above a common threshold: how a calibrated model decides."""

from dataclasses import dataclass

from torch import Tensor

from unnoted.losses.decisions import Decision


@dataclass(frozen=True, slots=True)
class Lined:
    """A relation is predicted where its margin under a rule is above a threshold, e.g. f_i − f_0 > t.

    A limit of the rule stays: of more relations than that, those furthest above are kept. The none class
    takes no place among them, because thresholds below it are possible.

    Args:
        rule: whose margins are read.
        threshold: one for all relations.

    Example:
        >>> import torch
        >>> from unnoted.losses.decisions import NoneClass, TopK
        >>> scores = torch.tensor([[0.5, 0.75, 1.0]])
        >>> Lined(NoneClass(), 0.3)(scores), Lined(TopK(1), 0.1)(scores)
        (tensor([[False,  True]]), tensor([[False,  True]]))
    """

    rule: Decision
    threshold: float

    def __call__(self, scores: Tensor) -> Tensor:
        """Decide: scores [P, K + 1] to bool [P, K]. Ties at the last place are all kept."""
        margins, limit = self.margins(scores), self.rule.limit
        if limit is None or limit >= margins.shape[1]:
            return margins > 0
        lowest = margins.topk(limit, dim=1).values[:, -1:]
        return (margins > 0) & (margins >= lowest)

    def margins(self, scores: Tensor) -> Tensor:
        """The rule's margin less the threshold, [P, K]."""
        return self.rule.margins(scores) - self.threshold
