"""Start two `unnoted predict` at once on one output: one works, the other says why it does not.

python -m tests.attacks.two_writers --rounds 10
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.kill_predict import material, predict


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often two processes were started, exactly one worked, the other said why, and the output is whole."""

    rounds: int
    one_worked: int
    other_said_why: int
    complete: int

    def __str__(self) -> str:
        return (
            f"rounds={self.rounds} one_worked={self.one_worked} other_said_why={self.other_said_why} "
            f"complete={self.complete}"
        )


def two_writers(rounds, documents=600):
    """Let two processes race, so many times."""
    worked = said = complete = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, file = material(folder, documents)
        whole, to = folder / "whole.jsonl", folder / "out.jsonl"
        assert predict(model, file, whole).wait() == 0
        for _ in range(rounds):
            both = [predict(model, file, to) for _ in range(2)]
            told = [process.communicate()[1] for process in both]
            worked += sorted(process.returncode for process in both) == [0, 1]
            said += sum("another process is writing it" in text for text in told) == 1
            complete += to.read_bytes() == whole.read_bytes()
            to.unlink()
    return Rounds(rounds, worked, said, complete)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=10)
    outcome = two_writers(options.parse_args().rounds)
    print(outcome)
    sys.exit(not outcome.rounds == outcome.one_worked == outcome.other_said_why == outcome.complete)
