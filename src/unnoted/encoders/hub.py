"""Where a pretrained model is: in a folder, or on the hub; a mistyped name is noticed without waiting."""

import re
from os import PathLike
from pathlib import Path

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
"""How models on the hub are called: `name` or `owner/name`."""

SECONDS = 5
"""How long the hub may take to answer at all."""


def is_on_hub(path: str | PathLike[str]) -> bool:
    """Whether a string that is no folder can be the name of a model on the hub.

    It cannot if it looks like a path, or its first part is a folder: `runs/onw` beside `runs/own` is a typing
    mistake.

    Example:
        >>> is_on_hub("bert-base-cased"), is_on_hub("owner/name"), is_on_hub("./own"), is_on_hub("a/b/c")
        (True, True, False, False)
    """
    owner, slash, _ = str(path).partition("/")
    return bool(HUB_NAME.fullmatch(str(path))) and not (slash and Path(owner).is_dir())


def hub_options(path: str | PathLike[str]) -> dict[str, bool]:
    """Options for `from_pretrained`: where the hub cannot be reached, look only into its cache."""
    return {"local_files_only": True} if not Path(path).is_dir() and not _hub_answers() else {}


def _hub_answers() -> bool:
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=SECONDS)
    except Exception:  # whatever keeps it from answering: no network, a proxy, offline mode
        return False
    return True
