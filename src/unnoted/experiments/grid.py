"""A grid: independent runs, each in a process of its own; what is finished is never repeated."""

import hashlib
import json
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeAlias

import torch

from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import (
    LABELLING_SETTINGS,
    HideReport,
    LabelDropout,
    UniformLabelDropout,
    hide_labels,
)
from unnoted.data.loading import stream_documents
from unnoted.experiments.results import TableResult, compute_significance, measure
from unnoted.inference.parallel import map_on_ray
from unnoted.io import write_json
from unnoted.progress import Progress, show_progress
from unnoted.training.config import TrainingConfig
from unnoted.training.cross_validation import expected_costs
from unnoted.training.results import Failure, Record
from unnoted.training.run import run
from unnoted.training.run_directory import LOG, BusyError, RunDirectory, digest, fingerprint, is_folder
from unnoted.training.trainer import CHECKPOINTS
from unnoted.utils import count_cores, duration, nearest, plural, without_working_directory

Log: TypeAlias = Callable[[str], None]
Outcome: TypeAlias = Record | Failure

FIRST_SEED = 62
"""Where a number of seeds begins: as the paper's do."""

MOST_SEEDS = 30
"""More would be a slip: one seed taken for a number of them."""

HIDING_SEED = 0
"""Of what is hidden: the same for all runs, so that they learn from the same labels."""

PAUSE = 0.2
"""Seconds between two looks at the processes."""

_SET_BY_OPTION = {"seed": "--seeds", "train": "--data or --train", "output": "--to"}


@dataclass(frozen=True, slots=True)
class Scale:
    """How large runs are: changed settings of all rows that have them, seeds, first training documents.

    What is not given stays as it is in their settings. An encoder takes the place of pretrained ones only.

    Example:
        >>> Scale({"encoder": "nowhere/at/all/minilm/"})
        Traceback (most recent call last):
        ValueError: encoder: 'nowhere/at/all/minilm/' is no folder; give one, or a name on the hub
    """

    changes: Mapping[str, object] = field(default_factory=dict)
    seeds: tuple[int, ...] | None = None
    documents: int | None = None

    def __post_init__(self) -> None:
        for key in self.changes.keys() & _SET_BY_OPTION.keys():
            raise ValueError(f"--set {key}: use {_SET_BY_OPTION[key]} instead")
        encoder = str(self.changes.get("encoder", "recurrent"))
        is_path = encoder.count("/") > 1 or encoder[:1] in (".", "/", "~")
        if is_path and not Path(encoder).is_dir():
            raise ValueError(f"encoder: {encoder!r} is no folder; give one, or a name on the hub")


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds as the command line has them: how many, or which.

    Example:
        >>> parse_seeds("3"), parse_seeds("62-64,66"), parse_seeds("66-66")
        ((62, 63, 64), (62, 63, 64, 66), (66,))
    """
    if text.strip().isdecimal():
        number = int(text)
        if not 1 <= number <= MOST_SEEDS:
            raise ValueError(
                f"seeds: {text} is not a number of seeds up to {MOST_SEEDS}; write {text}-{text} for one seed"
            )
        return tuple(range(FIRST_SEED, FIRST_SEED + number))
    seeds: list[int] = []
    for part in text.split(","):
        given = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        several = range(int(given[1]), int(given[2] or given[1]) + 1) if given else range(0)
        if not several:
            raise ValueError(
                f"seeds: {text!r} is neither a number of seeds, such as 3, nor a range, such as 62-66"
            )
        seeds += several
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds: {text!r} has one twice")
    return tuple(seeds)


def with_seeds(settings: TrainingConfig, seeds: Sequence[int]) -> tuple[TrainingConfig, ...]:
    """One run per seed."""
    return tuple(settings.model_copy(update={"seed": seed}) for seed in seeds)


# Training documents made from others


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """A file that was made: its documents, and their labels before and after some were hidden."""

    path: Path
    documents: int
    before: int
    after: int


def make_training_file(
    files: Sequence[Path], folder: Path, *, documents: int | None = None, level: str = "full"
) -> TrainingFile:
    """Write the documents of `files`, or the first ones of them, with the labels of a level (`level_rule`).

    The file is named after the content of what it is made from, and made once.
    """
    identity = json.dumps([[digest(file) for file in files], documents, level, HIDING_SEED])
    path = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsonl"
    counts = path.with_suffix(".json")
    if not (path.is_file() and counts.is_file()):
        folder.mkdir(parents=True, exist_ok=True)

        def chosen() -> Iterator[Document]:
            return islice(stream_documents(*files), documents)

        report = HideReport()
        write_documents(path, hide_labels(chosen(), level_rule(level)(chosen()), HIDING_SEED, report))
        before, after = report.before.total(), report.after.total()
        write_json(counts, {"documents": report.documents, "before": before, "after": after})
    return TrainingFile(path, **json.loads(counts.read_text("utf-8")))


def level_rule(name: str) -> Callable[[Iterable[Document]], LabelDropout]:
    """What fits a rule of hiding labels to documents: one of `LABELLING_SETTINGS`, or the fraction of labels to keep.

    Example:
        >>> level_rule("0.2")([])
        UniformLabelDropout(share=0.2)
    """
    if name in LABELLING_SETTINGS:
        return LABELLING_SETTINGS[name]
    try:
        share = float(name)
    except ValueError:
        known = ", ".join(LABELLING_SETTINGS)
        raise ValueError(
            f"unknown level {name!r}: give one of {known}, or a fraction such as 0.2{nearest(name, LABELLING_SETTINGS)}"
        ) from None
    rule = UniformLabelDropout(share)
    return lambda documents: rule


# Plans and their results


def plan_lines(plan: TableResult, folder: Path) -> Iterator[str]:
    """What would be run, for people; what is finished in the grid's folder is marked."""
    placed = _place_runs(plan.runs, folder)
    done = {
        run_id: RunDirectory(each.output).read_finished(each) is not None for run_id, each in placed.items()
    }
    yield f"{plan.name}: {plural(len(done), 'run')}, {sum(done.values())} of them finished, in {folder}"
    for row in plan.rows:
        for failure in row.failures:
            yield f"  {row.name}: cannot be run: {failure.reason}"
        if not row.runs and not row.failures:
            yield f"  {row.name}: not run"
        for each in row.runs:
            run_id = fingerprint(each).run_id
            yield f"  {row.name}: {run_title(each)}: {run_id}, {'finished' if done[run_id] else 'to do'}"
    yield from (f"note: {note}" for note in plan.notes)


