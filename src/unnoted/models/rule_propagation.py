"""Rule propagation: what follows from another fact is at least as probable as that fact."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unnoted.losses.decoding import ScoreDecoder
from unnoted.models.batch import Batch
from unnoted.rules import Rule, RuleKind

LEAST_MARGIN = 1e-3
"""Of a conclusion that is predicted because its premise is."""

MOST_CERTAIN = 1 - 1e-6
"""The highest probability that is looked up in an inverse link."""


class RulePropagation(nn.Module):
    """Raises the probability of a conclusion to that of its premise, where it lies below.

    Rules with one premise are applied, about the same pair or the other way round, once and all at the same
    time. It is for prediction: in training a missing label would pull its premise down.

    Scores of most losses show one probability for one margin, whatever the relation, and margins are compared.
    Losses with class weights train larger margins for rarer relations; there the probabilities are compared
    and turned back into margins. If the premise is predicted, the conclusion is, too, whatever threshold its
    own relation has.

    Args:
        rules: those with two premises are left out.
        relations: the relation ids, K of them, in the order of the scores.
    """

    def __init__(self, rules: Sequence[Rule], relations: Sequence[str]) -> None:
        super().__init__()
        position = {relation: number for number, relation in enumerate(relations)}
        self.rules = tuple(rule for rule in rules if rule.kind is not RuleKind.COMPOSITION)
        named = {name for rule in self.rules for name in (*rule.premises, rule.conclusion)}
        if unknown := named - position.keys():
            raise ValueError(f"rules: the model has no relation {min(unknown)!r}")
        self.columns = [(position[rule.premises[0]], position[rule.conclusion]) for rule in self.rules]

    def forward(self, logits: Tensor, batch: Batch, decoder: ScoreDecoder) -> tuple[Tensor, Tensor]:
        """Propagate along the rules.

        Returns:
            The logits with those of conclusions raised, and the number of the rule that did it, int16 [P, K],
            or -1.
        """
        zero = (
            logits[:, :1]
            if decoder.decision.reference == "threshold-class"
            else torch.zeros_like(logits[:, :1])
        )
        margins = logits[:, 1:] - zero  # [P, K]
        inverse = find_inverse_pairs(batch)
        gamma = self._class_weight(decoder, margins)
        if gamma is None:
            raised, rule = self._propagate(margins, inverse)
        else:
            most, rule = self._propagate(decoder.probabilities(logits), inverse)
            most = most.clamp(max=MOST_CERTAIN)
            wanted = rule >= 0
            weighted = (gamma * most / (gamma * most + 1 - most))[wanted]
            raised = margins.clone()
            raised[wanted] = decoder.link.inverse(weighted[:, None])[:, 0].to(margins.dtype)
            raised = raised.maximum(margins)
        if decoder.calibration is None:
            thresholds = margins - decoder.decision.margins(logits)  # that were tuned, or 0, [P, K]
            predicted, by = self._propagate((margins > thresholds).to(margins.dtype), inverse)
            missed = (predicted > 0) & (raised <= thresholds)
            raised = torch.where(missed, thresholds + LEAST_MARGIN, raised)
            rule = torch.where(missed, by, rule)
        # What no rule has raised stays as it was, to the last bit.
        return torch.cat([logits[:, :1], torch.where(rule >= 0, raised + zero, logits[:, 1:])], 1), rule

    def _propagate(self, values: Tensor, inverse: Tensor) -> tuple[Tensor, Tensor]:
        """Each conclusion's value, or that of its premise if it is higher, [P, K], and the number of the rule."""
        lowest = values.new_full((1, values.shape[1]), -torch.inf)
        turned = torch.cat([values, lowest])[inverse]
        raised, rule = values.clone(), torch.full_like(values, -1, dtype=torch.int16)
        for number, (each, (premise, conclusion)) in enumerate(zip(self.rules, self.columns, strict=True)):
            said = (turned if each.kind is RuleKind.INVERSION else values)[:, premise]  # [P]
            higher = said > raised[:, conclusion]
            raised[:, conclusion] = torch.where(higher, said, raised[:, conclusion])
            rule[:, conclusion] = torch.where(higher, number, rule[:, conclusion])
        return raised, rule

    def _class_weight(self, decoder: ScoreDecoder, margins: Tensor) -> Tensor | None:
        """γ of each relation, [K], if equal margins do not show equal probabilities."""
        if decoder.calibration is not None or not decoder.class_weighted or decoder.priors is None:
            return None
        gamma = torch.tensor(decoder.priors.class_weight, dtype=margins.dtype, device=margins.device)
        return gamma.where(gamma.isfinite(), gamma.new_ones(()))


def find_inverse_pairs(batch: Batch) -> Tensor:
    """For each pair the row of the pair the other way round, int64 [P]; P where that is no candidate."""
    entities, pairs = len(batch.entity_document), len(batch.head)
    key, wanted = batch.head * entities + batch.tail, batch.tail * entities + batch.head  # [P]
    if not pairs:
        return key
    ordered, order = key.sort()
    place = torch.searchsorted(ordered, wanted).clamp(max=pairs - 1)
    return torch.where(ordered[place] == wanted, order[place], pairs)
