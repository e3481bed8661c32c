"""The tables of docs/results.md, from the folders that `benchmarks/results.sh` leaves.

python -m benchmarks.results_table runs/results
"""

import json
import sys
from pathlib import Path

COLUMNS = ("run", "loss", "labels", "prior", "epochs", "F1", "Ign F1", "P", "R", "minutes")


def rows(folder: Path) -> list[tuple[str, ...]]:
    """One row for each finished run."""
    found = []
    for path in sorted(folder.glob("*/evaluation.json")):
        scores, training = _read(path), _read(path.with_name("training.json"))
        settings = _read(path.with_name("run.json"))["settings"]
        overall, ignoring = scores["overall"], scores["ignoring_train"]
        found.append(
            (
                path.parent.name,
                settings["loss"],
                f"{training['features']['facts']:,}",
                f"×{settings['prior_multiplier']:g}" if "prior_multiplier" in settings else "",
                str(settings["epochs"]),
                *(f"{100 * value:.2f}" for value in (overall["f1"], ignoring["f1"])),
                *(f"{100 * overall[name]:.2f}" for name in ("precision", "recall")),
                f"{training['seconds_of_last_session'] / 60:.0f}",
            )
        )
    return found


def curves(folder: Path) -> list[tuple[str, ...]]:
    """F1, precision and recall after every epoch, for the runs that were watched."""
    found = []
    for path in sorted(folder.glob("*/training.json")):
        scores = _read(path).get("development", [])
        if scores:
            cells = (
                " / ".join(f"{100 * entry[f'eval_{name}']:.1f}" for name in ("f1", "precision", "recall"))
                for entry in scores
            )
            found.append((path.parent.name, *cells))
    return found


def markdown(header: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    """A table as Markdown."""
    lines = [header, tuple("---" for _ in header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _read(path: Path) -> dict:
    return json.loads(path.read_text("utf-8"))


def main() -> None:
    """Print both tables."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/results")
    print(markdown(COLUMNS, rows(folder)), end="\n\n")
    watched = curves(folder)
    epochs = max((len(row) - 1 for row in watched), default=0)
    filled = [(*row, *[""] * (epochs - len(row) + 1)) for row in watched]
    print(markdown(("F1 / P / R after epoch", *map(str, range(1, epochs + 1))), filled))


if __name__ == "__main__":
    main()
