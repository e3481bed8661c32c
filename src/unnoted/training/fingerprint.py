"""What makes a run this run and no other: its settings, and the content of every file that it reads."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from unnoted.io import content_digest, refuse_stream
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.models.encoders.from_scratch import SUBWORDS, WORDS
from unnoted.models.model_io import TOKENIZER_FILES
from unnoted.training.settings import Settings
from unnoted.utils import short_repr

FREE = frozenset({"output", "checkpoint_steps", "log_steps"})
"""Settings that change nothing about the result: a resumed run may have other ones."""

MODEL_FILES = ("config.json", "model.safetensors")
"""What is read of the folder of a trained model."""


class RunError(ValueError):
    """A run that cannot be begun or resumed here; says what was found and what can be done."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The settings of a run by key, with the SHA-256 of contents in place of paths.

    Attributes:
        values: by key; those of a mapping within the settings by `mapping.key`.
        files: the paths behind the values that are contents.
    """

    values: Mapping[str, Any]
    files: Mapping[str, tuple[Path, ...]]

    @property
    def address(self) -> str:
        """16 hexadecimal digits: equal runs have the same, wherever their files are."""
        return _sha256(json.dumps(self.values, sort_keys=True, separators=(",", ":")))[:16]

    def settings_unlike(self, began: Mapping[str, Any]) -> list[str]:
        """The settings in which a run that was begun differs, each as `key theirs, not ours`."""
        keys = sorted(self.values.keys() | began.keys())
        return [
            f"{key} {short_repr(began.get(key))}, not {short_repr(self.values.get(key))}"
            for key in keys
            if not self._is_content(key, began) and began.get(key) != self.values.get(key)
        ]

    def files_unlike(self, began: Mapping[str, Any]) -> list[Path]:
        """The files whose content differs from what a run began with."""
        changed: list[Path] = []
        for key, paths in self.files.items():
            theirs, ours = began.get(key), self.values[key]
            if theirs is not None and len(theirs) == len(ours):
                changed += [path for path, a, b in zip(paths, theirs, ours, strict=True) if a != b]
            elif theirs is not None:
                changed += paths
        return changed

    def _is_content(self, key: str, began: Mapping[str, Any]) -> bool:
        return key in self.files and key in began


def fingerprint(settings: Settings) -> Fingerprint:
    """All that the result of a run depends on.

    Args:
        settings: of the run. An encoder in a folder counts by its content, one with a name by that.

    Raises:
        RunError: a file cannot be read.

    Example:
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "train.json"
        >>> _ = path.write_text("[]")
        >>> def address(**changes):
        ...     given = {"train": path, "encoder": "recurrent", "loss": "atlop", "output": "x"} | changes
        ...     return fingerprint(Settings(**given)).address
        >>> address(output="y") == address(), address(seed=3) == address()
        (True, False)
    """
    values = settings.model_dump(exclude_none=True)
    values |= values.pop("loss_options") | values.pop("architecture_options")
    for key in ("teacher", "init_from"):
        if (folder := getattr(settings, key)) is not None:
            values[key] = tuple(folder / name for name in MODEL_FILES)
    if is_folder(settings.encoder):
        values["encoder"] = Path(settings.encoder)
    if settings.tokenizer not in (None, WORDS, SUBWORDS) and Path(str(settings.tokenizer)).is_dir():
        folder = Path(str(settings.tokenizer))
        values["tokenizer"] = tuple(path for name in TOKENIZER_FILES if (path := folder / name).is_file())
    flat = {key: value for key, value in _flat(values) if key not in FREE}
    files = {key: paths for key, value in flat.items() if (paths := _paths(value))}
    return Fingerprint(flat | {key: [digest(path) for path in paths] for key, paths in files.items()}, files)


def is_folder(encoder: str) -> bool:
    """Whether an encoder is a folder on this machine, and not one that is made or a name on the hub."""
    return encoder not in ENCODER_KINDS and (Path(encoder) / "config.json").is_file()


def digest(path: Path) -> str:
    """The SHA-256 of a file's content; of a folder, that of all its files that are not hidden."""
    try:
        refuse_stream(path)
        if path.is_dir():
            files = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
            names = sorted(f.as_posix() for f in files if not any(part[0] == "." for part in f.parts))
            return _sha256(json.dumps({name: digest(path / name) for name in names}))
        status = path.stat()
        return _content(path.absolute(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise RunError(f"{path}: found no readable file ({error.strerror})") from None


@lru_cache(maxsize=4096)
def _content(file: Path, size: int, changed: int) -> str:
    """The runs of a grid share files: each is read once."""
    return content_digest(file)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _paths(value: object) -> tuple[Path, ...]:
    several: Sequence[object] = value if isinstance(value, tuple) else (value,)
    return tuple(each for each in several if isinstance(each, Path))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by key; those of a mapping within them by `mapping.key`.

    Example:
        >>> dict(_flat({"epochs": 3, "test": {"dev": "dev.json"}}))
        {'epochs': 3, 'test.dev': 'dev.json'}
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
