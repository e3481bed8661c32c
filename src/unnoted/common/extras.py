"""Optional parts of the installation: imported when they are needed, and named when they are missing."""

from importlib import import_module
from types import ModuleType


class MissingExtra(ValueError):
    """A library that only an extra installs is not there."""


def needed(module: str, extra: str) -> ModuleType:
    """A module that an extra of `unnoted` installs.

    Raises:
        MissingExtra: it is not installed; names what to install.

    Example:
        >>> needed("missing", "spacy")
        Traceback (most recent call last):
        unnoted.common.extras.MissingExtra: found no missing, expected it: pip install 'unnoted[spacy]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise  # it is there, and something of its own is missing
        raise MissingExtra(f"found no {root}, expected it: pip install 'unnoted[{extra}]'") from None
