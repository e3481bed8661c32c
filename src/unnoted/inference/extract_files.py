"""From files of documents to a file of facts, in a way that can be interrupted and taken up again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog
from unnoted.inference.extractor import Extractor
from unnoted.inference.facts import Extraction
from unnoted.inference.partial import PartialResults
from unnoted.inference.result_writers import RESULT_WRITERS, Records, Results
from unnoted.inference.scoring import Asked
from unnoted.io import content_digest, is_stream, lock_output, partial_path
from unnoted.models.saved import TOKENIZER_FILES
from unnoted.utils import lookup, plural

MODEL_FILES = ("config.json", "*.safetensors", "*.safetensors.index.json")
"""What is read of a model's folder; whatever else lies there, such as a training's record, may change."""


@dataclass(slots=True)
class ExtractionReport:
    """What was done, counted as it is done.

    Attributes:
        documents: all of them.
        done_before: of them, those that an interrupted run had done.
        without_pairs: documents without a candidate pair, in which nothing can be found.
        facts: all facts found.
        unknown_types: entities of a type that stands in no candidate pair of the model, by type.
    """

    documents: int = 0
    done_before: int = 0
    without_pairs: int = 0
    facts: int = 0
    unknown_types: Counter[str] = field(default_factory=Counter)

    def watched(self, documents: Iterable[Document], candidates: CandidatePairs) -> Iterator[Document]:
        """The same documents, counted on their way."""
        known = None if candidates.types is None else {kind for pair in candidates.types for kind in pair}
        for document in documents:
            self.documents += 1
            self.without_pairs += candidates.count(document) == 0
            if known is not None:
                types = (entity.type for entity in document.entities)
                self.unknown_types.update(kind for kind in types if kind not in known)
            yield document

    def plural(self, records: Records) -> Iterator[dict[str, Any]]:
        """The same results, their facts counted on their way."""
        for record in records:
            self.facts += len(record["facts"])
            yield record

    def notes(self) -> list[str]:
        """What a user should be told, one sentence a line."""
        lines = []
        if self.unknown_types:
            total = plural(self.unknown_types.total(), "entity", "entities")
            shown = ", ".join(f"{kind} ({count:,})" for kind, count in self.unknown_types.most_common(5))
            lines.append(f"{total} of types that the model has no candidate pairs of: {shown}")
        if self.without_pairs:
            documents = plural(self.without_pairs, "document")
            lines.append(f"{documents} without a candidate pair: nothing to find there")
        return lines


def extract_files(
    extractor: Extractor,
    model: str | Path,
    files: Sequence[Path],
    to: Path,
    format: str,
    threshold: float | None = None,
    log: DefectLog | None = None,
    told: Callable[[int], None] = lambda done: None,
    *,
    target_precision: float | None = None,
    target_recall: float | None = None,
    overwrite: bool = False,
) -> ExtractionReport:
    """Extract the facts of all documents of some files into one file.

    The results of each document are in `TO.partial` as soon as they are known. The same call, made again
    after an interruption, continues from there and writes what it would have written without one. `TO`
    appears when it is complete. A pipe, a device or `-` gets the results as they are found; none are kept.

    Args:
        extractor: with the model.
        model: the model's folder, or its name: an interrupted run is taken up by the same model only.
        files: documents in any known format.
        to: where to write; a name ending in `.gz` is compressed.
        format: one of `RESULT_WRITERS`.
        threshold: as for `Extractor.extract`.
        log: where to count what is found in the files.
        told: called with the number of documents that are done.
        target_precision: as for `Extractor.extract`.
        target_recall: as for `Extractor.extract`.
        overwrite: replace a file that is there already.

    Raises:
        DataError: a file cannot be read, or a document cannot be used.
        ValueError: `TO` is one of the files that are read, or is there already, or another process is writing
            it, or `TO.partial` is something else than what the same call left.
    """
    write = lookup("format", format, RESULT_WRITERS)
    report = ExtractionReport()
    documents = report.watched(stream_documents(*files, log=log), extractor.model.candidates)
    asked = Asked(threshold=threshold, target_precision=target_precision, target_recall=target_recall)
    results = extractor.extract(documents, **asked)  # a wrong threshold leaves no file behind
    # With results beside it the file is of this very call, stopped before its last step; others are refused.
    with lock_output(to, inputs=[*files, Path(model)], overwrite=overwrite or partial_path(to).exists()):
        if is_stream(to):
            told(0)
            write(to, _results(report.counted(_as_found(results, told)), files, model))
            return report
        made_from = made_of(extractor, model, files, asked)
        with PartialResults(partial_path(to), made_from) as partial:
            report.done_before = done = partial.pass_over(documents, extractor.chunk)
            told(done)
            for extraction in results:
                partial.append(extraction)
                done += 1
                told(done)
            write(to, _results(report.counted(partial.records()), files, model))
            partial.remove()
    return report


def _results(records: Records, files: Sequence[Path], model: str | Path) -> Results:
    return Results(records, lambda: stream_documents(*files), str(model))


def _as_found(results: Iterable[Extraction], told: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Results on their way to a stream."""
    for done, extraction in enumerate(results, start=1):
        yield extraction.to_json()
        told(done)


def made_of(extractor: Extractor, model: str | Path, files: Sequence[Path], asked: Asked) -> dict[str, Any]:
    """All that the bytes of a result depend on: what is read, and how it is computed to the last digit.

    Documents are computed in batches, so the limits of a batch count; so does the number of threads that
    share a sum.
    """
    device = extractor.model.device.type
    return {
        "model": _digests(model, MODEL_FILES) or str(model),
        "tokenizer": _digests(model, TOKENIZER_FILES),
        "input": [f"{file.name} ({_digest(file)})" for file in files],
        **asked,
        **({"any_types": True} if extractor.any_types else {}),
        **({} if (graph := extractor.graph) is None else {"encoder": graph}),
        "batch": asdict(extractor.batch),
        "chunk": extractor.chunk,
        "device": device,
        "threads": torch.get_num_threads() if device == "cpu" else None,
        "software": f"unnoted {version('unnoted')}, torch {torch.__version__}",
    }


def _digests(model: str | Path, names: Sequence[str]) -> str:
    """The content of a folder's files of some names; nothing if it is no folder."""
    paths = (path for name in names for path in sorted(Path(model).glob(name)))
    return "-".join(_digest(path) for path in paths)


def _digest(path: Path) -> str:
    return content_digest(path)[:16]