def plan_commands(plan: TableResult, folder: Path) -> Iterator[str]:
    """A command for each run that is not finished, as for the jobs of an array, in any order.

    The configuration of each is written into the grid's folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for run_id, settings in _place_runs(plan.runs, folder).items():
        if RunDirectory(settings.output).read_finished(settings) is None:
            config = folder.absolute() / f"{run_id}.yaml"
            settings.save(config)
            yield shlex.join(["unnoted", "train", str(config), "--resume"])


def execute(
    plan: TableResult, folder: Path, jobs: int = 1, log: Log = lambda line: None, ray: str | None = None
) -> TableResult:
    """Perform the runs that are not finished in the grid's folder, and fill in the table; see `run_grid`."""
    outcomes, rows = run_grid(plan.runs, folder, jobs, log, ray), []
    for row in plan.rows:
        ended = [outcomes[fingerprint(each).run_id] for each in row.runs]
        records = tuple(outcome for outcome in ended if isinstance(outcome, Record))
        failures = (*row.failures, *(outcome for outcome in ended if isinstance(outcome, Failure)))
        measured = measure(records, plan.columns)
        rows.append(replace(row, measured=measured, records=records, failures=failures))
    significance = compute_significance(plan.compared, rows)
    return replace(plan, rows=tuple(rows), significance=tuple(significance))


def run_title(settings: TrainingConfig) -> str:
    """A run for people.

    Example:
        >>> run_title(TrainingConfig.from_keys(dict(train="x.json", encoder="recurrent", loss="atlop", output="y")))
        'architecture atlop, loss atlop, seed 62'
    """
    return f"architecture {settings.model.architecture}, loss {settings.loss.name}, seed {settings.seed}"


# Runs


