"""The settings that a part declares: names, types, defaults and checks in one place, beside the part."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from unnoted.common.errors import shown
from unnoted.common.lookup import nearest


class Options(BaseModel):
    """The settings of a part that is chosen by name: a loss, an architecture.

    A part that has any declares them in a subclass, as a pydantic model.

    Attributes:
        owner: what such a part is called.

    Example:
        >>> class FocalOptions(Options):
        ...     owner = "loss"
        ...     gamma: float = 2.0
        >>> FocalOptions.checked({"gamma": 1.5})
        FocalOptions(gamma=1.5)
        >>> FocalOptions.checked({"gama": 1.5})
        Traceback (most recent call last):
        ValueError: gama: found a setting that this loss does not have (nearest: 'gamma')
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True)

    owner: ClassVar[str] = "part"

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
            return (
                f"{key}: found a setting that this {cls.owner} does not have{nearest(key, cls.model_fields)}"
            )
        message = str(detail["msg"]).removeprefix("Input should be ")
        if detail["type"] == "value_error":
            reason = message.removeprefix("Value error, ")
            return f"{key}: {reason}" if key else reason  # what concerns several settings names them itself
        return f"{key}: found {shown(detail['input'])}, expected {message[:1].lower()}{message[1:]}"
