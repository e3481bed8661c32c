"""Scores that keep to rules: what follows from another fact is at least as sure as that fact."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unnoted.models.batch import Batch
from unnoted.rules import Inverse, Rule, SamePair


class RuleLift(nn.Module):
    """Lifts the margin of a conclusion to that of its premise, where it lies below.

    Rules with one premise are applied, about the same pair or the other way round, once and all at the same
    time. They are for scores that are used: in training a label that is missing would pull its premise down.

    Args:
        rules: those with two premises are left out.
        relations: the relation ids, K of them, in the order of the scores.

    Example:
        >>> lift = RuleLift([Rule(Inverse("spouse"), "spouse")], ["child", "spouse"])
        >>> lift.columns
        [(1, 1)]
    """

    def __init__(self, rules: Sequence[Rule], relations: Sequence[str]) -> None:
        super().__init__()
        position = {relation: number for number, relation in enumerate(relations)}
        self.rules = tuple(rule for rule in rules if rule.body.kind in (SamePair.kind, Inverse.kind))
        named = {name for rule in self.rules for name in (*rule.body.relations, rule.conclusion)}
        if unknown := named - position.keys():
            raise ValueError(f"rules: found the relation {min(unknown)!r}, expected relations of the model")
        self.columns = [(position[rule.body.relations[0]], position[rule.conclusion]) for rule in self.rules]

    def forward(self, scores: Tensor, batch: Batch, from_threshold_class: bool) -> tuple[Tensor, Tensor]:
        """The scores [P, K + 1], lifted, and the number of the rule that did it, int16 [P, K], or -1.

        Args:
            scores: of the pairs of a batch.
            batch: whose pairs they are.
            from_threshold_class: whether margins are measured from the none class, as the decision rule has it.
        """
        zero = scores[:, :1] if from_threshold_class else torch.zeros_like(scores[:, :1])
        margins = scores[:, 1:] - zero  # [P, K]
        turned = torch.cat([margins, margins.new_full((1, margins.shape[1]), -torch.inf)])[inverse_of(batch)]
        lifted, brought = margins.clone(), torch.full_like(margins, -1, dtype=torch.int16)
        for number, (rule, (premise, conclusion)) in enumerate(zip(self.rules, self.columns, strict=True)):
            said = (turned if rule.body.kind == Inverse.kind else margins)[:, premise]  # [P]
            higher = said > lifted[:, conclusion]
            lifted[:, conclusion] = torch.where(higher, said, lifted[:, conclusion])
            brought[:, conclusion] = torch.where(higher, number, brought[:, conclusion])
        # What no rule has lifted stays as it was, to the last bit.
        kept = torch.where(brought >= 0, lifted + zero, scores[:, 1:])
        return torch.cat([scores[:, :1], kept], 1), brought


def inverse_of(batch: Batch) -> Tensor:
    """For each pair the row of the pair the other way round, int64 [P]; P where that is no candidate."""
    entities, pairs = len(batch.entity_document), len(batch.head)
    key, wanted = batch.head * entities + batch.tail, batch.tail * entities + batch.head  # [P]
    if not pairs:
        return key
    ordered, order = key.sort()
    place = torch.searchsorted(ordered, wanted).clamp(max=pairs - 1)
    return torch.where(ordered[place] == wanted, order[place], pairs)