def run_grid(
    runs: Iterable[TrainingConfig],
    folder: Path,
    jobs: int = 1,
    log: Log = lambda line: None,
    ray: str | None = None,
) -> dict[str, Outcome]:
    """Perform runs, equal ones once, each into `folder`/its id; see `run_side_by_side`.

    On a Ray cluster, whose address `ray` is, a run is a task with a CPU, and a GPU where there are any; all
    machines must see the same files. A run whose machine is lost continues elsewhere.

    Returns:
        the record or the failure of each run by its id, in the order of the runs.
    """
    placed = _place_runs(runs, folder)
    folder.mkdir(parents=True, exist_ok=True)
    if ray is None:
        return run_side_by_side(placed, jobs, log, named_by_content=True)
    outcomes: dict[str, Outcome] = {}
    for (run_id, settings), outcome in map_on_ray(_perform_elsewhere, placed.items(), ray):
        outcomes[run_id] = Failure(run_id, str(outcome)) if isinstance(outcome, Exception) else outcome
        log(f"{_ended(settings, run_id, outcomes[run_id])}; {len(placed) - len(outcomes)} left")
    return {run_id: outcomes[run_id] for run_id in placed}


def _perform_elsewhere(named: tuple[str, TrainingConfig]) -> Outcome:
    run_id, settings = named
    return run_side_by_side({run_id: settings}, named_by_content=True)[run_id]


def _place_runs(runs: Iterable[TrainingConfig], folder: Path) -> dict[str, TrainingConfig]:
    """Runs by their ids, each with a folder of its own."""
    by_id = {fingerprint(settings).run_id: settings for settings in runs}
    return {run_id: _place(settings, folder / run_id) for run_id, settings in by_id.items()}


def run_side_by_side(
    runs: Mapping[str, TrainingConfig],
    jobs: int = 1,
    log: Log = lambda line: None,
    *,
    named_by_content: bool = False,
) -> dict[str, Outcome]:
    """Perform named runs, so many at a time, each in a process with its share of the cores (and one GPU).

    A finished run is read. An interrupted one continues at its last checkpoint. One that fails is logged, and
    tried again by the next call; the others continue. Several calls that work on one folder share the runs.

    Args:
        runs: settings by name; each has an output folder of its own.
        jobs: how many at a time.
        log: called with lines on what happens.
        named_by_content: names are run ids, which change with the data: such a run fails.
    """
    if jobs < 1:
        raise ValueError(f"jobs: {jobs} must be at least 1")
    found = {name: RunDirectory(each.output).read_finished(each, log) for name, each in runs.items()}
    outcomes: dict[str, Outcome] = {name: record for name, record in found.items() if record}
    waiting = [name for name in runs if name not in outcomes]
    log(f"{plural(len(runs), 'run')}: {len(outcomes)} finished before, {len(waiting)} to do")
    running: dict[str, tuple[SpawnProcess, int]] = {}
    elsewhere: set[str] = set()
    costs, have_pace = {name: _cost(runs[name]) for name in waiting}, False

    def collect() -> None:
        """The outcomes of processes that have ended."""
        for name, (process, _) in list(running.items()):
            if process.exitcode is None:
                continue
            del running[name]
            if process.exitcode == BUSY:  # another process came first
                waiting.append(name)
                continue
            outcomes[name] = _outcome(runs[name], process.exitcode)
            log(f"{_ended(runs[name], name, outcomes[name])}; {len(waiting) + len(running)} left")

    def start() -> None:
        """Start what can be started; take over what another process has finished meanwhile."""
        for name in list(waiting):
            folder = RunDirectory(runs[name].output)
            if (record := folder.read_finished(runs[name])) is not None:
                outcomes[name] = record
                waiting.remove(name)
            elif folder.is_busy:
                if name not in elsewhere:
                    log(f"waiting for {run_title(runs[name])} [{name}]: another process performs it")
                    elsewhere.add(name)
            elif len(running) < jobs:
                slot = min(set(range(jobs)) - {slot for _, slot in running.values()})
                log(f"begun: {run_title(runs[name])} [{name}]")
                waiting.remove(name)
                running[name] = _start(runs[name], name if named_by_content else None, slot, jobs), slot

    def report(progress: Progress) -> None:
        nonlocal have_pace
        shares = {name: RunDirectory(runs[name].output).read_progress() for name in running}
        done = sum(cost * (name in outcomes or shares.get(name, 0)) for name, cost in costs.items())
        # Before the first ones have all begun, the pace is another.
        have_pace = have_pace or all(shares.values())
        (progress.report if have_pace else progress.skip)(done)

    try:
        with show_progress(sum(costs.values()), "all runs") as progress:
            while waiting or running:
                collect()
                start()
                report(progress)
                if waiting or running:
                    time.sleep(PAUSE)
    except KeyboardInterrupt:
        left = len(waiting) + len(running)
        log(f"stopped; nothing is lost: the same command continues ({plural(left, 'run')} to do)")
        raise
    finally:
        for process, _ in running.values():
            process.kill()  # what it wrote is whole
            process.join()
    return {name: outcomes[name] for name in runs}


