"""`python -m tests.attacks`: try so many damaged and hostile files, and say what became of them."""

import argparse
import secrets
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.attacks.judging import Outcome
from tests.attacks.supervising import Worker, keep_case, say, shrunk
from tests.attacks.targets import SHARES, TARGETS


def attack(name: str, seed: int, numbers: range, keep: Path | None) -> list[Outcome]:
    """Try the cases of a target; every new fault is shown, shrunk and, if a folder is given, kept."""
    outcomes: list[Outcome] = []
    faults = set()
    with Worker(name) as worker:
        for number in numbers:
            files, outcome = worker.attempt(seed, number)
            outcomes.append(outcome)
            if outcome.failed and outcome.fault not in faults and files is not None:
                faults.add(outcome.fault)
                say(f"{name} {number}: {outcome.kind}: {outcome.detail} [{outcome.place}]")
                if keep is not None:
                    say(f"  kept as {keep_case(keep, name, shrunk(worker, files, outcome), outcome)}")
    return outcomes


def main() -> None:
    """Read the command line, try the cases, print a table; the exit code is 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", choices=[[], *TARGETS], help="what to attack; by default everything"
    )
    parser.add_argument("--cases", type=int, default=100_000, help="of all targets together")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="by default another each time"
    )
    parser.add_argument("--only", type=int, help="try the case of this number")
    parser.add_argument("--jobs", type=int, default=2, help="targets attacked at a time")
    parser.add_argument("--keep", type=Path, help="a folder for the smallest case of each fault")
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    total = sum(SHARES[name] for name in names)
    say(f"seed {given.seed}")

    def cases(name: str) -> range:
        count = max(1, round(given.cases * SHARES[name] / total))
        return range(count) if given.only is None else range(given.only, given.only + 1)

    with ThreadPoolExecutor(given.jobs) as pool:
        first = sorted(names, key=lambda name: name != "checkpoints")  # the slowest
        results = {name: pool.submit(attack, name, given.seed, cases(name), given.keep) for name in first}
    print(
        f"{'target':<18}{'cases':>9}{'accepted':>10}{'refused':>10}{'failed':>10}{'slowest':>11}{'memory':>11}"
    )
    failed = tried = 0
    for name in names:
        outcomes = results[name].result()
        kinds = Counter(outcome.kind for outcome in outcomes)
        wrong = sum(outcome.failed for outcome in outcomes)
        slowest, largest = (max(getattr(each, key) for each in outcomes) for key in ("seconds", "memory"))
        print(
            f"{name:<18}{len(outcomes):>9,}{kinds['accepted']:>10,}{kinds['refused']:>10,}{wrong:>10,}"
            f"{slowest:>9.1f} s{largest >> 20:>8,} MB"
        )
        failed, tried = failed + wrong, tried + len(outcomes)
    print(f"seed={given.seed} cases={tried:,} failed={failed:,}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
