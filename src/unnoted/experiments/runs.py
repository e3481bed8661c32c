"""A run of a grid: what is trained and on what it is scored, named by content."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from unnoted.common.lookup import lookup
from unnoted.encoders import ENCODER_KINDS
from unnoted.evaluation import BENCHMARKS, DOCRED, Benchmark
from unnoted.training import Settings
from unnoted.training.run_folder import FREE, fingerprints

ADDRESS_DIGITS = 16


@dataclass(frozen=True)
class Run:
    """One training, and the documents that the trained model is scored on.

    Attributes:
        settings: of the training. Their `output` is not used: a grid says where its runs go.
        scored: the files of each set of documents to score, by its name: `test`, perhaps `dev`.
        benchmark: how the figures are reported.

    Raises:
        ValueError: there is nothing to score.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("train.json", "test.json", "copy.json"):
        ...     _ = (folder / name).write_text("[]")
        >>> def run(test, seed):
        ...     settings = Settings(
        ...         train=folder / "train.json", encoder="recurrent", loss="atlop", seed=seed, output="x"
        ...     )
        ...     return Run(settings, {"test": (folder / test,)})
        >>> run("test.json", 62).title()
        'architecture atlop, loss atlop, seed 62'
        >>> run("test.json", 62).address == run("copy.json", 62).address
        True
        >>> run("test.json", 62).address == run("test.json", 63).address
        False
    """

    settings: Settings
    scored: Mapping[str, tuple[Path, ...]]
    benchmark: Benchmark = DOCRED

    def __post_init__(self) -> None:
        if not self.scored or not all(self.scored.values()):
            raise ValueError(f"scored: found {dict(self.scored)}, expected files for at least one set")

    @cached_property
    def address(self) -> str:
        """What the run is called: the same content elsewhere on the disk has the same address.

        It follows from the settings (but for those that change nothing about the weights), the content of
        every file that is read, the encoder (the content of a folder, or a name), and the benchmark.

        Raises:
            RunError: a file cannot be read.
        """
        identity = {
            "settings": self._identity(),
            "encoder": _encoder(self.settings.encoder),
            "scored": {name: _contents(files) for name, files in self.scored.items()},
            "benchmark": self.benchmark.name,
        }
        return _digest(identity)[:ADDRESS_DIGITS]

    def _identity(self) -> dict[str, Any]:
        """The settings that decide about the weights, with contents in place of paths."""
        values = _without_free(self.settings.to_json())
        del values["encoder"]
        read = self.settings.data_files
        for key, paths in _paths(self.settings).items():
            if key in values:
                # Of a folder (a teacher's), those files that are read.
                files = [file for path in paths for file in read if file == path or path in file.parents]
                values[key] = _contents(files)
        return values

    def title(self) -> str:
        """For people: model, loss, seed."""
        return (
            f"architecture {self.settings.architecture}, loss {self.settings.loss}, seed {self.settings.seed}"
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it, paths absolute, so that it means the same from everywhere on the machine."""
        settings = self.settings.to_json()
        for key, paths in _paths(self.settings).items():
            settings[key] = [str(path.absolute()) for path in paths]
            if isinstance(getattr(self.settings, key), Path):
                (settings[key],) = settings[key]
        if _is_folder(self.settings.encoder):
            settings["encoder"] = str(Path(self.settings.encoder).absolute())
        return {
            "settings": settings,
            "scored": {name: [str(file.absolute()) for file in files] for name, files in self.scored.items()},
            "benchmark": self.benchmark.name,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Run":
        """What `to_json` wrote."""
        scored = {name: tuple(map(Path, files)) for name, files in value["scored"].items()}
        benchmark = lookup("benchmark", value["benchmark"], BENCHMARKS)
        return cls(Settings.model_validate(value["settings"]), scored, benchmark)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _paths(settings: Settings) -> dict[str, tuple[Path, ...]]:
    """The settings that are paths, or several."""
    found: dict[str, tuple[Path, ...]] = {}
    for key in type(settings).model_fields:
        match getattr(settings, key):
            case Path() as path:
                found[key] = (path,)
            case (Path(), *_) as paths:
                found[key] = tuple(paths)
    return found


def _without_free(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that change nothing about the weights, also within mappings."""
    return {
        key: _without_free(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if key not in FREE
    }


def _contents(files: Sequence[Path]) -> list[str]:
    return [_content(file) for file in files]


def _content(file: Path) -> str:
    """The fingerprint of a file; the runs of a grid share files, so that each is read once."""
    try:
        status = file.stat()
    except OSError:
        return fingerprints([file])[str(file)]  # says what is wrong
    return _fingerprint(file.absolute(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _fingerprint(file: Path, size: int, changed: int) -> str:
    return fingerprints([file])[str(file)]


def _is_folder(encoder: str) -> bool:
    return encoder not in ENCODER_KINDS and Path(encoder).is_dir()


def _encoder(encoder: str) -> str | dict[str, str]:
    """A name, or the content of a folder; hidden files are none of the encoder's."""
    if not _is_folder(encoder):
        return encoder
    files = (file.relative_to(encoder) for file in Path(encoder).rglob("*") if file.is_file())
    names = sorted(file.as_posix() for file in files if not any(part[0] == "." for part in file.parts))
    return {name: _content(Path(encoder) / name) for name in names}
