"""Download of the public data sets, verified by checksum, and of the sample of them that the results use.

`catalog.json` has the address and checksum of every file; a mirror may have a catalog of its own. A file gets
its name only when it is whole and right. `sample.json` has the ids of the documents of the sample.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple, TypeAlias

import requests
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from unnoted.errors import DataError
from unnoted.io import Limits, atomic_write, lock_output, parse_json, read_whole
from unnoted.utils import describe_error, lookup, plural, short_repr

SHIPPED_CATALOG = Path(__file__).with_name("catalog.json")
SHIPPED_SAMPLE = Path(__file__).with_name("sample.json")

CHUNK = 1 << 16
TIMEOUT = 30.0
"""Seconds without a byte after which a connection is lost."""

RETRIES = Retry(total=3, backoff_factor=1.0, status_forcelist=(408, 425, 429, 500, 502, 503, 504))

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a file's name, the number of bytes that have arrived, and of all (None if unknown)."""


class DownloadError(ValueError):
    """A data set that cannot be downloaded, or a catalog that cannot be used."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CatalogFile(_Strict):
    """One file of a data set: its address, one checksum of either kind, and its size if it is known.

    `git_blob_sha1` is the name that git gives to the contents: `git hash-object FILE`.
    """

    url: str = Field(pattern=r"^https?://[^\s/.][^\s]*$")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    git_blob_sha1: str | None = Field(None, pattern="^[0-9a-f]{40}$")
    size: int | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _check(self) -> "CatalogFile":
        if (self.sha256 is None) == (self.git_blob_sha1 is None):
            raise ValueError("needs one of sha256 and git_blob_sha1")
        return self

    def find_mismatch(self, path: Path) -> str | None:
        """What is wrong with the contents of a file; None if they are right."""
        size = path.stat().st_size
        # Git hashes a header with the size before the contents.
        digest = hashlib.sha256() if self.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, lambda: digest).hexdigest()
        right = self.sha256 or self.git_blob_sha1
        return None if found == right else f"checksum {found} instead of {right}"


FileName: TypeAlias = Annotated[str, Field(pattern=r"^\w[\w.-]*(/\w[\w.-]*)*$")]
"""A path that stays below the target folder on every system."""


class CatalogEntry(_Strict):
    """One data set: its licence, what it is, and its files by their paths below a folder."""

    licence: str = Field(pattern=r"\S")
    description: str = Field(pattern=r"\S")
    files: dict[FileName, CatalogFile] = Field(min_length=1)


class Catalog(_Strict):
    """The data sets that can be downloaded, by name."""

    datasets: dict[str, CatalogEntry] = Field(min_length=1)
    note: str | None = None

    @classmethod
    def read(cls, path: Path = SHIPPED_CATALOG) -> "Catalog":
        """Read a catalog: the shipped one, or a mirror's."""
        try:
            return cls.model_validate(parse_json(read_whole(path)))
        except DataError as error:
            raise DownloadError(f"{path}: {error.defect.within_file}") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise DownloadError(
                f"{path}: {place}: {first['msg']}, not {short_repr(first['input'])}"
            ) from None

    def entry(self, dataset: str) -> CatalogEntry:
        """The data set of a name."""
        found: CatalogEntry = _lookup("data set", dataset, self.datasets)
        return found


