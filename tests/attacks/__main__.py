"""`python -m tests.attacks`: try so many damaged and hostile files, and say what became of them."""

import argparse
import secrets
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks.judging import Outcome
from tests.attacks.supervising import Worker, keep_case, say, shrunk
from tests.attacks.targets import SHARES, TARGETS


@dataclass
class Tally:
    """What became of the cases of one target."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: dict[tuple[str, str], int] = field(default_factory=dict)
    slowest: float = 0.0
    largest: int = 0

    def add(self, outcome: Outcome) -> bool:
        """Count an outcome; whether it is a fault not seen before."""
        self.outcomes[outcome.kind] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        self.largest = max(self.largest, outcome.memory)
        if not outcome.failed:
            return False
        self.faults[outcome.fault] = self.faults.get(outcome.fault, 0) + 1
        return self.faults[outcome.fault] == 1

    @property
    def failed(self) -> int:
        return sum(self.faults.values())

    def row(self, name: str) -> str:
        cases = self.outcomes.total()
        accepted, refused = self.outcomes["accepted"], self.outcomes["refused"]
        return (
            f"{name:<18}{cases:>9,}{accepted:>10,}{refused:>10,}{self.failed:>10,}{len(self.faults):>8,}"
            f"{self.slowest:>9.1f} s{self.largest >> 20:>8,} MB"
        )


def attack(name: str, seed: int, numbers: range, keep: Path | None) -> Tally:
    """Try the cases of a target; every new fault is shown, shrunk and, if a folder is given, kept."""
    tally = Tally()
    with Worker(name) as worker:
        for number in numbers:
            files, outcome = worker.attempt(seed, number)
            if tally.add(outcome) and files is not None:
                say(f"{name} {number}: {outcome.kind}: {outcome.detail} [{outcome.place}]")
                if keep is not None:
                    say(f"  kept as {keep_case(keep, name, shrunk(worker, files, outcome), outcome)}")
    return tally


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
    work = []
    for name in sorted(names, key=lambda name: name != "checkpoints"):  # the slowest first
        cases = max(1, round(given.cases * SHARES[name] / total))
        numbers = range(cases) if given.only is None else range(given.only, given.only + 1)
        work.append((name, numbers))
    with ThreadPoolExecutor(given.jobs) as pool:
        tallies = dict(
            zip(
                [name for name, _ in work],
                pool.map(lambda item: attack(item[0], given.seed, item[1], given.keep), work),
                strict=True,
            )
        )
    print(
        f"{'target':<18}{'cases':>9}{'accepted':>10}{'refused':>10}{'failed':>10}{'faults':>8}{'slowest':>11}{'memory':>11}"
    )
    for name in names:
        print(tallies[name].row(name))
    everything = sum(tally.outcomes.total() for tally in tallies.values())
    failed = sum(tally.failed for tally in tallies.values())
    print(f"seed={given.seed} cases={everything:,} failed={failed:,}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
