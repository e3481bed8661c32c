"""From files of documents to a file of facts; an interrupted run can be continued.

The results of each document are kept in `TO.partial` as soon as they are known: a header that says what they
depend on, then a line of JSON and its checksum for each document. A kill leaves at most a cut last line, which
is computed again.
"""

import json
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import torch

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.loading import stream_documents
from unnoted.data.ner import TextReader
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.inference.extractor import Extractor
from unnoted.inference.facts import DocumentRecord
from unnoted.inference.scoring import DecisionOptions
from unnoted.inference.writers import RESULT_WRITERS, Results
from unnoted.io import (
    TextInput,
    content_digest,
    is_stream,
    read_whole,
)
from unnoted.models.model_io import TOKENIZER_FILES
from unnoted.utils import lookup, plural, short_repr, shorten, strip_control

MODEL_FILES = ("config.json", "*.safetensors", "*.safetensors.index.json")
"""What is read of a model's folder; other files there, such as the record of its training, may change."""


@dataclass(slots=True)
class ExtractionReport:
    """Counts of a prediction run.

    Attributes:
        documents: all of them.
        resumed: of them, those that an interrupted run had completed.
        without_pairs: documents without a candidate pair, in which nothing can be found.
        facts: all predicted facts.
        unknown_types: entities of a type that is in no candidate pair of the model, by type.
    """

    documents: int = 0
    resumed: int = 0
    without_pairs: int = 0
    facts: int = 0
    unknown_types: Counter[str] = field(default_factory=Counter)

    def count_documents(
        self, documents: Iterable[Document], candidates: CandidatePairs
    ) -> Iterator[Document]:
        """The same documents, counted on their way."""
        known = None if candidates.types is None else {kind for pair in candidates.types for kind in pair}
        for document in documents:
            self.documents += 1
            self.without_pairs += candidates.count(document) == 0
            if known is not None:
                types = (entity.type for entity in document.entities)
                self.unknown_types.update(kind for kind in types if kind not in known)
            yield document

    def count_facts(self, records: Iterable[DocumentRecord]) -> Iterator[DocumentRecord]:
        """The same results, their facts counted on their way."""
        for record in records:
            self.facts += len(record["facts"])
            yield record

    def notes(self) -> list[str]:
        """What the user should know, one sentence a line."""
        lines = []
        if self.resumed:
            lines.append(f"{plural(self.resumed, 'document')} had been completed before")
        if self.unknown_types:
            total = plural(self.unknown_types.total(), "entity", "entities")
            common = ", ".join(f"{kind} ({count:,})" for kind, count in self.unknown_types.most_common(5))
            lines.append(f"{total} of types that the model has no candidate pairs of: {common}")
        if self.without_pairs:
            lines.append(
                f"{plural(self.without_pairs, 'document')} without a candidate pair: nothing to find there"
            )
        return lines


def partial_path(output: Path) -> Path:
    """Where results are kept until the output is complete.

    Example:
        >>> print(partial_path(Path("facts.jsonl")))
        facts.jsonl.partial
    """
    return Path(f"{output}.partial")


