"""Checksums of files, and of the files of a folder."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path, PurePath

from unnoted.io.inputs import refuse_stream
from unnoted.io.outputs import write_json
from unnoted.io.parsing import read_json
from unnoted.utils import describe_error, short_repr

__all__ = [
    "CHECKSUMS", "check_checksums", "content_digest", "write_checksums",
]  # fmt: skip


def content_digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits; of a folder, that of its files with their names.

    A stream is refused: nothing would be left to read.
    """
    refuse_stream(path)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        listed = "".join(f"{file.relative_to(path).as_posix()}\0{content_digest(file)}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


CHECKSUMS = "checksums.json"
"""For each file of the folder, its size and the SHA-256 of its content."""


def write_checksums(folder: Path, names: Iterable[str], to: str = CHECKSUMS) -> None:
    """Record the size and the content of files in a file beside them."""
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": content_digest(folder / name)}
        for name in sorted(set(names) - {to})
    }
    write_json(folder / to, {"files": files})


def check_checksums(folder: Path, error: type[ValueError], name: str = CHECKSUMS) -> Collection[str]:
    """Compare every file that has a checksum with it.

    Args:
        folder: whose files.
        error: what is raised if a file is missing or differs; names it.
        name: the file of the checksums.

    Returns:
        The names of the files that have checksums; none if the folder has no checksums.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     _ = (folder / "config.json").write_text("{}")
        ...     write_checksums(folder, ["config.json"])
        ...     _ = (folder / "config.json").write_text("[]")
        ...     check_checksums(folder, ValueError)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: .../config.json: the content differs from what was saved (SHA-256 4f53cda18c2b..., not ...
    """
    path = folder / name
    if not path.exists():
        return ()
    content = read_json(path, error)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not files:
        raise error(f"{path}: must list the files beside it with their checksums, not {short_repr(content)}")
    for file_name, entry in files.items():
        size, digest = (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if PurePath(file_name).name != file_name or type(size) is not int or not isinstance(digest, str):
            raise error(f"{path}: files.{short_repr(file_name)}: {short_repr(entry)} is no size and SHA-256")
        file = folder / file_name
        try:
            actual = file.stat().st_size
            found = content_digest(file) if actual == size else ""
        except OSError as missing:
            raise error(
                f"{file}: cannot be read ({describe_error(missing)}); it was saved ({name})"
            ) from None
        if actual != size:
            raise error(f"{file}: has {actual:,} bytes, and {size:,} were saved ({name})")
        if found != digest:
            raise error(
                f"{file}: the content differs from what was saved (SHA-256 {found[:12]}..., "
                f"not {digest[:12]}... as in {name})"
            )
    return files.keys()
