"""From pairs to scores, from scores to decisions and probabilities."""

from unnoted.scores.architectures import ARCHITECTURES, Architecture, Sizes
from unnoted.scores.decisions import (
    DECISION_OF_RISK,
    DECISIONS,
    Decision,
    Fixed,
    NoneClass,
    TopK,
    decision_from_json,
)
from unnoted.scores.probabilities import Link, class_weight
from unnoted.scores.thresholds import NEVER, tune_thresholds

__all__ = [
    "ARCHITECTURES",
    "DECISIONS",
    "DECISION_OF_RISK",
    "NEVER",
    "Architecture",
    "Decision",
    "Fixed",
    "Link",
    "NoneClass",
    "Sizes",
    "TopK",
    "class_weight",
    "decision_from_json",
    "tune_thresholds",
]
