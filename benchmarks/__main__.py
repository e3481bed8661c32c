"""`python -m benchmarks [train|analyse|speed|report] [NAME...] --data DIR`.

train    runs of grid.yaml whose names match, such as `docred-*`; finished ones are not repeated
analyse  finished runs where all facts are known: held-out, calibration, suggestions, coverage
speed    documents, training, inference
report   writes the tables and plots of the documentation from the results of the others
"""

import argparse
import json
import os
from pathlib import Path

from benchmarks import analyse, report, speed, train
from unnoted.training.run_directory import fingerprint


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["train", "analyse", "speed", "report"])
    parser.add_argument("names", nargs="*")
    shared = os.environ.get("UNNOTED_SHARED", Path(__file__).parents[2] / "shared")
    parser.add_argument("--data", type=Path, default=Path(shared), help="a folder with data/ and encoders/")
    parser.add_argument("--to", type=Path, default=Path("runs/results"), help="where runs and results go")
    parser.add_argument("--run", default="docred-best", help="the run that is analysed")
    parser.add_argument("--multiplier", type=float, default=3.0, help="true facts for each label of that run")
    parser.add_argument("--jobs", type=int, help="runs at a time; by default one for each core")
    given = parser.parse_args()
    grid = train.read_grid(given.data, given.to)
    if given.what == "train":
        train.train(grid, train.select_runs(grid, given.names), given.to, given.jobs)
    elif given.what == "analyse":
        run = given.to / fingerprint(train.settings_of(grid, given.run, given.to)[-1]).run_id
        results = report.read_json(given.to / "analyses.json")
        for name in given.names or analyse.ANALYSES:
            results[name] = analyse.ANALYSES[name](run, given.data, given.multiplier)
            for row in results[name]:
                print(name, row, flush=True)
        (given.to / "analyses.json").write_text(json.dumps(results, indent=1, default=float), "utf-8")
    elif given.what == "speed":
        results = report.read_json(given.to / "speed.json") | speed.measure(given.names, given.data)
        given.to.mkdir(parents=True, exist_ok=True)
        (given.to / "speed.json").write_text(json.dumps(results, indent=1), "utf-8")
    else:
        records = train.finished(grid, train.select_runs(grid, given.names), given.to)
        analyses, speeds = (report.read_json(given.to / f"{name}.json") for name in ("analyses", "speed"))
        print(
            "written:",
            ", ".join(report.write_tables(report.all_tables(records, train.titles(grid), analyses, speeds))),
        )
        report.write_plots()


if __name__ == "__main__":
    main()
