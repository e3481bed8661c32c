"""From the shards of a corpus to as many files of facts, in one process, in several, or on a Ray cluster.

A shard is the unit of work: its file of results appears when it is complete, and what is there is not computed
again. Processes that work on one folder at a time, also of several machines, share the shards by locks. On Ray
a shard is a task, and no document passes through Ray: what a lost worker was at is done again by another one.
(Ray Data was not taken: its pool waits for a lost actor to come back, https://github.com/ray-project/ray/issues/41029,
and it writes files by blocks of its own.)
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from pathlib import Path

from unnoted.data.formats import detect_format
from unnoted.data.loading import Shard, stream_documents
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.inference.extractor import BATCH, Extractor
from unnoted.inference.facts import Results
from unnoted.inference.parallel import map_on_ray
from unnoted.inference.predict_files import ExtractionReport, fingerprint, open_results
from unnoted.inference.scoring import DecisionOptions
from unnoted.inference.writers import RESULT_FORMATS
from unnoted.io import hold_lock, refuse_stream
from unnoted.models.samplers import BatchLimits
from unnoted.utils import choose_threads, lookup

CORPUS_FORMATS = {name: each for name, each in RESULT_FORMATS.items() if each.for_folders}
"""The formats in which the results of a corpus can be written."""


@dataclass(frozen=True)
class CorpusJob:
    """How the shards of a corpus are predicted: all that a worker elsewhere must know.

    Attributes:
        model: the model's folder, which every worker can read, or its name on the hub.
        to: the folder of the results.
        format: one of `CORPUS_FORMATS`.
        options: which facts are predicted.
        batch: how large a batch may be.
        device: where to compute; by default on a GPU where there is one.
        backend: what runs the encoder.
        any_types: predict relations also between types that they were never labelled with.
        threads: of a worker on a CPU.

    Raises:
        ValueError: the format is no format of corpora, or needs what is not installed.
    """

    model: str
    to: Path
    format: str = "jsonl"
    options: DecisionOptions = field(default_factory=DecisionOptions)
    batch: BatchLimits = BATCH
    device: str | None = None
    backend: str | None = None
    any_types: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        lookup("format of results in a folder", self.format, CORPUS_FORMATS).check(
            self.to / f"any.{self.format}"
        )

    def load_extractor(self) -> Extractor:
        """The extractor that the job describes."""
        return Extractor(
            self.model, batch=self.batch, device=self.device, any_types=self.any_types, backend=self.backend
        )

    def output(self, shard: Shard) -> Path:
        """Where the results of a shard are written.

        Example:
            >>> print(CorpusJob("m", Path("out")).output(Shard(Path("in/a/part-1.json.gz"), Path("a/part-1.json.gz"))))
            out/a/part-1.jsonl
        """
        name = shard.name.with_suffix("") if shard.name.suffix == ".gz" else shard.name
        return self.to / name.with_suffix(f".{self.format}")

    def is_finished(self, shard: Shard) -> bool:
        """Whether the results of a shard are there, and the shard is not newer."""
        with suppress(FileNotFoundError):
            files = shard.path.rglob("*") if shard.path.is_dir() else [shard.path]
            written = self.output(shard).stat().st_mtime_ns
            return all(file.stat().st_mtime_ns <= written for file in files)
        return False


@dataclass(slots=True)
class CorpusReport(ExtractionReport):
    """Counts of a call over the shards of a corpus; of documents, those of the shards that it completed.

    Attributes:
        shards: how many it completed.
        finished: shards that had been completed before.
        busy: shards that another process was at.
        failed: why shards could not be completed, a line each.
        defects: how many of each kind the documents have.
    """

    shards: int = 0
    finished: int = 0
    busy: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    defects: Counter[DefectKind] = field(default_factory=Counter)

    def add(self, other: "CorpusReport") -> None:
        """Count what another call has counted."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


