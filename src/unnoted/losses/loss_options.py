"""The settings that a loss declares, beside the loss."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from unnoted.utils import Options, lookup

Thing = TypeVar("Thing")


class LossOptions(Options):
    """The settings of a loss. A loss that has any declares them in a subclass, as a pydantic model.

    Example:
        >>> class FocalOptions(LossOptions):
        ...     gamma: float = 2.0
        >>> FocalOptions.checked({"gama": 1.5})
        Traceback (most recent call last):
        ValueError: gama: found a setting that this loss does not have (nearest: 'gamma')
    """

    owner = "loss"


def named(what: str, table: Mapping[str, Thing]) -> Callable[[object], object]:
    """A validator of an option that is given by its name, or is the thing itself."""
    return lambda value: lookup(what, value, table) if isinstance(value, str) else value
