"""Which files of a folder were written by the command that would write them again."""

import json
from collections.abc import Iterable
from pathlib import Path

from unnoted.io import content_digest, is_nonempty_file, write_json


class OwnFiles:
    """A list of files with the digests of what was written into them, kept beside them.

    Args:
        path: the list; it need not be there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table, own = Path(folder, "table.txt"), OwnFiles(Path(folder, ".own.json"))
        ...     _ = table.write_text("of mine")
        ...     own.note([table])
        ...     own.require([table])  # it may be written again
        ...     _ = table.write_text("of somebody else")
        ...     own.require([table])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: ...table.txt: found a file that was not written here, expected none; --overwrite ...
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def require(self, files: Iterable[Path]) -> None:
        """Refuse files that hold what was not written here.

        Raises:
            ValueError: names the first one.
        """
        known = self._known()
        for file in files:
            if is_nonempty_file(file) and known.get(file.name) != content_digest(file):
                raise ValueError(
                    f"{file}: found a file that was not written here, expected none; --overwrite replaces it"
                )

    def note(self, files: Iterable[Path]) -> None:
        """Remember what files hold now."""
        write_json(self._path, self._known() | {file.name: content_digest(file) for file in files})

    def _known(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):  # not there, or damaged: then nothing is known to be ours
            return {}
        return found if isinstance(found, dict) else {}
