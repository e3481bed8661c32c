"""From what represents a pair to a score for every relation and the none class."""

from unnoted.scores.biaffine import BiAffine
from unnoted.scores.cosine import CosineScores
from unnoted.scores.grouped_bilinear import GroupedBilinear
from unnoted.scores.linear import LinearScores
from unnoted.scores.type_bias import TypeBias, entity_types

__all__ = ["BiAffine", "CosineScores", "GroupedBilinear", "LinearScores", "TypeBias", "entity_types"]
