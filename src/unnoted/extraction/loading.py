"""Loading a saved model for use, with every fault of its folder named."""

import re
from os import PathLike
from pathlib import Path

from unnoted.model import ModelError, RelationModel

HUB_NAME = r"[\w-][\w.-]*/[\w.-]+"
"""How models on the hub are called. Nothing else is looked for there: it takes long without a network."""


def load_model(path: str | PathLike[str]) -> RelationModel:
    """A saved model, in evaluation mode.

    Args:
        path: a folder that `save_pretrained` wrote, or the name of one on the hub.

    Raises:
        ModelError: the folder is missing, incomplete, damaged or something else.
    """
    folder = Path(path)
    if not folder.is_dir() and not re.fullmatch(HUB_NAME, str(path)):
        raise ModelError(
            f"{path}: found no such folder, expected one written by save_pretrained, or the name of one "
            "on the hub (owner/name)"
        )
    return RelationModel.from_pretrained(path).eval()  # type: ignore[no-untyped-call, no-any-return]
