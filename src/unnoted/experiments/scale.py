"""At which scale settings are run: what is changed about them, and which rows that concerns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unnoted.experiments.data_sets import DATA_SETS, DataFolder
from unnoted.experiments.paper import PaperRow
from unnoted.experiments.training_files import make_training_file
from unnoted.losses import get_loss
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.training.settings import Settings, load_settings, unused_by

FIRST_SEED = 62
"""Where a number of seeds begins: as the paper's do."""

MOST_SEEDS = 30
"""More would be a slip: one seed taken for a number of them."""

ELSEWHERE = {"seed": "--seeds", "train": "--data or --train", "output": "--to"}
"""Settings that every row has its own of, and the option that decides them."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large runs are: changed settings of all rows that have them, seeds, first training documents.

    What is not given stays as it is in their settings. An encoder takes the place of pretrained ones only.

    Example:
        >>> Scale({"encoder": "nowhere/at/all/minilm/"})
        Traceback (most recent call last):
        ValueError: encoder: found no folder 'nowhere/at/all/minilm/', expected one, or a name on the hub
    """

    changes: Mapping[str, object] = field(default_factory=dict)
    seeds: tuple[int, ...] | None = None
    documents: int | None = None

    def __post_init__(self) -> None:
        for key in self.changes.keys() & ELSEWHERE.keys():
            raise ValueError(f"--set {key}: found a value, expected none: {ELSEWHERE[key]} decides it")
        encoder = str(self.changes.get("encoder", "recurrent"))
        is_path = encoder.count("/") > 1 or encoder[:1] in (".", "/", "~")
        if is_path and not Path(encoder).is_dir():
            raise ValueError(f"encoder: found no folder {encoder!r}, expected one, or a name on the hub")

    def applied(self, settings: Settings) -> dict[str, object]:
        """The changes that mean something to these settings."""
        return {key: value for key, value in self.changes.items() if applies(key, settings)}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A row at a scale: its published settings, those that are run but for the seed, a note on its data."""

    published: Settings
    settings: Settings
    note: str | None


def scale_row(row: PaperRow, scale: Scale, data: DataFolder, folder: Path) -> Scaled:
    """A row's settings at a scale, with files that are there, or made in `data` below the grid's folder.

    Raises:
        MissingData: a file is not there.
        ValueError: the scale asks for what the row cannot have.
    """
    for key in scale.changes.keys() & row.changes.keys():
        raise ValueError(f"--set {key}: found a value for all rows, expected none: the rows differ in it")
    published = row.settings
    train = data.train(published)
    files, level = train.paths, train.level or "full"
    if (scale.documents, level) != (None, "full"):
        files = (make_training_file(files, folder / "data", documents=scale.documents, level=level).path,)
    changes = {
        **row.changes,
        **data.others(published, scale.changes),
        **scale.applied(published),
        "train": files,
        "test": data.scored(row.setting)[0],
        "benchmark": DATA_SETS[row.setting].benchmark.name,
        "output": folder,
    }
    return Scaled(published, load_settings(row.config, changes), train.note)


def is_pretrained(settings: Settings) -> bool:
    """Whether the encoder is a pretrained one, and not made on the spot."""
    return settings.encoder not in ENCODER_KINDS


def applies(key: str, settings: Settings) -> bool:
    """Whether a setting means something to settings: not a margin to a loss without, for instance."""
    match key:
        case "encoder" | "encoder_layers":
            return is_pretrained(settings)
        case "vectors":
            return not is_pretrained(settings)
        case "map_learning_rate" | "dev":
            return getattr(settings, key) is not None
        case "unlabelled_share":
            return settings.unlabelled_per_labelled is None
        case _:
            return key not in unused_by(get_loss(settings.loss), settings.architecture)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds as the command line has them: how many, or which.

    Example:
        >>> parse_seeds("3"), parse_seeds("62-64,66"), parse_seeds("66-66")
        ((62, 63, 64), (62, 63, 64, 66), (66,))
    """
    if text.strip().isdecimal():
        number = int(text)
        if not 1 <= number <= MOST_SEEDS:
            what = f"a number of seeds up to {MOST_SEEDS}, or {text}-{text} for this one alone"
            raise ValueError(f"seeds: found {text}, expected {what}")
        return tuple(range(FIRST_SEED, FIRST_SEED + number))
    seeds: list[int] = []
    for part in text.split(","):
        given = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        several = range(int(given[1]), int(given[2] or given[1]) + 1) if given else range(0)
        if not several:
            raise ValueError(f"seeds: found {text!r}, expected how many, such as 3, or which, such as 62-66")
        seeds += several
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds: found one twice in {text!r}, expected each once")
    return tuple(seeds)
