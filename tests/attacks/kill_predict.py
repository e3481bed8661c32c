"""Kill `unnoted predict` at random moments, start it again, and compare what it writes, byte by byte.

python -m tests.attacks.kill_predict --kills 30 --seed 1
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from tests.unit.inference.making import reading_model

UNNOTED = (sys.executable, "-c", "from unnoted.cli.main import main; main()")
DOCUMENTS = 1200
"""Several of the chunks in which they are computed, so that a killed process has whole ones to keep."""
MOST_KILLS = 3
"""How often one output is interrupted before it is left to end."""


@dataclass(frozen=True, slots=True)
class Kills:
    """How many processes were killed, how many outputs were made in spite of it, and how many are equal."""

    kills: int
    outputs: int
    equal: int
    left_behind: int
    resumed: int

    def __str__(self) -> str:
        return (
            f"kills={self.kills} outputs={self.outputs} resumed={self.resumed} equal={self.equal} "
            f"left_behind={self.left_behind}"
        )


def material(folder, documents=DOCUMENTS):
    """A tiny model and generated documents in a folder."""
    file = folder / "documents.jsonl"
    generate = (*UNNOTED, "data", "generate", "--documents", str(documents), "--to", str(file))
    subprocess.run(generate, check=True, capture_output=True)
    model = reading_model(torch.float32)
    with torch.no_grad():
        model.head.bias[0] += 2.0  # some facts, not thousands a document
    model.save_pretrained(folder / "model")
    return folder / "model", file


def predict(model, file, to):
    """Start a process of its own."""
    # Now and then one is finished before it is killed, and the next one begins anew.
    command = (*UNNOTED, "predict", str(model), str(file), "--to", str(to), "--overwrite")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_at(process, partial, results, seconds):
    """Kill a process some time after it has so many results; whether it was still running."""
    while process.poll() is None:
        if partial.exists() and partial.stat().st_size and partial.read_bytes().count(b"\n") > results:
            time.sleep(seconds)
            break
        time.sleep(0.0005)
    process.kill()
    process.communicate()
    return process.returncode < 0


def kill_predict(kills, seed, documents=DOCUMENTS):
    """Kill so many times, at moments that a seed chooses: of the work, of its writing, and between."""
    dice = random.Random(seed)
    done = outputs = equal = left = resumed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, file = material(folder, documents)
        whole, to = folder / "whole.jsonl", folder / "out.jsonl"
        assert predict(model, file, whole).wait() == 0
        while done < kills:
            for _ in range(min(dice.randint(1, MOST_KILLS), kills - done)):
                results, seconds = dice.choice(((0, dice.random() * 2), (dice.randrange(documents), 0.0)))
                done += kill_at(predict(model, file, to), folder / "out.jsonl.partial", results, seconds)
            last = predict(model, file, to)
            told = last.communicate()[1]
            assert last.returncode == 0, told
            resumed += "had been completed before" in told
            outputs += 1
            equal += to.read_bytes() == whole.read_bytes()
            to.unlink()
            left += len(
                {path.name for path in folder.iterdir()} - {"documents.jsonl", "model", "whole.jsonl"}
            )
    return Kills(done, outputs, equal, left, resumed)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    outcome = kill_predict(given.kills, given.seed)
    print(outcome)
    sys.exit(outcome.equal < outcome.outputs or outcome.left_behind > 0 or not outcome.resumed)
