"""From pair embeddings to scores, from scores to decisions and probabilities."""

from unnoted.scores.decisions import (
    DECISION_OF_RISK,
    DECISIONS,
    Decision,
    Fixed,
    NoneClass,
    TopK,
    decision_from_json,
)
from unnoted.scores.grouped_bilinear import GroupedBilinear
from unnoted.scores.probabilities import Link, class_weight
from unnoted.scores.thresholds import NEVER, tune_thresholds

__all__ = [
    "DECISIONS",
    "DECISION_OF_RISK",
    "NEVER",
    "Decision",
    "Fixed",
    "GroupedBilinear",
    "Link",
    "NoneClass",
    "TopK",
    "class_weight",
    "decision_from_json",
    "tune_thresholds",
]
