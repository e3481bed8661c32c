"""The catalog of public data sets: where each file lives and what identifies it."""

import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import urlsplit

from unnoted.common.errors import shown

SHIPPED_CATALOG = Path(__file__).with_name("catalog.json")
CHUNK = 1 << 16

CHECKSUMS: Mapping[str, Callable[[int], Any]] = {
    "sha256": lambda size: hashlib.sha256(),
    "git_blob_sha1": lambda size: hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False),
}
"""For each kind of checksum, a fresh hash for a file of the given size."""


SAFE_NAME = "a file name or path below the target folder, not ending in .part"


class FetchError(RuntimeError):
    """A data set that could not be fetched: names the data set, the file, what was found and expected."""


class CatalogError(FetchError):
    """A catalog that cannot be used: names its file, the entry, the field, what was found and expected."""


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """One file of a data set: its name below the target folder, its address, and what identifies it.

    Example:
        >>> file = CatalogFile("a.txt", "https://example.org/a.txt", "sha256", "0" * 64, size=3)
        >>> file.mismatch(Path(__file__)).endswith("expected 3 bytes")
        True
    """

    name: str
    url: str
    algorithm: str
    checksum: str
    size: int | None = None

    def __post_init__(self) -> None:
        if not _is_safe_name(self.name):
            raise CatalogError(f"file name: found {shown(self.name)}, expected {SAFE_NAME}")

    def mismatch(self, path: Path) -> str | None:
        """What is wrong with the contents of `path`, or None when they are this file's."""
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"found {size:,} bytes, expected {self.size:,} bytes"
        digest = CHECKSUMS[self.algorithm](size)
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
        found = digest.hexdigest()
        return None if found == self.checksum else f"found {self.algorithm} {found}, expected {self.checksum}"


def _is_safe_name(name: str) -> bool:
    """Whether a name stays below the target folder on every system, and is no part file's."""
    steps = PurePosixPath(name).parts
    tidy = "/".join(steps) == name and name not in ("", "/") and ".." not in steps
    return tidy and not re.search(r"[\\:\x00-\x1f]|\.part$", name)


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """One data set of a catalog."""

    name: str
    licence: str
    description: str
    files: tuple[CatalogFile, ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The data sets that can be fetched, and the file in which they are listed.

    Example:
        >>> sorted(Catalog.read().datasets)
        ['chemdisgene', 'docred', 're-docred']
    """

    source: Path
    datasets: Mapping[str, DatasetEntry]

    @classmethod
    def read(cls, path: Path = SHIPPED_CATALOG) -> "Catalog":
        """Read and validate a catalog: the one that is shipped, or a mirror's."""
        return _CatalogReader(path).read()

    def dataset(self, name: str) -> DatasetEntry:
        """The data set of that name; an unknown name is an error that says which one is nearest."""
        if name not in self.datasets:
            known = ", ".join(self.datasets)
            nearest = _nearest(name, self.datasets)
            raise FetchError(f"no data set is named {shown(name)}; the nearest is {nearest!r} (of {known})")
        return self.datasets[name]


def _nearest(name: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0)[0]


@dataclass(frozen=True, slots=True)
class _CatalogReader:
    """Turns a JSON file into a `Catalog`, naming the place of whatever does not fit."""

    path: Path

    def read(self) -> Catalog:
        top = self._object("top level", self._parse(), required=("datasets",), optional=("note",))
        entries = self._object("datasets", top["datasets"])
        return Catalog(self.path, {name: self._dataset(name, entry) for name, entry in entries.items()})

    def _parse(self) -> object:
        try:
            return json.loads(self.path.read_text("utf-8-sig"), object_pairs_hook=self._without_repeats)
        except OSError as error:
            self._fail("the file", error.strerror or str(error), "a readable catalog")
        except UnicodeDecodeError as error:
            self._fail("the file", f"the byte 0x{error.object[error.start]:02x}", "UTF-8 text")
        except json.JSONDecodeError as error:
            self._fail(f"line {error.lineno}", f"broken JSON ({error.msg})", "valid JSON")
        except RecursionError:
            self._fail("the file", "JSON nested too deeply", "a catalog")

    def _without_repeats(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        # json keeps the last of two equal keys: a file listed twice would silently lose an address.
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                self._fail(f"key {shown(key)}", "it twice in one object", "every key once")
        return dict(pairs)

    def _dataset(self, name: str, value: object) -> DatasetEntry:
        entry = self._object(f"{name}", value, required=("licence", "description", "files"))
        files = self._object(f"{name}: files", entry["files"])
        return DatasetEntry(
            name=name,
            licence=self._text(f"{name}: licence", entry["licence"]),
            description=self._text(f"{name}: description", entry["description"]),
            files=tuple(self._file(f"{name}: files: {shown(file)}", file, files[file]) for file in files),
        )

    def _file(self, place: str, name: str, value: object) -> CatalogFile:
        entry = self._object(place, value, required=("url",), optional=("size", *CHECKSUMS))
        given = [algorithm for algorithm in CHECKSUMS if algorithm in entry]
        if len(given) != 1:
            self._fail(place, " and ".join(given) or "no checksum", f"one of {' or '.join(CHECKSUMS)}")
        algorithm = given[0]
        return CatalogFile(
            name=self._name(place, name),
            url=self._url(f"{place}: url", entry["url"]),
            algorithm=algorithm,
            checksum=self._checksum(f"{place}: {algorithm}", algorithm, entry[algorithm]),
            size=self._size(f"{place}: size", entry["size"]) if "size" in entry else None,
        )

    def _object(
        self, place: str, value: object, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
    ) -> dict[str, object]:
        """A JSON object with at least one key; where keys are named, with those and no others."""
        if not isinstance(value, dict) or not value:
            self._fail(place, shown(value), "a JSON object that is not empty")
        allowed = (*required, *optional)
        for key in value if allowed else ():
            if key not in allowed:
                self._fail(place, f"the key {shown(key)}", f"a known one, such as {_nearest(key, allowed)!r}")
        for key in required:
            if key not in value:
                self._fail(f"{place}: {key}", "nothing", "a value")
        return value

    def _text(self, place: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            self._fail(place, shown(value), "some text")
        return value

    def _name(self, place: str, name: str) -> str:
        if not _is_safe_name(name):
            self._fail(place, shown(name), SAFE_NAME)
        return name

    def _url(self, place: str, value: object) -> str:
        url = self._text(place, value)
        usable = re.fullmatch(r"[!-~]+", url) is not None
        with suppress(ValueError):  # a port that is no number, a host with an empty label
            parts = urlsplit(url)
            host = (parts.hostname or "").encode("idna")
            if usable and parts.scheme in ("http", "https") and host and parts.port != 0:
                return url
        self._fail(place, shown(url), "an http or https address")

    def _checksum(self, place: str, algorithm: str, value: object) -> str:
        digits = CHECKSUMS[algorithm](0).digest_size * 2
        if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value):
            self._fail(place, shown(value), f"{digits} hexadecimal digits")
        return value.lower()

    def _size(self, place: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            self._fail(place, shown(value), "a number of bytes above 0")
        return value

    def _fail(self, place: str, found: str, expected: str) -> NoReturn:
        raise CatalogError(f"{self.path}: {place}: found {found}, expected {expected}")
