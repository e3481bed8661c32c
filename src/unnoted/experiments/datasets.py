"""Where the files of a published setting are, in a folder of one's own."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from unnoted.data.download import Catalog
from unnoted.evaluation.evaluator import CHEMDISGENE, DOCRED, Benchmark
from unnoted.training.config import TrainingConfig

ROOT = "data"
"""Where the package's settings look for data; the folder that a user names takes its place."""

FOLDERS = ("docred", "re-docred", "chemdisgene", "glove")
"""Below it, each data set may have a folder of its own."""

Choice: TypeAlias = tuple[str, ...]
"""Files that belong together, by their paths below the root."""


class MissingData(ValueError):
    """A file that is not there: names it, where it was looked for, and what fetches it."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set by its title in the paper, how it is reported, and the files that it is scored on.

    Of several choices, the published files are the first. Few settings score development documents too.
    """

    title: str
    benchmark: Benchmark
    test: tuple[Choice, ...]
    dev: tuple[Choice, ...] = ()


_DOCRED_TEST = (("re-docred/test_revised.json",), ("re-docred/dev_revised.json",))
_CHEMDISGENE_TEST = (
    (
        "chemdisgene/curated/abstracts.txt.gz",
        "chemdisgene/curated/approved_relns_ctd_v1.tsv.gz",
        "chemdisgene/curated/approved_relns_new_v1.tsv.gz",
    ),
    ("chemdisgene/curated_abstracts.txt.gz", "chemdisgene/curated_all_relationships.tsv.gz"),
)

DATA_SETS: Mapping[str, DataSet] = {
    "docred-original": DataSet("DocRED", DOCRED, _DOCRED_TEST),
    "docred-full": DataSet("DocRED", DOCRED, _DOCRED_TEST, dev=(("re-docred/dev_revised.json",),)),
    "docred-extreme": DataSet("DocRED", DOCRED, _DOCRED_TEST),
    "chemdisgene": DataSet("ChemDisGene", CHEMDISGENE, _CHEMDISGENE_TEST),
}
"""By the setting's folder below `configs/`: sets of documents belong to a setting and not to a table, so that
a run which stands in several tables is one run."""

_EXTREME, _ANNOTATED = ("docred/train_ext.json",), ("docred/train_annotated.json",)
"""The extremely unlabelled training documents, and those that they can be made from by hiding labels."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that were found, how they differ from the published ones, and the setting down to which labels are yet to be hidden."""

    paths: tuple[Path, ...]
    note: str | None = None
    level: str | None = None


class DataFolder:
    """A folder with files under the names of `unnoted data fetch`, with or without their folders.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "dev_revised.json").write_text("[]")
        >>> DataFolder(folder).test("docred-original").note
        'test documents: dev_revised.json (published: test_revised.json)'
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise MissingData(f"{path}: is no folder; give the one with the data sets' files")
        self.path = path

    def need(self, what: str, choices: Sequence[Choice], otherwise: str = "") -> Files:
        """The first choice that is wholly there; if none is, `otherwise` is what else can be done."""
        for choice in choices:
            found = [path for path in map(self._find, choice) if path is not None]
            if len(found) == len(choice):
                note = f"{what}: {_names(choice)} (published: {_names(choices[0])})"
                return Files(tuple(found), None if choice == choices[0] else note)
        folder = choices[0][0].partition("/")[0]
        looked = " or ".join(map(_names, choices))
        fetched = f"; `unnoted data fetch {folder} --to {self.path / folder}` gets it"
        hint = fetched if folder in Catalog.read().datasets else ""
        below = ", ".join(f"{each}/" for each in FOLDERS)
        raise MissingData(f"{what}: {looked} is not in {self.path} or in {below} below it{hint}{otherwise}")

    def _find(self, name: str) -> Path | None:
        """A file, given its path below the root: in its own folder first, last by its bare name in any."""
        folder, _, rest = name.partition("/")
        below = [self.path / each for each in dict.fromkeys([folder, ".", *FOLDERS])]
        places = [place / file for place in below for file in (rest, PurePosixPath(rest).name)]
        return next(filter(Path.is_file, places), None)

    def test(self, setting: str) -> Files:
        """The documents that a setting is scored on."""
        return self.need("test documents", DATA_SETS[setting].test)

    def scored(self, setting: str) -> tuple[dict[str, tuple[Path, ...]], list[str]]:
        """The files of each set that a setting is scored on, and notes on them."""
        found = {"test": self.test(setting)}
        if choices := DATA_SETS[setting].dev:
            dev = self.need("development documents", choices)
            # Documents that stand in for the test set already are not scored twice.
            if dev.paths != found["test"].paths:
                found["dev"] = dev
        notes = [files.note for files in found.values() if files.note is not None]
        return {name: files.paths for name, files in found.items()}, notes

    def train(self, settings: TrainingConfig) -> Files:
        """The training documents of published settings, or what they can be made from."""
        published = _below_root(settings.train)
        if published != _EXTREME:
            return self.need("training documents", [published])
        found = self.need("training documents", [_EXTREME, _ANNOTATED])
        if found.note is None:
            return found
        note = (
            f"training documents: made from {_names(_ANNOTATED)} by `unnoted data hide-labels --setting extreme` "
            f"with seed 0 (published: {_names(_EXTREME)})"
        )
        return replace(found, note=note, level="extreme")

    def others(self, settings: TrainingConfig, given: Container[str]) -> dict[str, tuple[Path, ...] | Path]:
        """The other files that published settings name, by key, but for those that the user gave."""
        found: dict[str, tuple[Path, ...] | Path] = {}
        if settings.dev is not None and "dev" not in given:
            found["dev"] = self.need("dev", [_below_root(settings.dev)], "; or --set dev=FILE").paths
        for key in ("vocabulary", "vectors"):
            if (file := settings.get(key)) is not None and key not in given:
                choice = _below_root([Path(file)])
                (found[key],) = self.need(key, [choice], f"; or --set {key}=FILE").paths
        return found


def _below_root(paths: Sequence[Path]) -> Choice:
    """Files as `Choice` has them, such as docred/rel_info.json for data/docred/rel_info.json."""
    return tuple(path.relative_to(ROOT).as_posix() for path in paths)


def _names(choice: Choice) -> str:
    return ", ".join(PurePosixPath(name).name for name in choice)
