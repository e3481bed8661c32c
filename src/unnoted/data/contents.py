"""What a file holds in its own format, and is written for it again: text, bytes, or a folder of files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from unnoted.io import TextInput, new_folder, open_output, write_binary


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The files of a folder by name, each with its bytes."""

    files: Mapping[str, bytes]


FileContent: TypeAlias = str | bytes | FolderContent


def file_text(path: Path) -> str:
    """The text of a file, plain or gzip, as it is, line ends and byte order mark included."""
    source = TextInput(path)
    mark = "\ufeff" if source.first_bytes().startswith(b"\xef\xbb\xbf") else ""
    with source.open() as stream:
        return mark + stream.read()


def write_content(path: str | Path, content: FileContent) -> None:
    """Write to what a user named; a file or folder appears when it is complete."""
    if isinstance(content, FolderContent):
        with new_folder(Path(path)) as folder:
            for name, inside in content.files.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(inside)
    elif isinstance(content, bytes):
        write_binary(path, content)
    else:
        with open_output(Path(path)) as stream:
            stream.write(content)
