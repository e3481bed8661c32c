"""Config files: the package's by name, your own by path; each may extend others. Nothing here needs torch."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from unnoted.errors import DataError
from unnoted.io import CONFIG_CHARACTERS, YamlError, open_text, parse_yaml
from unnoted.utils import nearest, short_repr

FOLDER = Path(__file__).parent
SHARED = "base/"
"""How the names of entries begin that only hold what others share."""

FILE_ENDINGS = (".yaml", ".yml")


class ConfigError(ValueError):
    """A configuration that cannot be used.

    Attributes:
        source: the file or the name of the config; None for what a user changed.
        keys: the dotted names of the keys at fault; empty where the file itself is.
    """

    def __init__(self, message: str, source: str | None = None, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message if source is None else f"{source}: {message}")
        self.source = source
        self.keys = keys


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a config says, with everything that it extends.

    Attributes:
        source: its name in the package, or its path.
        description: one line.
        values: nested values by group and key, not validated yet.
        losses: the losses that it is published with, each under the name `SOURCE/LOSS`.
        packaged: whether it is one of the package's.
    """

    source: str
    description: str
    values: dict[str, Any]
    losses: tuple[str, ...] = ()
    packaged: bool = False

    def with_loss(self, loss: str) -> "ConfigFile":
        """The same config for one loss."""
        values = merge_values(self.values, {"loss": {"name": loss}})
        return replace(self, source=f"{self.source}/{loss}", values=values, losses=())


def read_config(config: str | Path) -> ConfigFile:
    """A config of the package by its name, or from a file.

    A file may begin from others: `extends: base.yaml`, or a list, of which the later ones win. What ends in
    .yaml is a file, relative to the one that extends it; everything else is the name of a config of the
    package. Paths of data and output are relative to the working directory.

    Raises:
        ConfigError: names the file and what is wrong with it.
    """
    path = Path(config)
    if path.suffix in FILE_ENDINGS:
        return _read_file(path, ())
    found = _packaged().get(path.as_posix())
    if found is not None:
        return found
    if path.is_file():
        return _read_file(path, ())
    raise ConfigError(
        f"unknown config {short_repr(str(config))}{nearest(path.as_posix(), config_names())}: `unnoted info` "
        "lists the names; a file of your own must end in .yaml"
    )


def config_names() -> tuple[str, ...]:
    """The names of all configs of the package that can be trained.

    Example:
        >>> "small" in config_names(), "docred-original/bert-base/ssr-pu" in config_names()
        (True, True)
    """
    return tuple(config.source for config in published_configs())


def published_configs() -> Iterator[ConfigFile]:
    """Every config of the package that can be trained, sorted by name."""
    for name, config in sorted(_packaged().items()):
        if not config.losses and not name.startswith(SHARED):
            yield config


def merge_values(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values over others; a list or plain value replaces the one below, `loss: NAME` is its name.

    Example:
        >>> merge_values({"loss": {"name": "pu", "prior_multiplier": 3}, "seed": 1}, {"loss": "ssr-pu"})
        {'loss': {'name': 'ssr-pu', 'prior_multiplier': 3}, 'seed': 1}
    """
    merged = dict(base)
    for key, value in over.items():
        if key == "loss" and isinstance(value, str):
            value = {"name": value}
        below = merged.get(key)
        merged[key] = (
            merge_values(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        )
    return merged


@cache
def _packaged() -> Mapping[str, ConfigFile]:
    """The configs of the package by name: the entries of paper.yaml, and files of their own."""
    found: dict[str, ConfigFile] = {}
    for name, entry in _parse(FOLDER / "paper.yaml")[0].items():
        entry = dict(entry)
        description, losses = entry.pop("description"), tuple(entry.pop("losses", ()))
        parents = _as_list(entry.pop("extends", []))  # which stand above
        values = _merge_all([*(found[parent].values for parent in parents), entry])
        config = ConfigFile(name, description, values, losses, packaged=True)
        found[name] = config
        found |= {each.source: each for each in map(config.with_loss, losses)}
    for file in FOLDER.glob("*.yaml"):
        if file.stem != "paper":
            found[file.stem] = replace(_read_file(file, ()), source=file.stem, packaged=True)
    return found


def _read_file(path: Path, below: tuple[str, ...]) -> ConfigFile:
    """A file over those that it extends; `below` are the files that led here, to notice a circle."""
    resolved = os.path.realpath(path)  # unlike Path.resolve, raises nothing at a loop of links
    if resolved in below:
        raise ConfigError("extends: these files extend each other in a circle", str(path), ("extends",))
    values, description = _parse(path)
    parents = _as_list(values.pop("extends", []))
    if not all(isinstance(parent, str) for parent in parents):
        raise ConfigError(
            f"extends: {short_repr(parents)} is not a file name, a config, or a list of them",
            str(path),
            ("extends",),
        )
    extended = [_extended(parent, path, (*below, resolved)).values for parent in parents]
    return ConfigFile(str(path), description, _merge_all([*extended, values]))


def _extended(parent: str, path: Path, below: tuple[str, ...]) -> ConfigFile:
    if parent.endswith(FILE_ENDINGS):
        return _read_file(path.parent / parent, below)
    config = _packaged().get(parent)
    if config is None:
        hint = nearest(parent, config_names())
        raise ConfigError(f"extends: unknown config {short_repr(parent)}{hint}", str(path), ("extends",))
    return config


def _merge_all(parts: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        merged = merge_values(merged, part)
    return merged


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _parse(path: Path) -> tuple[dict[str, Any], str]:
    """The values of a file, and its first comment."""
    try:
        with open_text(path) as stream:
            text = stream.read(CONFIG_CHARACTERS + 1)
        content = parse_yaml(text)
    except DataError as error:
        raise ConfigError(f"cannot be read: {error.defect.found}", str(path)) from None
    except YamlError as error:
        raise ConfigError(str(error), str(path)) from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ConfigError(f"{short_repr(content)} is not a mapping of keys to values", str(path))
    first = text.partition("\n")[0]
    return content, first.removeprefix("#").strip() if first.startswith("#") else ""
