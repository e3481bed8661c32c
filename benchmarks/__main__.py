"""`make bench`: run every benchmark, print a table, and JSON with `--json FILE`."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from benchmarks import documents, learning, models, review

SHARED = Path(__file__).parents[2] / "shared"

BENCHMARKS: dict[str, Callable[[Path | None], dict[str, float]]] = {
    "documents": documents.run,
    "learning": learning.run,
    "models": models.run,
    "review": review.run,
}


def main() -> None:
    """Run the benchmarks that were asked for, or all."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="which; by default all")
    parser.add_argument("--json", type=Path, help="also write the results here")
    arguments = parser.parse_args()
    shared = SHARED if SHARED.is_dir() else None
    results = {}
    for name in arguments.names or BENCHMARKS:
        print(f"\n{name}")
        results[name] = BENCHMARKS[name](shared)
        for what, value in results[name].items():
            print(f"  {what:<60} {value:>12,.2f}")
    if shared is None:
        print("\nreal data are not beside the project: only what needs none was measured")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
