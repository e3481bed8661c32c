"""Checksums of files, and of the files of a folder."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from unnoted.io.inputs import refuse_stream
from unnoted.io.outputs import write_json
from unnoted.io.parsing import read_json
from unnoted.utils import describe_error, short_repr


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


class _Checksum(BaseModel):
    bytes: int
    sha256: str


class _Checksums(BaseModel):
    files: dict[Annotated[str, Field(pattern=r"^[^/\\]+$")], _Checksum] = Field(min_length=1)


def write_checksums(folder: Path, names: Iterable[str], to: str = CHECKSUMS) -> None:
    """Record the size and the content of files in a file beside them."""
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": content_digest(folder / name)}
        for name in sorted(set(names) - {to})
    }
    write_json(folder / to, {"files": files})


def check_checksums(folder: Path, error: type[ValueError], name: str = CHECKSUMS) -> Collection[str]:
    """Compare every file that has a checksum with it.

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
        ValueError: .../config.json: the content differs from what was saved (2 bytes with SHA-256 4f53cda18c2b..., not ...
    """
    path = folder / name
    if not path.exists():
        return ()
    try:
        files = _Checksums.model_validate(read_json(path, error)).files
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise error(f"{path}: {place}: {short_repr(first['input'])}: {first['msg']}") from None
    for file_name, saved in files.items():
        file = folder / file_name
        try:
            size, found = file.stat().st_size, content_digest(file)
        except OSError as missing:
            raise error(
                f"{file}: cannot be read ({describe_error(missing)}); it was saved ({name})"
            ) from None
        if (size, found) != (saved.bytes, saved.sha256):
            raise error(
                f"{file}: the content differs from what was saved ({size:,} bytes with SHA-256 {found[:12]}..., "
                f"not {saved.bytes:,} with {saved.sha256[:12]}... as in {name})"
            )
    return files.keys()
