"""Suggestions: probable facts that are not labelled, their review orders, and how complete the labels are."""

from unnoted.suggestions.completeness import (
    BelowCutoff,
    Completeness,
    ReviewDecision,
    estimate_completeness,
)
from unnoted.suggestions.ranking import Order, rank
from unnoted.suggestions.store import FEW_LABELS, MissingLabels, Suggestion, SuggestionSet

__all__ = [
    "FEW_LABELS",
    "BelowCutoff",
    "Completeness",
    "MissingLabels",
    "Order",
    "ReviewDecision",
    "Suggestion",
    "SuggestionSet",
    "estimate_completeness",
    "rank",
]
