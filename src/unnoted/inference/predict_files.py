"""From files of documents to one file of facts; an interrupted run can be continued.

The results of every few documents are kept as a file in the folder `TO.partial`, with a manifest of what they
depend on. `unnoted.inference.predict_corpus` keeps whole shards in the same way.
"""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

import torch

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.loading import stream_documents
from unnoted.data.ner import TextReader
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.inference.extractor import Extractor
from unnoted.inference.facts import DocumentRecord, Results
from unnoted.inference.scoring import DecisionOptions
from unnoted.inference.writers import RESULT_FORMATS, choose_format, count_predicted
from unnoted.io import (
    TextInput,
    content_digest,
    hold_lock,
    is_stream,
    read_json,
    read_whole,
    write_json,
    write_lines,
)
from unnoted.models.model_io import TOKENIZER_FILES
from unnoted.utils import plural, short_repr

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

    def count_facts(self, records: Iterable[DocumentRecord], threshold: float) -> Iterator[DocumentRecord]:
        """The same results, their facts above a threshold counted on their way."""
        for record in records:
            self.facts += count_predicted(record, threshold)
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
    """The folder where results are kept until the output is complete.

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
        format: one of `RESULT_FORMATS`.
        options: which facts are predicted; by default the model's threshold decides.
        on_progress: called with the number of words of the documents that are done.

    Raises:
        DataError: a file cannot be read, or a document cannot be used.
        ValueError: the format does not suit `to`; or `to.partial` is something else than what the same call
            left.
    """
    decision = extractor.decision(options)  # bad options are refused here
    chosen, report = RESULT_FORMATS[choose_format(to, format)], ExtractionReport()
    lowest = decision.lowest_shown if chosen.filtered else decision.threshold
    documents = report.count_documents(stream_documents(*files), extractor.model.candidates)
    words = 0

    def count_words(computed: Iterable[Document]) -> None:
        nonlocal words
        words += sum(document.word_count for document in computed)
        on_progress(words)

    extractions = extractor.extract(documents, threshold=lowest, on_batch=count_words)

    def compute() -> Iterator[DocumentRecord]:
        for extraction in extractions:
            yield extraction.to_json()

    def write_results(records: Iterable[DocumentRecord]) -> None:
        counted = report.count_facts(records, decision.threshold)
        chosen.write(to, Results(counted, lambda: stream_documents(*files), str(model), decision))

    if is_stream(to):
        write_results(compute())
        return report
    kept = partial_path(to)
    inputs = [f"{file.name} ({content_digest(file)[:16]})" for file in files]
    open_results(kept, {**fingerprint(extractor, model, lowest), "input": inputs})
    # A part is what is computed together: the last digits of a score depend on the documents beside it.
    parts = (kept / f"{number:08}.jsonl" for number in count())
    done = list(takewhile(Path.exists, parts))
    for document in islice(documents, len(done) * extractor.chunk):
        report.resumed += 1
        words += document.word_count
    on_progress(words)
    records = compute()
    while part := list(islice(records, extractor.chunk)):
        done.append(kept / f"{len(done):08}.jsonl")
        write_lines(done[-1], part)
    write_results(json.loads(line) for part in done for line in part.read_text("utf-8").split("\n") if line)
    # Renamed first: half of it, after a kill, would be no results of this call.
    shutil.rmtree(kept.rename(tempfile.mkdtemp(prefix=".unnoted-", dir=kept.parent)))
    return report


# What results depend on

MANIFEST = "_unnoted.json"
"""What the results in a folder depend on; engines that read a folder of tables skip names with `_`."""


def fingerprint(extractor: Extractor, model: str | Path, threshold: float) -> dict[str, Any]:
    """All that the bytes of a result depend on beside the documents: how it is computed, to the last digit.

    Documents are computed in batches, so the limits of a batch count; so does the number of threads that
    share a sum.
    """
    return {
        "model": _digests(model, MODEL_FILES) or str(model),
        "tokenizer": _digests(model, TOKENIZER_FILES),
        "threshold": threshold,
        "any_types": extractor.any_types,
        "backend": extractor.backend,
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


def open_results(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder for results, or check that those in it depend on the same; several processes may at once.

    Args:
        folder: where to.
        settings: what results depend on, as JSON values.

    Raises:
        ValueError: there are other results, or other files.
        OSError: it is no folder, or cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    with hold_lock(
        folder / ".lock", ValueError(f"{folder}: another process opens it; try again"), remove=True
    ):
        if not path.exists():
            if other := next((each.name for each in folder.iterdir() if not each.name.startswith(".")), None):
                raise ValueError(
                    f"{folder}: has {short_repr(other)} in it, and no results; write to a new or an empty folder"
                )
            write_json(path, settings)
            return
    old = read_json(path, ValueError)
    if not isinstance(old, dict):
        raise ValueError(f"{path}: is damaged; delete the folder to start anew")
    for name, value in settings.items():
        if old.get(name) != value:
            raise ValueError(
                f"{folder}: has results of another {name} ({short_repr(old.get(name), 200)}, now "
                f"{short_repr(value, 200)}); write elsewhere, or delete it to start anew"
            )


def threads_of_results(folder: Path) -> int | None:
    """With how many threads the results in a folder were computed, so that more are computed with as many.

    None if there are none, or their manifest is damaged.
    """
    try:
        threads = json.loads((folder / MANIFEST).read_bytes())["threads"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    return threads if type(threads) is int and threads > 0 else None


# Text files


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
