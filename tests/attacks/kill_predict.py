"""`unnoted predict` killed at random moments and started again, and two of them on one output."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from tests.unit.inference.making import reading_model
from unnoted.inference.extractor import CHUNK

UNNOTED = (sys.executable, "-c", "from unnoted.cli.main import main; main()")
DOCUMENTS = 1200
"""Several of the chunks in which they are computed, so that a killed process has whole ones to keep."""
MOST_KILLS = 3
"""How often one output is interrupted before it is left to end."""


def material(folder, documents):
    """A tiny model, generated documents and the facts of an uninterrupted run, in a folder."""
    file, whole = folder / "documents.jsonl", folder / "whole.jsonl"
    generate = (*UNNOTED, "data", "generate", "--documents", str(documents), "--to", str(file))
    subprocess.run(generate, check=True, capture_output=True)
    model = reading_model(torch.float32)
    with torch.no_grad():
        model.head.bias[0] += 2.0  # some facts, not thousands a document
    model.save_pretrained(folder / "model")
    assert predict(folder, whole).wait() == 0
    return whole.read_bytes()


def predict(folder, to):
    """Start a process of its own."""
    # Now and then one is finished before it is killed, and the next one begins anew.
    files = (str(folder / "model"), str(folder / "documents.jsonl"))
    command = (*UNNOTED, "predict", *files, "--to", str(to), "--overwrite")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_at(process, partial, parts, seconds):
    """Kill a process some time after it has so many parts of its results; whether it was still running."""
    while process.poll() is None:
        if partial.exists() and sum(1 for _ in partial.glob("*.jsonl")) >= parts:
            time.sleep(seconds)
            break
        time.sleep(0.0005)
    process.kill()
    process.communicate()
    return process.returncode < 0


def kill_predict(kills, seed=1, documents=DOCUMENTS):
    """Kill so many times, at moments that a seed chooses; every output is what an uninterrupted run writes."""
    dice = random.Random(seed)
    done = resumed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, to = material(folder, documents), folder / "out.jsonl"
        while done < kills:
            for _ in range(min(dice.randint(1, MOST_KILLS), kills - done)):
                parts, seconds = dice.choice(
                    ((0, dice.random() * 2), (dice.randrange(documents // CHUNK), 0.0))
                )
                done += kill_at(predict(folder, to), folder / "out.jsonl.partial", parts, seconds)
            last = predict(folder, to)
            told = last.communicate()[1]
            assert last.returncode == 0, told
            resumed += "had been completed before" in told
            assert to.read_bytes() == whole
            to.unlink()
            left = {path.name for path in folder.iterdir()}
            assert {name for name in left if not name.startswith(".unnoted-")} == {
                "documents.jsonl",
                "model",
                "whole.jsonl",
            }
    assert resumed


def two_writers(rounds, documents=600):
    """Let two processes race, so many times: one works, the other says why it does not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, to = material(folder, documents), folder / "out.jsonl"
        for _ in range(rounds):
            both = [predict(folder, to) for _ in range(2)]
            told = [process.communicate()[1] for process in both]
            assert sorted(process.returncode for process in both) == [0, 1]
            assert sum("another process is writing it" in text for text in told) == 1
            assert to.read_bytes() == whole
            to.unlink()