def predict_files(
    extractor: Extractor,
    model: str | Path,
    files: Sequence[Path],
    to: Path,
    format: str,
    options: DecisionOptions | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> ExtractionReport:
    """Extract the facts of all documents of some files into one file, which the caller has locked.

    The same call, made again after an interruption, continues and writes what it would have written without
    one. `to` appears when it is complete. A pipe, a device or `-` gets the results as they are found; none are
    kept.

    Args:
        extractor: with the model.
        model: the model's folder, or its name: an interrupted run is continued by the same model only.
        files: documents in any known format.
        to: where to write; a name ending in `.gz` is compressed.
        format: one of `RESULT_WRITERS`.
        options: which facts are predicted; by default the model's threshold decides.
        on_progress: called with the number of documents that are completed.

    Raises:
        DataError: a file cannot be read, or a document cannot be used.
        ValueError: `to.partial` is something else than what the same call left.
    """
    options = DecisionOptions() if options is None else options
    write, report = lookup("format", format, RESULT_WRITERS), ExtractionReport()
    documents = report.count_documents(stream_documents(*files), extractor.model.candidates)
    # Bad options are refused here; the first document is taken when the extractions are iterated.
    extractions = extractor.extract(documents, threshold=options)

    def compute() -> Iterator[DocumentRecord]:
        on_progress(report.resumed)
        for done, extraction in enumerate(extractions, start=report.resumed + 1):
            yield extraction.to_json()
            on_progress(done)

    def write_results(records: Iterable[DocumentRecord]) -> None:
        counted = report.count_facts(records)
        write(to, Results(counted, lambda: stream_documents(*files), str(model)))

    if is_stream(to):
        write_results(compute())
        return report
    path = partial_path(to)
    with closing(PartialResults(path, fingerprint(extractor, model, files, options))) as partial:
        report.resumed = partial.skip_completed(documents, extractor.chunk)
        for record in compute():
            partial.append(record)
        write_results(partial.records())
    path.unlink()
    return report


def fingerprint(
    extractor: Extractor, model: str | Path, files: Sequence[Path], options: DecisionOptions
) -> dict[str, Any]:
    """All that the bytes of a result depend on: what is read, and how it is computed to the last digit.

    Documents are computed in batches, so the limits of a batch count; so does the number of threads that
    share a sum.
    """
    return {
        "model": _digests(model, MODEL_FILES) or str(model),
        "tokenizer": _digests(model, TOKENIZER_FILES),
        "input": [f"{file.name} ({content_digest(file)[:16]})" for file in files],
        **asdict(options),
        "any_types": extractor.any_types,
        "encoder": extractor.backend_digest,
        "batch": asdict(extractor.batch),
        "chunk": extractor.chunk,
        "device": extractor.device,
        "threads": torch.get_num_threads() if extractor.device == "cpu" else None,
        "software": f"unnoted {version('unnoted')}, torch {torch.__version__}",
    }


def _digests(model: str | Path, names: Sequence[str]) -> str:
    """The content of a folder's files of some names; empty if it is no folder."""
    paths = (path for name in names for path in sorted(Path(model).glob(name)))
    return "-".join(content_digest(path)[:16] for path in paths)


class PartialResults:
    """The results so far, open for more, while the output is locked.

    Args:
        path: the file; made if it is not there. A link is not followed.
        fingerprint: what the results depend on, as JSON values. A file with another fingerprint is refused.

    Raises:
        ValueError: the file is not of this kind, its fingerprint is another, or it is damaged.
        OSError: it cannot be opened.
    """

    HEADER = "partial results of unnoted"
    """The key of the fingerprint in the first line: a file that begins otherwise is the user's own."""

    def __init__(self, path: Path, fingerprint: Mapping[str, Any]) -> None:
        self.path = path
        self._header = json.dumps({self.HEADER: fingerprint}).encode() + b"\n"
        exists = path.exists() or path.is_symlink()
        if exists and (path.is_symlink() or not path.is_file()):
            raise self._refusal("a link or no regular file")
        self._stream = path.open("r+b" if exists else "x+b")
        try:
            self._check_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # it tries once more to write what could not be written, which was reported
            self._stream.close()

    def skip_completed(self, documents: Iterator[Document], chunk: int = 1) -> int:
        """Take the documents that are completed from a stream, and return how many.

        Results after the last whole chunk are dropped: their last digits depend on the documents that are
        computed with them, which are the same only if the whole chunk is computed again.

        Args:
            documents: all of them.
            chunk: how many are computed together.

        Raises:
            ValueError: a line is damaged or belongs to another document than the stream's.
        """
        self._stream.seek(len(self._header))
        complete = sum(line.endswith(b"\n") for line in self._stream)
        done = complete - complete % chunk
        self._stream.seek(len(self._header))
        for number in range(2, done + 2):
            name = self._parse(self._stream.readline(), number)["id"]
            document = next(documents, None)
            if document is None or document.id != name:
                other = f"has {'no more' if document is None else repr(document.id)} there"
                raise self._damage(f"line {number} is of document {name!r}, and the input {other}")
        self._stream.truncate()
        return done

    def append(self, record: DocumentRecord) -> None:
        """Add one document's result; it survives a kill from now on."""
        result = json.dumps(record, ensure_ascii=False).encode()
        self._write(b"%b\t%08x\n" % (result, zlib.crc32(result)))

    def records(self) -> Iterator[DocumentRecord]:
        """All results."""
        self._stream.seek(len(self._header))
        for number, line in enumerate(self._stream, start=2):
            yield self._parse(line, number)

    def _check_header(self) -> None:
        """Check the first line; write it if it is missing or was cut."""
        first, mark = self._stream.readline(), f'{{"{self.HEADER}": '.encode()
        if not (first.startswith(mark) or mark.startswith(first)):
            raise self._refusal(f"{first[:40]!r} in line 1")
        if not first.endswith(b"\n"):
            self._stream.truncate(0)
            self._write(self._header)
        elif first != self._header:
            try:
                old, new = (json.loads(line)[self.HEADER] for line in (first, self._header))
                name = next(key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
            except (ValueError, RecursionError, AttributeError, StopIteration):
                raise self._damage("line 1 is damaged") from None
            raise self._damage(
                f"an interrupted run had another {shorten(strip_control(name))} "
                f"({short_repr(old.get(name), 200)}, now {short_repr(new.get(name), 200)})"
            )

    def _write(self, line: bytes) -> None:
        self._stream.seek(0, os.SEEK_END)
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise OSError(error.errno, f"not written: {error.strerror}", str(self.path)) from None

    def _parse(self, line: bytes, number: int) -> DocumentRecord:
        result, _, checksum = line.removesuffix(b"\n").rpartition(b"\t")
        if checksum != b"%08x" % zlib.crc32(result):
            raise self._damage(f"line {number} does not match its checksum")
        return cast(DocumentRecord, json.loads(result))

    def _damage(self, what: str) -> ValueError:
        return ValueError(f"{self.path}: {what}; delete the file to start anew")

    def _refusal(self, what: str) -> ValueError:
        return ValueError(
            f"{self.path}: {what}: this is not what an interrupted run left; move it, or write to another file"
        )


def threads_of_partial(path: Path) -> int | None:
    """With how many threads an interrupted run was computed; None if there is none, or its header is damaged.

    Its results depend on the number in their last digits, so it is continued with the same.
    """
    try:
        with path.open("rb") as stream:
            threads = json.loads(stream.readline(1 << 20))[PartialResults.HEADER]["threads"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    return threads if type(threads) is int and threads > 0 else None


@contextmanager
def text_files_as_documents(files: Sequence[Path], reader: TextReader, log: DefectLog) -> Iterator[Path]:
    """A file with the documents of text files, one each, for as long as the block lasts.

    The id of a document is the file's name as it was given. The same texts and pipeline give the same bytes,
    so that an interrupted run can be continued.

    Raises:
        DataError: a file cannot be read as text, or is blank; names it.
    """
    with tempfile.TemporaryDirectory(prefix="unnoted-") as folder:
        path = Path(folder, "texts.jsonl")
        texts = ((TextInput(file).name, _read_text(file)) for file in files)
        write_documents(path, reader.read(texts, log))
        yield path


def _read_text(file: Path) -> str:
    try:
        text = read_whole(file)
        if not text.strip():
            raise DataError("no text", "a text", kind=DefectKind.UNREADABLE)
        return text
    except DataError as error:
        raise DefectLog(TextInput(file).name).located(error) from None
