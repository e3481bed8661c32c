"""What is added to the logits of the network: a bias for types, a linear model of words, rules."""

from unnoted.models.scores.type_bias import TypeBias, entity_types

__all__ = ["TypeBias", "entity_types"]
