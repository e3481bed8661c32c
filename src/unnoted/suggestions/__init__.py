"""Which labels are missing: probable unlabelled facts, in an order worth reviewing."""

from typing import TYPE_CHECKING, Any

from unnoted.suggestions.completeness import Completeness, completeness, random_sample
from unnoted.suggestions.ordering import Order, chances, ordered
from unnoted.suggestions.suggestion_file import MissingLabels, Suggestion, SuggestionSet, Unlisted

if TYPE_CHECKING:
    from unnoted.suggestions.listing import ListLimits
    from unnoted.suggestions.suggesting import suggest

__all__ = [
    "Completeness",
    "ListLimits",
    "MissingLabels",
    "Order",
    "Suggestion",
    "SuggestionSet",
    "Unlisted",
    "chances",
    "completeness",
    "ordered",
    "random_sample",
    "suggest",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    # They load torch, which reviewing suggestions does not wait for.
    if name == "suggest":
        from unnoted.suggestions.suggesting import suggest

        return suggest
    if name == "ListLimits":
        from unnoted.suggestions.listing import ListLimits

        return ListLimits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