def predict_corpus(
    job: CorpusJob,
    shards: Sequence[Shard],
    ray: str | None = None,
    load: Callable[[], Extractor] | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> CorpusReport:
    """Extract the facts of all shards that are not finished.

    A shard that cannot be read does not stop the others; the next call tries it again.

    Args:
        job: how.
        shards: of the corpus; documents of different shards may have the same id.
        ray: the address of a Ray cluster, as `ray.init` takes it: `auto`, `local`, `host:port` or `ray://host:port`.
        load: gives the extractor in this process; by default as the job describes it.
        on_progress: called with the number of shards that are done.

    Raises:
        ValueError: two shards have the same output, an output is among the inputs, or the folder has other
            results in it.
        OSError: results cannot be written.
    """
    check_outputs(job, shards)
    # One at least, so that other results in the folder are always noticed.
    todo = [shard for shard in shards if not job.is_finished(shard)] or shards[:1]
    report = CorpusReport(finished=len(shards) - len(todo))
    on_progress(report.finished)
    if ray is None:
        worker = CorpusWorker(job, (load or job.load_extractor)())
        done: Iterable[CorpusReport] = map(worker.predict, todo)
    else:
        done = _predict_on_ray(job, todo, ray)
    for number, each in enumerate(done, start=report.finished + 1):
        report.add(each)
        on_progress(number)
    return report


def check_outputs(job: CorpusJob, shards: Iterable[Shard]) -> None:
    """Refuse shards that would be written over, and two with the same output."""
    owners: dict[Path, Shard] = {}
    folder = job.to.resolve()
    for shard in shards:
        refuse_stream(shard.path)
        if shard.path.resolve().is_relative_to(folder):
            raise ValueError(
                f"{shard.path}: is in {job.to}, where results are written; write to another folder"
            )
        other = owners.setdefault(job.output(shard), shard)
        if other is not shard:
            raise ValueError(
                f"{other.path} and {shard.path} would both be written to {job.output(shard)}; rename one"
            )


def _predict_on_ray(job: CorpusJob, shards: Sequence[Shard], address: str) -> Iterator[CorpusReport]:
    model = str(Path(job.model).absolute()) if Path(job.model).is_dir() else job.model
    work = partial(_predict_shard, replace(job, model=model, to=job.to.absolute(), threads=job.threads or 1))
    placed = [Shard(shard.path.absolute(), shard.name) for shard in shards]
    for shard, result in map_on_ray(work, placed, address, job.threads or 1, 0 if job.device == "cpu" else 1):
        yield CorpusReport(failed=[f"{shard.path}: {result}"]) if isinstance(result, Exception) else result


def _predict_shard(job: CorpusJob, shard: Shard) -> CorpusReport:
    return _load_worker(job).predict(shard)


@lru_cache(maxsize=1)
def _load_worker(job: CorpusJob) -> "CorpusWorker":
    """One for a process of Ray, which performs many tasks."""
    extractor = job.load_extractor()
    if extractor.device == "cpu":
        choose_threads(extractor.model.encoder.width, job.threads)
    return CorpusWorker(job, extractor)


class CorpusWorker:
    """Predicts shards; the folder of results is made, or checked, once.

    Raises:
        ValueError: the folder has other results in it than this machine would compute.
    """

    def __init__(self, job: CorpusJob, extractor: Extractor) -> None:
        self.job, self.extractor, self.decision = job, extractor, extractor.decision(job.options)
        settings = fingerprint(extractor, job.model, self.decision.threshold)
        open_results(job.to, {**settings, "format": job.format})

    def predict(self, shard: Shard) -> CorpusReport:
        """Write the results of a shard, and count them."""
        report, log, output = CorpusReport(shards=1), DefectLog(), self.job.output(shard)
        output.parent.mkdir(parents=True, exist_ok=True)
        lock, kept = (output.with_name(f".{output.name}.{ending}") for ending in ("lock", "partial"))
        try:
            with hold_lock(lock, BlockingIOError(), remove=True):
                if self.job.is_finished(shard):
                    return CorpusReport(finished=1)
                if detect_format(shard.path).key == "text":
                    expected = "documents with entities: give texts to a command of their own"
                    raise DataError("plain text", expected, kind=DefectKind.UNREADABLE, file=str(shard.path))
                shutil.rmtree(kept, ignore_errors=True)  # of a process that was killed
                kept.mkdir()
                documents = report.count_documents(
                    stream_documents(shard.path, log=log), self.extractor.model.candidates
                )
                threshold = self.decision.threshold
                extractions = self.extractor.extract(documents, threshold=threshold)
                records = report.count_facts((each.to_json() for each in extractions), threshold)
                results = Results(
                    records, lambda: stream_documents(shard.path), self.job.model, self.decision
                )
                try:
                    CORPUS_FORMATS[self.job.format].write(kept / output.name, results)
                    (kept / output.name).replace(output)
                finally:
                    shutil.rmtree(kept)
        except BlockingIOError:
            return CorpusReport(busy=[str(shard.name)])
        except DataError as error:
            return CorpusReport(failed=[str(error)])
        report.defects = log.counts
        return report