def _lookup(what: str, name: str, table: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the table's type
    try:
        return lookup(what, name.lower(), table)
    except ValueError as error:
        raise DownloadError(str(error)) from None


class DownloadedFile(NamedTuple):
    """A file that is there and verified, and how it came to be there."""

    name: str
    size: int
    outcome: str


def download(
    dataset: str,
    to: Path,
    catalog: Catalog,
    progress: Progress,
    overwrite: bool = False,
    names: Iterable[str] | None = None,
) -> list[DownloadedFile]:
    """Download the files of a data set into a folder; files that are there and right are kept.

    Args:
        dataset: its name in the catalog.
        to: the folder; made if it is not there.
        catalog: the shipped one, or a mirror's.
        progress: called with every chunk that arrives.
        overwrite: replace files that are there with other contents, instead of raising an error.
        names: of some files; all by default.

    Raises:
        DownloadError: the data set is unknown, a file cannot be downloaded or written, or is not what it should
            be. Files that were complete by then stay.
    """
    files = catalog.entry(dataset).files
    chosen = {name: files[name] for name in (files if names is None else names)}
    try:
        # Verified first: a wrong file that is there is not worth learning of after a long download.
        present = {name for name, file in chosen.items() if _is_present(file, to / name, overwrite)}
        done = []
        for name, file in chosen.items():
            target = to / name
            if name not in present:
                target.parent.mkdir(parents=True, exist_ok=True)
                with lock_output(target, overwrite=True):
                    _download_file(name, file, target, progress)
            outcome = "already there and verified" if name in present else "downloaded"
            done.append(DownloadedFile(name, target.stat().st_size, outcome))
    except requests.RequestException as error:
        raise DownloadError(f"{dataset}: {name} cannot be downloaded ({describe_error(error)})") from None
    except OSError as error:
        raise DownloadError(f"{error.filename or to}: {error.strerror or error}") from None
    return done


def _is_present(file: CatalogFile, target: Path, overwrite: bool) -> bool:
    """Whether the right file is there; another one in its place is an error unless it may be overwritten."""
    wrong = file.find_mismatch(target) if target.exists() else "nothing there"
    if wrong and target.exists() and not overwrite:
        raise DownloadError(f"{target}: has other contents ({wrong}); --overwrite replaces it")
    return wrong is None


def _download_file(name: str, file: CatalogFile, target: Path, progress: Progress) -> None:
    limits, done = Limits.current(), 0
    largest = file.size or limits.download
    # Bytes as they are stored: a server may compress them for the way.
    headers = {"User-Agent": "unnoted", "Accept-Encoding": "identity"}
    with requests.Session() as session, atomic_write(target) as sink:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=RETRIES))
        with session.get(file.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            response.raise_for_status()
            for chunk in response.iter_content(CHUNK):
                sink.write(chunk)
                done += len(chunk)
                progress(name, done, file.size)
                if done > largest:
                    limit = f"{file.size:,}" if file.size else limits.allowance("download")
                    raise DownloadError(f"{name}: {file.url} has more bytes than {limit}")
        sink.flush()
        if wrong := file.find_mismatch(Path(sink.name)):
            raise DownloadError(f"{name}: the download from {file.url} is damaged: {wrong}")


# The sample ----------------------------------------------------------------------------------------------------


class SampleFile(_Strict):
    """One file of a sample.

    Attributes:
        sources: the files in which the documents are looked up, as `data set/file`.
        ids: the name of its list of documents; None for the whole file.
    """

    sources: list[str]
    ids: str | None


class Samples(_Strict):
    """The samples: the files of each data set, and lists of ids by name."""

    note: str
    datasets: dict[str, dict[str, SampleFile]]
    ids: dict[str, list[str]]


def read_samples() -> Samples:
    """The samples of the results pages."""
    return Samples.model_validate_json(SHIPPED_SAMPLE.read_text("utf-8"))


def download_sample(
    dataset: str, to: Path, catalog: Catalog, progress: Progress, overwrite: bool = False
) -> list[DownloadedFile]:
    """Download the public files and keep the sample of documents that the results pages are about.

    Raises:
        DownloadError: as for `download`, or a public file lacks documents of the sample.
    """
    samples = read_samples()
    files: Mapping[str, SampleFile] = _lookup("sample", dataset, samples.datasets)
    sources: dict[str, list[str]] = {}
    for source in dict.fromkeys(source for file in files.values() for source in file.sources):
        origin, _, name = source.partition("/")
        sources.setdefault(origin, []).append(name)
    to.mkdir(parents=True, exist_ok=True)
    with (
        lock_output(*(to / name for name in files), overwrite=overwrite),
        TemporaryDirectory(prefix=".unnoted-", dir=to) as folder,
    ):
        for origin, names in sources.items():
            download(origin, Path(folder, origin), catalog, progress, names=names)
        done = []
        for name, file in files.items():
            contents = [Path(folder, source).read_bytes() for source in file.sources]
            selected = (
                contents[0] if file.ids is None else select_documents(name, contents, samples.ids[file.ids])
            )
            with atomic_write(to / name) as sink:
                sink.write(selected)
            done.append(DownloadedFile(name, len(selected), "selected"))
    return done


def select_documents(name: str, contents: Iterable[bytes], ids: Iterable[str]) -> bytes:
    """The content of a file with some documents of others, in the order of the ids.

    Args:
        name: of the file; it tells the format: `.json` is DocRED's, `abstracts.txt.gz` PubTator's,
            `relationships.tsv.gz` its relations. The last two are compressed, reproducibly.
        contents: of the others.
        ids: of the documents; in a file of relations, of those that have some.

    Raises:
        DownloadError: a document is nowhere.
    """
    parts: dict[str, list[Any]] = {id: [] for id in ids}
    for content in contents:
        if name.endswith(".json"):
            for document in json.loads(content):
                parts.get(document["title"], []).append(document)
            continue
        text = gzip.decompress(content).decode("utf-8")
        if name.endswith(".tsv.gz"):
            for row in text.splitlines(keepends=True):
                parts.get(row.partition("\t")[0], []).append(row)
        else:
            for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
                parts.get(block.partition("|")[0], []).append(f"{block}\n\n")
    if missing := sum(not part for part in parts.values()):
        raise DownloadError(f"{name}: the public files lack {plural(missing, 'document')} of the sample")
    if name.endswith(".json"):
        chosen = [found[0] for found in parts.values()]
        return json.dumps(chosen, ensure_ascii=False, separators=(",", ":")).encode()
    return gzip.compress("".join(part for found in parts.values() for part in found).encode(), mtime=0)
