"""Which labels are missing: probable facts that nobody noted, in an order worth reviewing."""

from unnoted.suggest.suggestion_file import MissingLabels, Suggestion, SuggestionSet, Unlisted

__all__ = ["MissingLabels", "Suggestion", "SuggestionSet", "Unlisted"]
