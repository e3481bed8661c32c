"""Suggestions: probable facts that are not labelled, their review orders, and how complete the labels are."""

from typing import TYPE_CHECKING, Any

from unnoted.suggestions.completeness import (
    BelowCutoff,
    Completeness,
    ReviewDecision,
    estimate_completeness,
)
from unnoted.suggestions.ranking import Order, rank
from unnoted.suggestions.store import MissingLabels, Suggestion, SuggestionSet

if TYPE_CHECKING:
    from unnoted.suggestions.suggest import SuggestionLimits

__all__ = [
    "BelowCutoff",
    "Completeness",
    "MissingLabels",
    "Order",
    "ReviewDecision",
    "Suggestion",
    "SuggestionLimits",
    "SuggestionSet",
    "estimate_completeness",
    "rank",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "SuggestionLimits":  # loads torch, which a review does not wait for
        from unnoted.suggestions.suggest import SuggestionLimits

        return SuggestionLimits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
