"""`unnoted train` killed at random moments and resumed until it is done: the weights must be those of a run
that nothing interrupted.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

from tests.unit.training.factories import config_file

SETTINGS = {
    "documents": 24, "epochs": 8, "gradient_accumulation": 2, "checkpoint_steps": 2, "unlabelled_rate": 0.5,
}  # fmt: skip
"""Dozens of checkpoints, also amid an epoch and amid accumulated batches; dropout and samples draw at random."""

PATIENCE = 300
"""Seconds after which a training that does not end is an error."""


def start(settings, *options):
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "unnoted", "train", str(settings), *options],
        env={
            **os.environ, "OMP_NUM_THREADS": "1", "UNNOTED_CACHE": str(settings.parent / "cache"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def ended(process):
    """Wait for a training that is to come to its end."""
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, printed
    return printed


def uninterrupted(folder):
    """The weights, and after how many seconds the first checkpoint and the last file were there."""
    folder.mkdir()
    since = time.monotonic()
    process = start(config_file(folder, **SETTINGS))
    while process.poll() is None and not list((folder / "run").glob("checkpoints/checkpoint-*")):
        time.sleep(0.02)
    first = time.monotonic() - since
    ended(process)
    return load_file(folder / "run" / "model.safetensors"), first, time.monotonic() - since


def killed_training(folder, moments, kills):
    """A training killed at some of the moments, in seconds after its start, then resumed to its end.

    Returns:
        The weights, and how often it was killed before it was done: at most `kills` times.
    """
    folder.mkdir()
    settings, done = config_file(folder, **SETTINGS), 0
    while done < kills:
        options = ["--resume"] if (folder / "run" / "run.json").exists() else []
        process = start(settings, *options)
        try:
            process.wait(next(moments))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            done += 1
    options = ["--resume"] if (folder / "run" / "run.json").exists() else []
    ended(start(settings, *options))
    return load_file(folder / "run" / "model.safetensors"), done


def kill_train(kills, seed=1):
    """Kill trainings so many times; each ends with the weights of an uninterrupted one."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        expected, first, last = uninterrupted(Path(name) / "whole")
        moments = iter(lambda: draw.uniform(0.7 * first, 1.05 * last), None)
        begun = done = 0
        while done < kills:  # one that was done before its moment says nothing
            begun += 1
            most = min(kills - done, draw.randint(2, 5))
            weights, count = killed_training(Path(name) / str(begun), moments, most)
            done += count
            assert weights.keys() == expected.keys()
            assert all(torch.equal(weights[key], expected[key]) for key in expected)