def _cost(settings: TrainingConfig) -> float:
    """How long a run takes beside others."""
    return sum(expected_costs(settings)) * sum(file.stat().st_size for file in settings.train)


def _ended(settings: TrainingConfig, name: str, outcome: Outcome) -> str:
    if isinstance(outcome, Failure):
        return f"failed: {run_title(settings)} [{name}]: {outcome.reason} (in {settings.output})"
    figures = "".join(f", {test} F1 {100 * each.overall.f1:.2f}" for test, each in outcome.scored.items())
    return f"finished: {run_title(settings)} [{name}] after {duration(outcome.seconds)}{figures}"


def _outcome(settings: TrainingConfig, code: int) -> Outcome:
    """What became of a process that ended."""
    if (record := RunDirectory(settings.output).read_finished(settings)) is not None:
        return record
    if code < 0:
        killed = " (perhaps memory ran out)" if code == -signal.SIGKILL else ""
        return Failure(settings.output.name, f"its process was ended by signal {-code}{killed}")
    log = settings.output / LOG
    lines = log.read_text("utf-8", "replace").strip().splitlines() if log.is_file() else []
    return Failure(settings.output.name, lines[-1] if lines else f"its process ended with code {code}")


BUSY = 75
"""The exit code of a process that found another one at its run."""


def _start(settings: TrainingConfig, run_id: str | None, slot: int, jobs: int) -> SpawnProcess:
    # Spawned, because a fork would share the locks of torch's threads; and so that what a user's script
    # registers is registered there too.
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(torch.cuda.device_count()))))
    devices = [device for device in gpus.split(",") if device.strip()]
    device = devices[slot % len(devices)] if devices else None
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_perform, args=(settings, run_id, max(1, _cores() // jobs), device))
    with without_working_directory():
        process.start()
    return process


def _cores() -> int:
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(count_cores(), int(limit)) if limit.isdecimal() and int(limit) else count_cores()


def _perform(settings: TrainingConfig, run_id: str | None, threads: int, device: str | None) -> None:
    """Perform a run in a process that does nothing else: what it prints goes to the run's log."""

    def end_with_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)  # at once, as a kill would: all that a run writes is whole at any moment

    # Ctrl-C in a terminal reaches all processes there; this one is ended by its parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    if device is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = device
    settings.output.mkdir(exist_ok=True)
    with (settings.output / LOG).open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)

    def log_line(line: str) -> None:
        print(time.strftime("%Y-%m-%d %H:%M:%S"), line, file=sys.stderr, flush=True)

    log_line(f"process {os.getpid()} begins")
    try:
        if run_id is not None and fingerprint(settings).run_id != run_id:
            raise ValueError(f"{settings.output}: data or an encoder changed since the grid began")
        run(settings, resume=True, threads=threads, log=log_line)
    except BusyError:
        os._exit(BUSY)
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    for unneeded in list(settings.output.rglob(CHECKPOINTS)):
        shutil.rmtree(unneeded, ignore_errors=True)


def _place(settings: TrainingConfig, output: Path) -> TrainingConfig:
    """The same configuration with absolute paths, so that it means the same in every folder."""
    values = _make_absolute(settings.model_dump())
    model = values["model"]
    for part, key in ((model, "encoder"), (model["encoder_options"], "tokenizer")):
        if (name := part.get(key)) is not None and is_folder(name):  # else a kind, or a name on the hub
            part[key] = str(Path(name).absolute())
    return TrainingConfig.model_validate(values | {"output": output.absolute()})


def _make_absolute(value: Any) -> Any:  # noqa: ANN401 - whatever a configuration holds
    """A value whose paths, which are known by their type, are absolute."""
    if isinstance(value, Path):
        return value.absolute()
    if isinstance(value, tuple | list):
        return [_make_absolute(each) for each in value]
    if isinstance(value, dict):
        return {key: _make_absolute(each) for key, each in value.items()}
    return value
