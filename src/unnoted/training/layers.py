"""Settings files that begin from others, so that what many share is written once."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from unnoted.common.errors import shown

EXTENDS = "extends"
"""The key that names the file, or the files, to begin from."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that stands twice: YAML would keep the last and say nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"found the key {key!r} twice", problem_mark=node.start_mark
                )
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def read_layers(path: Path, below: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The keys of a settings file, over those of the files that it extends.

    Args:
        path: the file.
        below: the files that led here, to notice a circle.

    Raises:
        ValueError: names the file and what is wrong with it.
    """
    resolved = path.resolve()
    if resolved in below:
        raise ValueError(f"{path}: {EXTENDS}: found a circle of files, expected one that ends")
    values = _read(path)
    parents = values.pop(EXTENDS, [])
    parents = [parents] if isinstance(parents, str) else parents
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise ValueError(f"{path}: {EXTENDS}: found {shown(parents)}, expected a file name or a list of them")
    merged: dict[str, Any] = {}
    for parent in parents:
        merged |= read_layers(path.parent / parent, (*below, resolved))
    return merged | values


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text("utf-8"), _Loader)
    except OSError as error:
        raise ValueError(f"{path}: found no readable file ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: found bytes that are not UTF-8, expected YAML") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{path}: {line}{error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: found no YAML ({' '.join(str(error).split())})") from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ValueError(f"{path}: found {shown(content)}, expected keys and values")
    return content
