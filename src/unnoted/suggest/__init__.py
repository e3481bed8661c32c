"""Which labels are missing: probable facts that nobody noted, in an order worth reviewing."""

from unnoted.suggest.completeness import Completeness, completeness, random_sample
from unnoted.suggest.ordering import Order, chances, ordered
from unnoted.suggest.suggestion_file import MissingLabels, Suggestion, SuggestionSet, Unlisted

__all__ = [
    "Completeness",
    "MissingLabels",
    "Order",
    "Suggestion",
    "SuggestionSet",
    "Unlisted",
    "chances",
    "completeness",
    "ordered",
    "random_sample",
]
