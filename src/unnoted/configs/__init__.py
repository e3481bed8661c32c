"""Configs: settings files, found by their path or by a name in the package, that may begin from others."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unnoted.errors import DataError
from unnoted.io import CONFIG_CHARACTERS, YamlError, open_text, parse_yaml
from unnoted.utils import LONGEST_NAME, nearest, short_repr

FOLDER = Path(__file__).parent
"""The configs of the package."""

SHARED = "base/"
"""How the names begin of those that only hold what others share."""

FILE = (".yaml", ".yml")
"""How a config ends that is a file of the user, not a name."""

NAME = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")
"""How the names of the package's configs look."""

EXTENDS = "extends"
"""The key that names the config, or the configs, to begin from: files by path, or names."""

LOSSES = "losses"
"""The key that lists the losses a config is published with. With each, it has a name: `CONFIG/LOSS`."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a settings file says, with everything that it extends.

    Attributes:
        source: its name in the package, or its path.
        description: the first comment in the file.
        values: settings by key, not checked yet.
        losses: the losses that it is published with; any other can be chosen as well.
        packaged: whether it is one of the package's.
    """

    source: str
    description: str
    values: dict[str, Any]
    losses: tuple[str, ...] = ()
    packaged: bool = False

    def with_loss(self, loss: str) -> "Config":
        """The same config for one loss."""
        values = self.values | {"loss": loss}
        return replace(self, source=f"{self.source}/{loss}", values=values, losses=())

    @property
    def output(self) -> str | None:
        """Where its runs go if nothing else is said; None for a file, which has to say so itself."""
        return f"runs/{self.source}" if self.packaged else None


def config_names() -> tuple[str, ...]:
    """Every published config by name.

    Example:
        >>> "small" in config_names(), "docred-original/bert-base/ssr-pu" in config_names()
        (True, True)
    """
    return tuple(config.source for config in published_configs())


def published_configs() -> Iterator[Config]:
    """Every config of the package that can be trained, sorted by name."""
    for file in sorted(FOLDER.rglob("*.yaml")):
        name = file.relative_to(FOLDER).with_suffix("").as_posix()
        if not name.startswith(SHARED):
            config = config_named(name)
            yield from map(config.with_loss, config.losses) if config.losses else [config]


def config_named(name: str) -> Config:
    """The config of a name; `DATASET/ENCODER/LOSS` is `DATASET/ENCODER` with that loss.

    Raises:
        ValueError: names the nearest one that exists.

    Example:
        >>> config_named("docred-full/bert-base/ssr-pu").values["prior_multiplier"]
        1
    """
    config = _packaged(name, ())
    if config is None:
        raise ValueError(
            f"unknown config {short_repr(name)}{nearest(name, config_names())}: expected a name that "
            "`unnoted info` lists, or a file ending in .yaml"
        )
    return config


def read_config(config: str | Path) -> Config:
    """A config by its name, or from a file.

    A file may begin from others: `extends: base.yaml`, or a list, of which the later ones win. What ends in
    .yaml is a file, relative to the one that extends it; everything else is the name of a config in the
    package. Paths of data and output are relative to the working directory.

    Raises:
        ValueError: names the file and what is wrong with it.
    """
    path = Path(config)
    if path.suffix in FILE:
        return _from_file(path, ())
    found = _packaged(path.as_posix(), ())
    if found is None:
        return _from_file(path, ()) if path.is_file() else config_named(path.as_posix())
    return found


def _packaged(name: str, below: tuple[Path, ...]) -> Config | None:
    """The config of a name, if there is one."""
    file, (parent, _, loss) = FOLDER / f"{name}.yaml", name.rpartition("/")
    if not NAME.fullmatch(name):
        return None
    if file.is_file():
        return replace(_from_file(file, below), source=name, packaged=True)
    family = _packaged(parent, below)
    return family.with_loss(loss) if family is not None and family.losses else None


def _from_file(path: Path, below: tuple[Path, ...]) -> Config:
    """A file over those that it extends.

    Args:
        path: the file.
        below: the files that led here, to notice a circle.
    """
    resolved = Path(
        os.path.realpath(path)
    )  # unlike `resolve`, without an error of its own at a loop of links
    if resolved in below:
        raise ValueError(f"{path}: {EXTENDS}: found a circle of files, expected one that ends")
    text = _text(path)
    values = _parsed(path, text)
    parents = values.pop(EXTENDS, [])
    parents = [parents] if isinstance(parents, str) else parents
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise ValueError(
            f"{path}: {EXTENDS}: found {short_repr(parents)}, expected a file name, a config or a list of them"
        )
    merged: dict[str, Any] = {}
    for parent in parents:
        merged |= _extended(parent, path, (*below, resolved)).values
    losses = values.pop(LOSSES, ()) if resolved.is_relative_to(FOLDER.resolve()) else ()
    first = text.partition("\n")[0]
    description = first.removeprefix("#").strip() if first.startswith("#") else ""
    return Config(str(path), description, merged | values, tuple(losses))


def _extended(parent: str, path: Path, below: tuple[Path, ...]) -> Config:
    if len(parent) > LONGEST_NAME:
        found = f"{short_repr(parent)}, a name of {len(parent):,} characters"
        raise ValueError(f"{path}: {EXTENDS}: found {found}, expected a name or .yaml file")
    if parent.endswith(FILE):
        return _from_file(path.parent / parent, below)
    config = _packaged(parent, below)
    if config is None:
        hint = nearest(parent, config_names())
        raise ValueError(
            f"{path}: {EXTENDS}: unknown config {short_repr(parent)}{hint}, expected a name or .yaml file"
        )
    return config


def _text(path: Path) -> str:
    try:
        with open_text(path) as stream:
            return stream.read(CONFIG_CHARACTERS + 1)
    except DataError as error:
        reason = f"{error.defect.found}, expected {error.defect.expected}"
        raise ValueError(f"{path}: found no readable file ({reason})") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        content = parse_yaml(text)
    except YamlError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ValueError(f"{path}: found {short_repr(content)}, expected keys and values")
    return content
