"""What is written for a file in its own format: text, bytes, or a folder of files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from unnoted.common.outputs import open_output, write_binary
from unnoted.common.replacing import new_folder


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The files of a folder by name, each with its bytes."""

    files: Mapping[str, bytes]


FileContent: TypeAlias = str | bytes | FolderContent


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
