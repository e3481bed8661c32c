"""Where the files of a published setting are, in a folder of one's own."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from unnoted.documents.catalog import Catalog
from unnoted.evaluation.benchmarks import CHEMDISGENE, DOCRED, Benchmark
from unnoted.training.settings import Settings

ROOT = "data"
"""Where the settings of the package look for data; the folder that a user names takes its place."""

FOLDERS = ("docred", "re-docred", "chemdisgene", "glove")
"""Below it, each data set has a folder of its own, if the user likes."""

Choice: TypeAlias = tuple[str, ...]
"""Files that belong together, by their paths below the root."""


class MissingData(ValueError):
    """A file that is not there: names it, where it was looked for, and what fetches it."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """What a published setting is scored on.

    Attributes:
        title: of the data set in the paper's table of statistics.
        benchmark: how it is reported.
        test: the files to score on: the published ones, then what may stand in for them.
        dev: the same for development documents that are scored too; empty if none are.
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
"""Every setting by its folder below `configs/`. The sets are those of the setting, not of a table, so that a
run which stands in several tables is one run."""

SUBSTITUTES: Mapping[str, tuple[str, str]] = {
    "docred/train_ext.json": ("docred/train_annotated.json", "extreme")
}
"""Training files that can be made from another one, by hiding labels down to a level."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that were found.

    Attributes:
        paths: of the files.
        note: how they depart from the published ones; None if they do not.
        level: the labelling level that they have yet to be thinned to; None if they are as they should be.
    """

    paths: tuple[Path, ...]
    note: str | None = None
    level: str | None = None


class DataFolder:
    """A folder with one data set's files, or with several data sets in folders of their own.

    File names are those of `unnoted data fetch`, with or without their folders.

    Args:
        path: the folder.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "dev_revised.json").write_text("[]")
        >>> DataFolder(folder).test("docred-original").note
        'test documents: dev_revised.json (published: test_revised.json)'
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise MissingData(f"{path}: found no folder, expected one with the data sets' files")
        self.path = path

    def places(self, name: str) -> Iterator[Path]:
        """Where a file may be: in its own folders first, last by its bare name in any."""
        folder, _, rest = name.partition("/")
        for each in dict.fromkeys([folder, ".", *FOLDERS]):
            yield self.path / each / rest
            yield self.path / each / PurePosixPath(rest).name

    def find(self, name: str) -> Path | None:
        """The file, given its path below the root; None if it is nowhere."""
        return next((place for place in self.places(name) if place.is_file()), None)

    def need(self, what: str, choices: Sequence[Choice], otherwise: str = "") -> Files:
        """The first choice that is wholly there.

        Args:
            what: the files are, for the note and the error.
            choices: the published files first.
            otherwise: what else can be done if none is there, for the error.

        Raises:
            MissingData: if none is.
        """
        for choice in choices:
            found = [path for path in map(self.find, choice) if path is not None]
            if len(found) == len(choice):
                note = f"{what}: {_names(choice)} (published: {_names(choices[0])})"
                return Files(tuple(found), None if choice == choices[0] else note)
        folder = choices[0][0].partition("/")[0]
        looked = " or ".join(_names(choice) for choice in choices)
        fetched = f"; `unnoted data fetch {folder} --to {self.path / folder}` gets it"
        hint = fetched if folder in Catalog.read().datasets else ""
        below = ", ".join(f"{each}/" for each in FOLDERS)
        raise MissingData(f"{what}: found no {looked} in {self.path} or in {below} below it{hint}{otherwise}")

    def benchmark(self, setting: str) -> Benchmark:
        """How a setting is scored."""
        return DATA_SETS[setting].benchmark

    def test(self, setting: str) -> Files:
        """The documents that a setting is scored on."""
        return self.need("test documents", DATA_SETS[setting].test)

    def scored(self, setting: str) -> tuple[dict[str, tuple[Path, ...]], list[str]]:
        """The files of each set that a setting is scored on, and notes on them."""
        test = self.test(setting)
        sets, notes = {"test": test.paths}, [test.note] if test.note else []
        if choices := DATA_SETS[setting].dev:
            dev = self.need("development documents", choices)
            notes += [dev.note] if dev.note else []
            # Documents that stand in for the test set already are not scored twice.
            if dev.paths != test.paths:
                sets["dev"] = dev.paths
        return sets, notes

    def train(self, settings: Settings) -> Files:
        """The training documents of published settings, or what they can be made from."""
        published = tuple(map(below_root, settings.train))
        choices = [published]
        substitute, level = SUBSTITUTES.get(published[0], (None, None))
        if substitute is not None:
            choices.append((substitute,))
        found = self.need("training documents", choices)
        if found.note is None or level is None:
            return found
        made = f"training documents: made from {_names(choices[1])} by `unnoted data thin --level {level}`"
        return Files(found.paths, f"{made} with seed 0 (published: {_names(published)})", level)

    def others(self, settings: Settings, given: Container[str]) -> dict[str, Path | tuple[Path, ...]]:
        """The other files that published settings name, by key, but for those that the user gave."""
        found: dict[str, Path | tuple[Path, ...]] = {}
        for key in ("dev", "vocabulary", "vectors"):
            files = getattr(settings, key)
            if files is not None and key not in given:
                several = files if isinstance(files, tuple) else (files,)
                paths = self.need(key, [tuple(map(below_root, several))], f"; or --set {key}=FILE").paths
                found[key] = paths if isinstance(files, tuple) else paths[0]
        return found


def below_root(path: Path) -> str:
    """The path of a file below the root, as published settings name it.

    Example:
        >>> below_root(Path("data/docred/rel_info.json"))
        'docred/rel_info.json'
    """
    return path.relative_to(ROOT).as_posix()


def _names(choice: Choice) -> str:
    return ", ".join(PurePosixPath(name).name for name in choice)
