"""The settings that a loss declares: names, types, defaults and checks in one place, beside the loss."""

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from unnoted.common.errors import shown
from unnoted.common.lookup import lookup, nearest

Thing = TypeVar("Thing")


class LossOptions(BaseModel):
    """The settings of a loss. A loss that has any declares them in a subclass, as a pydantic model.

    Example:
        >>> class FocalOptions(LossOptions):
        ...     gamma: float = 2.0
        >>> FocalOptions.checked({"gamma": 1.5})
        FocalOptions(gamma=1.5)
        >>> FocalOptions.checked({"gama": 1.5})
        Traceback (most recent call last):
        ValueError: gama: found a setting that this loss does not have (nearest: 'gamma')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True)

    @classmethod
    def checked(cls, values: Mapping[str, object]) -> Self:
        """The options with these values, and defaults for the others.

        Raises:
            ValueError: in one line, names each setting, what was found and what was expected.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            problems = [cls._problem(dict(detail)) for detail in error.errors()]
            raise ValueError("; ".join(problems)) from None

    @classmethod
    def _problem(cls, detail: Mapping[str, Any]) -> str:
        key = ".".join(map(str, detail["loc"]))
        if detail["type"] == "extra_forbidden":
            return f"{key}: found a setting that this loss does not have{nearest(key, cls.model_fields)}"
        message = str(detail["msg"]).removeprefix("Input should be ")
        if detail["type"] == "value_error":
            return f"{key}: {message.removeprefix('Value error, ')}"
        return f"{key}: found {shown(detail['input'])}, expected {message[:1].lower()}{message[1:]}"


def named(what: str, table: Mapping[str, Thing]) -> Callable[[object], object]:
    """A validator of an option that is given by its name, or is the thing itself."""
    return lambda value: lookup(what, value, table) if isinstance(value, str) else value
