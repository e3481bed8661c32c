"""Where a pretrained model is: in a folder, or on the hub; a mistyped name is noticed without waiting."""

import re
from os import PathLike
from pathlib import Path
from typing import Any

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


def fetched_folder(path: str | PathLike[str], options: dict[str, Any]) -> Path:
    """The folder into which the files of a model on the hub are fetched: it is then looked at as any other.

    Args:
        path: the model's name.
        options: those of `from_pretrained`; what says where the files are is taken out of them.
    """
    from huggingface_hub import snapshot_download

    names = ("revision", "token", "cache_dir", "force_download", "local_files_only")
    where = hub_options(path) | {name: options.pop(name) for name in names if name in options}
    kept = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
    return Path(snapshot_download(str(path), allow_patterns=kept, ignore_patterns=["*/*"], **where))


def _hub_answers() -> bool:
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=SECONDS)
    except Exception:  # whatever keeps it from answering: no network, a proxy, offline mode
        return False
    return True
