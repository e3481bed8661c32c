"""Checksums of the files in a folder: what is read is what was written, or the difference is named."""

from collections.abc import Collection, Iterable
from pathlib import Path, PurePath

from unnoted.common.errors import shown
from unnoted.common.foreign import read_json, reason
from unnoted.common.outputs import write_json
from unnoted.common.text_inputs import content_digest

CHECKSUMS = "checksums.json"
"""For each file of the folder, its size and the SHA-256 of its content."""


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Note the size and the content of files, beside them; whatever was noted before is replaced.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     _ = (folder / "config.json").write_text("{}")
        ...     write_checksums(folder, ["config.json"])
        ...     _ = (folder / "config.json").write_text("[]")
        ...     check_checksums(folder, ValueError)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: .../config.json: found other content (SHA-256 4f53cda18c2b...), expected what was ...
    """
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": content_digest(folder / name)}
        for name in sorted(set(names) - {CHECKSUMS})
    }
    write_json(folder / CHECKSUMS, {"files": files})


def check_checksums(folder: Path, error: type[ValueError]) -> Collection[str]:
    """Hold every file that was noted against its checksum.

    Args:
        folder: whose files.
        error: what is raised.

    Returns:
        The names of the files that have checksums; in folders of earlier versions none have.

    Raises:
        ValueError: of the given type, if a file is missing or differs; names it, what is there and what was.
    """
    path = folder / CHECKSUMS
    if not path.exists():
        return ()
    noted = _noted(path, error)
    for name, (size, digest) in noted.items():
        file = folder / name
        try:
            found = file.stat().st_size
            if found != size:
                raise error(f"{file}: found {found:,} bytes, expected {size:,} as saved ({CHECKSUMS})")
            content = content_digest(file)
        except OSError as missing:
            raise error(
                f"{file}: found no readable file ({reason(missing)}), expected the one that was saved "
                f"({CHECKSUMS})"
            ) from None
        if content != digest:
            raise error(
                f"{file}: found other content (SHA-256 {content[:12]}...), expected what was saved "
                f"({digest[:12]}... in {CHECKSUMS})"
            )
    return noted.keys()


def _noted(path: Path, error: type[ValueError]) -> dict[str, tuple[int, str]]:
    """The size and the checksum of each file."""
    content = read_json(path, error)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not files:
        raise error(f"{path}: found {shown(content)}, expected the checksums of the files beside it")
    noted = {}
    for name, entry in files.items():
        size, digest = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        inside = PurePath(name).name == name
        if not inside or type(size) is not int or not isinstance(digest, str):
            raise error(
                f"{path}: files.{shown(name)}: found {shown(entry)}, expected size and SHA-256 of a file "
                "in this folder"
            )
        noted[name] = size, digest
    return noted
