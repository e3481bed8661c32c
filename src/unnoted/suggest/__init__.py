"""Which labels are missing: probable facts that nobody noted, in an order worth reviewing.

`unnoted.suggest(...)` is the function of that name in this room: the room itself can be called.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from unnoted.suggest.completeness import Completeness, completeness, random_sample
from unnoted.suggest.ordering import Order, chances, ordered
from unnoted.suggest.suggestion_file import MissingLabels, Suggestion, SuggestionSet, Unlisted

if TYPE_CHECKING:
    from unnoted.suggest.listing import ListLimits
    from unnoted.suggest.suggesting import suggest

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
        from unnoted.suggest.suggesting import suggest

        return suggest
    if name == "ListLimits":
        from unnoted.suggest.listing import ListLimits

        return ListLimits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _CallableRoom(ModuleType):
    """The room under the name of its function."""

    def __call__(self, *args: Any, **options: Any) -> SuggestionSet:  # noqa: ANN401
        from unnoted.suggest.suggesting import suggest

        return suggest(*args, **options)


sys.modules[__name__].__class__ = _CallableRoom
