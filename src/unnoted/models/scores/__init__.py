"""From what represents a pair to a score for every relation and the none class."""

from unnoted.models.scores.biaffine import BiAffine
from unnoted.models.scores.cosine import CosineScores
from unnoted.models.scores.grouped_bilinear import GroupedBilinear
from unnoted.models.scores.linear import LinearScores
from unnoted.models.scores.type_bias import TypeBias, entity_types

__all__ = ["BiAffine", "CosineScores", "GroupedBilinear", "LinearScores", "TypeBias", "entity_types"]
