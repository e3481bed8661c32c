"""The catalog of public data sets: where each file lives and what identifies it."""

import hashlib
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from unnoted.errors import DataError
from unnoted.io import parse_json, read_whole
from unnoted.utils import nearest, short_repr

SHIPPED_CATALOG = Path(__file__).with_name("catalog.json")


class FetchError(ValueError):
    """A data set that could not be fetched: names the data set, the file, what was found and expected."""


class CatalogError(FetchError):
    """A catalog that cannot be used: names its file, the entry, the field, what was found and expected."""


def _http_address(url: str) -> str:
    with suppress(ValueError):  # a port that is no number, a host with an empty label
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        plain = re.fullmatch(r"[!-~]+", url)
        if plain and parts.scheme in ("http", "https") and host and parts.port != 0:
            return url
    raise ValueError("no address")


def _safe_name(name: str) -> str:
    """A name that stays below the target folder on every system, and is no part file's."""
    steps = PurePosixPath(name).parts
    tidy = "/".join(steps) == name and name not in ("", "/") and ".." not in steps
    if not tidy or re.search(r"[\\:\x00-\x1f]|\.part$", name):
        raise ValueError("no safe name")
    return name


class _Strict(BaseModel):
    """Part of a catalog. The description of a field says what is expected there."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CatalogFile(_Strict):
    """One file of a data set: its address and what identifies it, which is one checksum of either kind.

    Example:
        >>> file = CatalogFile(url="https://example.org/a.txt", sha256="0" * 64, size=3)
        >>> file.mismatch(Path(__file__)).endswith("expected 3 bytes")
        True
    """

    url: Annotated[str, AfterValidator(_http_address)] = Field(description="an http or https address")
    sha256: str | None = Field(None, pattern="^[0-9a-fA-F]{64}$", description="64 hexadecimal digits")
    git_blob_sha1: str | None = Field(None, pattern="^[0-9a-fA-F]{40}$", description="40 hexadecimal digits")
    size: int | None = Field(None, gt=0, description="a number of bytes above 0")

    @model_validator(mode="after")
    def _has_one_checksum(self) -> "CatalogFile":
        if (self.sha256 is None) == (self.git_blob_sha1 is None):
            raise ValueError("no checksum" if self.sha256 is None else "sha256 and git_blob_sha1")
        return self

    @property
    def algorithm(self) -> str:
        """The kind of its checksum."""
        return "sha256" if self.sha256 else "git_blob_sha1"

    @property
    def checksum(self) -> str:
        """Its checksum in small letters."""
        return (self.sha256 or self.git_blob_sha1 or "").lower()

    def mismatch(self, path: Path) -> str | None:
        """What is wrong with the contents of `path`, or None when they are this file's."""
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"found {size:,} bytes, expected {self.size:,} bytes"
        # What git calls a file's contents: the SHA-1 of a header with their size, and of the contents.
        header = b"" if self.sha256 else b"blob %d\0" % size
        start = hashlib.sha256() if self.sha256 else hashlib.sha1(header, usedforsecurity=False)
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, lambda: start).hexdigest()
        return None if found == self.checksum else f"found {self.algorithm} {found}, expected {self.checksum}"


Text = Annotated[str, Field(pattern=r"\S", description="some text")]
_OBJECT = "a JSON object that is not empty"


class DatasetEntry(_Strict):
    """One data set of a catalog: its licence, what it is, and its files by their names below a folder."""

    licence: Text
    description: Text
    files: dict[Annotated[str, AfterValidator(_safe_name)], CatalogFile] = Field(
        min_length=1, description=_OBJECT
    )


class Catalog(_Strict):
    """The data sets that can be fetched, by name.

    Example:
        >>> sorted(Catalog.read().datasets)
        ['chemdisgene', 'docred', 're-docred']
    """

    datasets: dict[str, DatasetEntry] = Field(min_length=1, description=_OBJECT)
    note: str | None = Field(None, description="some text")

    @classmethod
    def read(cls, path: Path = SHIPPED_CATALOG) -> "Catalog":
        """Read and validate a catalog: the one that is shipped, or a mirror's."""
        try:
            return cls.model_validate(parse_json(read_whole(path)))
        except DataError as error:
            raise CatalogError(f"{path}: {error.defect.within_file}") from None
        except ValidationError as error:
            raise CatalogError(f"{path}: {_located(error)}") from None

    def dataset(self, name: str) -> DatasetEntry:
        """The data set of that name; an unknown name is an error that says which one is nearest."""
        if name not in self.datasets:
            hint = nearest(name.lower(), self.datasets)
            raise FetchError(f"no data set is named {name!r}, expected {' or '.join(self.datasets)}{hint}")
        return self.datasets[name]


_EXPECTED = {
    key: field.description
    for part in (Catalog, DatasetEntry, CatalogFile)
    for key, field in part.model_fields.items()
} | {"[key]": "a file name or path below the target folder, not ending in .part"}


def _located(error: ValidationError) -> str:
    """One thing that is wrong, an unknown key first: where, what was found, and what was expected."""
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    # Fields and names alternate: datasets, NAME, files, FILE, field.
    steps = [repr(step) if number == 3 else str(step) for number, step in enumerate(first["loc"])]
    place = ": ".join(steps[1:] or steps) or "top level"
    found, expected = short_repr(first["input"]), _EXPECTED.get(steps[-1]) if len(steps) % 2 else _OBJECT
    match first["type"]:
        case "missing":
            found = "nothing"
        case "extra_forbidden":
            found, expected = "an unknown key", "a known one" + nearest(steps[-1], _EXPECTED)
        case "value_error" if len(steps) == 4:
            found, expected = str(first["ctx"]["error"]), "one of sha256 or git_blob_sha1"
    return f"{place}: found {found}, expected {expected}"
