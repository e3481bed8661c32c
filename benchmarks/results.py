"""Runs and tables on real data, as `results.yaml` lists them: `python -m benchmarks.results [NAME ...]`.

A name is that of a run or a table, a pattern such as `model-*`, or `runs` or `tables` for all of them. Stop
it when you like: the same command continues, and finished runs are not repeated.
"""

import argparse
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import yaml

from unnoted.cli.grids import put_out, tell
from unnoted.data import load_documents
from unnoted.data.convert import split_documents
from unnoted.data.formats import write_documents
from unnoted.data.hide_labels import fit_setting, hide_labels
from unnoted.experiments.data_sets import DataFolder
from unnoted.experiments.grid import Outcome, run_grid
from unnoted.experiments.paper import table_named
from unnoted.experiments.paper_tables import reproduce
from unnoted.experiments.plan import with_seeds
from unnoted.experiments.pools import LocalPool
from unnoted.experiments.results import Figure
from unnoted.experiments.scale import Scale
from unnoted.training import Record, Settings, load_settings
from unnoted.training.fingerprint import fingerprint

SEED = 66
"""Of runs and tables that do not say theirs."""

COLUMNS = (
    "run", "loss", "seeds", "labels", "prior", "epochs", "F1", "Ign F1", "P", "R", "best F1", "AP", "minutes",
)  # fmt: skip


def read_grid(shared: Path, runs: Path) -> dict:
    """The grid file, with its folders in place."""
    text = (Path(__file__).parent / "results.yaml").read_text("utf-8")
    return yaml.safe_load(text.replace("SHARED", str(shared)).replace("RUNS", str(runs)))


def settings_of(grid: dict, names: list[str], folder: Path) -> dict[str, tuple[Settings, ...]]:
    """The settings of runs by name, one for each seed; a run may start from another config than most."""
    found = {}
    for name in names:
        entry = {"config": grid["config"], "seeds": [SEED], **grid["runs"][name], "output": folder}
        config, seeds = entry.pop("config"), entry.pop("seeds")
        if entry.get("teacher") in grid["runs"]:
            (teacher,) = settings_of(grid, [entry["teacher"]], folder)[entry["teacher"]]
            entry["teacher"] = folder / fingerprint(teacher).address
        found[name] = with_seeds(load_settings(config, entry), seeds)
    return found


def make_documents(grid: dict, folder: Path) -> None:
    """Write the documents that are made from others, once."""
    for name, entry in grid["made"].items():
        path = folder / f"{name}.jsonl"
        if path.is_file():
            continue
        documents = load_documents(*entry["of"]).documents
        if "level" in entry:
            documents = list(hide_labels(documents, fit_setting(entry["level"], all), 0))
        if "shares" in entry:
            documents = split_documents(documents, entry["shares"], 0)[entry["part"]]
        write_documents(path, documents)


def run_all(grid: dict, names: list[str], folder: Path, jobs: int) -> None:
    """Perform runs, and print what they came to."""
    folder.mkdir(parents=True, exist_ok=True)
    make_documents(grid, folder)
    taught = {
        name: teacher for name in names if (teacher := grid["runs"][name].get("teacher")) in grid["runs"]
    }
    settings: dict[str, tuple[Settings, ...]] = {}
    outcomes: dict[str, Outcome] = {}
    # A teacher's weights are a part of what its student is, so teachers come first.
    for some in ([name for name in (*names, *taught.values()) if name not in taught], list(taught)):
        settings |= settings_of(grid, some, folder)
        runs = [run for name in some for run in settings[name]]
        outcomes |= run_grid(runs, folder, LocalPool(jobs), tell) if runs else {}
    records = {}
    for name, runs in settings.items():
        ended = [outcomes[fingerprint(run).address] for run in runs]
        if done := [outcome for outcome in ended if isinstance(outcome, Record)]:
            records[name] = done
    print(markdown(COLUMNS, [row(name, done) for name, done in records.items()]), end="\n\n")
    watched = [(name, *curve(done[0])) for name, done in records.items() if curve(done[0])]
    epochs = max((len(each) - 1 for each in watched), default=0)
    filled = [(*each, *[""] * (epochs - len(each) + 1)) for each in watched]
    print(markdown(("F1 / P / R after epoch", *map(str, range(1, epochs + 1))), filled))


def row(name: str, records: list[Record]) -> tuple[str, ...]:
    """A run's line in the table: mean ± deviation over its seeds."""
    settings, tested = records[0].settings, [record.scored["test"] for record in records]
    figures = (
        [scored.overall.f1 for scored in tested],
        [scored.ignoring_train.f1 for scored in tested],
        [scored.overall.precision for scored in tested],
        [scored.overall.recall for scored in tested],
        [scored.best_f1 for scored in tested],
        [scored.average_precision for scored in tested],
    )
    return (
        name,
        settings["loss"],
        ", ".join(str(record.settings["seed"]) for record in records),
        f"{sum(records[0].train_facts.values()):,}",
        f"×{settings['prior_multiplier']:g}" if "prior_multiplier" in settings else "",
        str(settings["epochs"]),
        *(str(Figure.over([100 * value for value in values])) for values in figures),
        ", ".join(f"{record.seconds / 60:.0f}" for record in records),
    )


def curve(record: Record) -> list[str]:
    """F1, precision and recall after every epoch, if the run was watched."""
    return [
        " / ".join(f"{100 * entry[f'eval_{name}']:.1f}" for name in ("f1", "precision", "recall"))
        for entry in record.training["development"]
    ]


def markdown(header: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    """A table as Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ("---",) * len(header), *body])


def run_table(grid: dict, name: str, shared: Path, folder: Path, jobs: int) -> None:
    """Run a table of the paper, write it in every format, and print it."""
    entry = grid["tables"][name]
    scale = Scale({**grid["scale"], "epochs": entry["epochs"]}, tuple(entry.get("seeds", [SEED])))
    table = table_named(entry.get("table", name))
    data = DataFolder(shared / "data")
    result = reproduce(table, scale, data, folder, LocalPool(jobs), rows=entry["rows"], tell=tell)
    # Tables that are run at two scales stand side by side.
    put_out(replace(result, name=name), folder, "markdown")


def main() -> None:
    """Perform what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("names", nargs="*", default=["runs", "tables"])
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    parser.add_argument("--to", type=Path, default=Path("runs"))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, one thread each")
    arguments = parser.parse_args()
    folder = arguments.to / "results"
    grid = read_grid(arguments.shared, folder)
    for wanted in arguments.names:
        runs, tables = (
            [name for name in grid[kind] if wanted == kind or fnmatch(name, wanted)]
            for kind in ("runs", "tables")
        )
        if not runs and not tables:
            parser.error(
                f"unknown name {wanted}, expected one of {', '.join([*grid['runs'], *grid['tables']])}"
            )
        if runs:
            run_all(grid, runs, folder, arguments.jobs)
        for name in tables:
            run_table(grid, name, arguments.shared, arguments.to / "reproduce", arguments.jobs)


if __name__ == "__main__":
    main()
