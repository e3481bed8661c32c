"""Runs on real data, as `grid.yaml` lists them; finished runs are not repeated."""

import os
import random
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

from unnoted.data import load_documents
from unnoted.data.compare import compare_labels
from unnoted.data.convert import split_documents
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import fit_setting, hide_labels
from unnoted.experiments.grid import run_grid, with_seeds
from unnoted.io import write_json
from unnoted.training import Record, TrainingConfig, load_config
from unnoted.training.run_directory import RunDirectory, fingerprint

ROOT = Path(__file__).parents[1]


def read_grid(data: Path, runs: Path) -> dict[str, Any]:
    """The grid file, with its folders in place."""
    text = (ROOT / "benchmarks" / "grid.yaml").read_text("utf-8")
    for name, folder in (("DATA", data), ("RUNS", runs), ("EXAMPLES", ROOT / "examples")):
        text = text.replace(f"{name}/", f"{folder}/")
    grid: dict[str, Any] = yaml.safe_load(text)
    return grid


def select_runs(grid: dict[str, Any], patterns: list[str]) -> list[str]:
    """The names of runs that match one of the patterns; all without any."""
    names = [name for name in grid["runs"] if any(fnmatch(name, pattern) for pattern in patterns or ["*"])]
    if not names:
        raise ValueError(f"no run is called {', '.join(patterns)}; there are {', '.join(grid['runs'])}")
    return names


def settings_of(grid: dict[str, Any], name: str, folder: Path) -> tuple[TrainingConfig, ...]:
    """The settings of a run, one for each seed."""
    entry = {**grid["runs"][name], "output": folder}
    config, seeds = entry.pop("config"), entry.pop("seeds")
    entry.pop("title", None)
    return with_seeds(load_config(config, entry), seeds)


def train(grid: dict[str, Any], names: list[str], folder: Path, jobs: int | None = None) -> None:
    """Perform runs that are not finished, side by side, each with its share of the cores."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, entry in grid["made"].items():
        if "complete" in entry:
            _make_priors(folder / f"{name}.json", entry)
        else:
            _make_documents(folder / f"{name}.jsonl", entry)
    runs = [run for name in names for run in settings_of(grid, name, folder)]
    run_grid(runs, folder, jobs or os.cpu_count() or 1, print)


def _make_documents(path: Path, entry: dict[str, Any]) -> None:
    """Write documents that are made from others, once."""
    if path.is_file():
        return
    documents = load_documents(*entry["of"]).documents
    if "level" in entry:
        documents = list(hide_labels(documents, fit_setting(entry["level"], documents), 0))
    if "shares" in entry:
        documents = split_documents(documents, entry["shares"], 0)[entry["part"]]
    write_documents(path, documents)


def _make_priors(path: Path, entry: dict[str, Any]) -> None:
    """Write multipliers by relation, from a random sample of the documents that also have complete labels, once."""
    if path.is_file():
        return
    labelled, complete = load_documents(*entry["of"]), load_documents(*entry["complete"])
    drawn = random.Random(0).sample(complete.documents, entry["documents"])
    write_json(path, compare_labels(labelled, drawn).priors(labelled.relations.ids))


def titles(grid: dict[str, Any]) -> dict[str, str]:
    """What runs are called in tables, by name."""
    return {name: entry.get("title", name) for name, entry in grid["runs"].items()}


def finished(grid: dict[str, Any], names: list[str], folder: Path) -> dict[str, list[Record]]:
    """The records of finished runs by name, one for each seed that is finished."""
    records = {}
    for name in names:
        runs = settings_of(grid, name, folder)
        found = [RunDirectory(folder / fingerprint(run).run_id).read_finished(run) for run in runs]
        if done := [record for record in found if record is not None]:
            records[name] = done
    return records
