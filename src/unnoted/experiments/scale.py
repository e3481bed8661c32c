"""At which scale a published setting is run: what is changed about it, and which rows that concerns."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unnoted.encoders import ENCODER_KINDS
from unnoted.experiments.data_sets import DataFolder
from unnoted.experiments.paper import PaperRow
from unnoted.experiments.training_files import make_training_file
from unnoted.risks import LOSSES, loss_named
from unnoted.training.settings import PRIORS, Settings, load_settings, parse_changes, unused_by

HELD = frozenset({"map_learning_rate", "dev"})
"""Settings that a row either has, or that mean nothing to it."""

ELSEWHERE = {"seed": "--seeds", "train": "--data or --train", "output": "--to"}
"""Settings that every row has its own of, and the option that decides them."""

OF_ENCODER = frozenset({"encoder", "encoder_learning_rate", "output"})
"""In what rows of two encoders differ: each encoder has its own rate."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large runs are; what is None stays as published.

    Attributes:
        encoder: a folder, or a name on the hub, in place of every pretrained encoder.
        encoder_layers: how many of a pretrained encoder's first layers are kept.
        seeds: of the runs of each row.
        epochs: of each run.
        documents: the first so many training documents.
        unlabelled_share: the share of unlabelled pairs that is scored in each training document.
        changes: `key=value` each, any other settings.

    Example:
        >>> Scale(encoder="nowhere/at/all/minilm/")
        Traceback (most recent call last):
        ValueError: encoder: found no folder 'nowhere/at/all/minilm/', expected one, or a name on the hub
    """

    encoder: str | None = None
    encoder_layers: int | None = None
    seeds: tuple[int, ...] | None = None
    epochs: int | None = None
    documents: int | None = None
    unlabelled_share: float | None = None
    changes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in self.changed:
            if key in ELSEWHERE:
                raise ValueError(f"--set {key}: found a value, expected none: {ELSEWHERE[key]} decides it")
        encoder = self.encoder
        if encoder is None or Path(encoder).is_dir() or encoder in ENCODER_KINDS:
            return
        if encoder.count("/") > 1 or encoder[:1] in (".", "/", "~"):
            raise ValueError(f"encoder: found no folder {encoder!r}, expected one, or a name on the hub")

    @property
    def changed(self) -> tuple[str, ...]:
        """The keys of `changes`."""
        return tuple(change.partition("=")[0].strip() for change in self.changes)

    def overrides(self, published: Settings) -> list[str]:
        """What the scale changes about some settings, as `key=value` each."""
        values: dict[str, object] = {"epochs": self.epochs, "unlabelled_share": self.unlabelled_share}
        if is_pretrained(published):
            values |= {"encoder": self.encoder, "encoder_layers": self.encoder_layers}
        given = [override(key, value) for key, value in values.items() if value is not None]
        applicable = zip(self.changed, self.changes, strict=True)
        return given + [change for key, change in applicable if applies(key, published)]


@dataclass(frozen=True, slots=True)
class Scaled:
    """A row at a scale.

    Attributes:
        published: the settings of the row as they were published.
        settings: those that are run, but for the seed.
        notes: on its data, a line each.
    """

    published: Settings
    settings: Settings
    notes: tuple[str, ...]

    def seeded(self, seed: int) -> Settings:
        """The settings of one run."""
        return self.settings.model_copy(update={"seed": seed})


def published_settings(row: PaperRow) -> Settings:
    """The settings of a row as they were published."""
    return load_settings(row.config, parse_changes(_changes(row)))


def scale_row(row: PaperRow, scale: Scale, data: DataFolder, folder: Path) -> Scaled:
    """A row's settings at a scale, with files that are there.

    Args:
        row: of the paper.
        scale: how large it is run.
        data: where the files are.
        folder: of the grid; training documents that have to be made go into its folder `data`.

    Raises:
        MissingData: a file is not there.
        ValueError: the scale asks for what the row cannot have.
    """
    for key in scale.changed:
        if key in row.changes:
            raise ValueError(f"--set {key}: found a value for all rows, expected none: the rows differ in it")
    published = published_settings(row)
    train = data.train(published)
    files = {"train": train.paths, **data.others(published, scale.changed)}
    if scale.documents is not None or train.level is not None:
        made = make_training_file(
            train.paths, folder / "data", documents=scale.documents, level=train.level or "full"
        )
        files["train"] = (made.path,)
    paths = [override(key, _path_values(key, found)) for key, found in files.items()]
    settings = load_settings(
        row.config,
        parse_changes([*_changes(row), *paths, *scale.overrides(published), override("output", str(folder))]),
    )
    return Scaled(published, settings, () if train.note is None else (train.note,))


def _changes(row: PaperRow) -> list[str]:
    return [override(key, value) for key, value in row.changes.items()]


def override(key: str, value: object) -> str:
    """A setting as `load_settings` takes it: JSON is YAML.

    Example:
        >>> override("train", ["a.json", "b.json"])
        'train=["a.json", "b.json"]'
    """
    return f"{key}={json.dumps(value, ensure_ascii=False)}"


def _path_values(key: str, paths: Sequence[Path]) -> list[str] | str:
    values = [str(path.resolve()) for path in paths]
    return values if key in ("train", "dev") else values[0]


def is_pretrained(settings: Settings) -> bool:
    """Whether the encoder is a pretrained one, and not made on the spot."""
    return settings.encoder not in ENCODER_KINDS


def applies(key: str, published: Settings) -> bool:
    """Whether a setting means something to a row: not a margin to a loss without, for instance."""
    if key in PRIORS or any(key in loss.options.model_fields for loss in LOSSES.values()):
        return key not in unused_by(loss_named(published.loss))
    if key == "vectors":
        return not is_pretrained(published)
    return key not in HELD or getattr(published, key) is not None


def twin_key(published: Settings) -> str:
    """What two rows share that differ in their encoder only."""
    return published.model_dump_json(exclude=set(OF_ENCODER))


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds as the command line has them.

    Example:
        >>> parse_seeds("62-64,66")
        (62, 63, 64, 66)
    """
    seeds: list[int] = []
    for part in text.split(","):
        given = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        several = range(int(given[1]), int(given[2] or given[1]) + 1) if given else range(0)
        if not several:
            raise ValueError(f"seeds: found {text!r}, expected such as 62-66 or 62,64")
        seeds += several
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds: found one twice in {text!r}, expected each once")
    return tuple(seeds)
