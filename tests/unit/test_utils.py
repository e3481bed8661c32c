"""Threads: few for small models, never more than are free, and as asked for; processes: from nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import unnoted
from unnoted.utils import SMALL_WIDTH, choose_threads


@pytest.fixture
def machine(monkeypatch):
    """A machine with so many cores and such a load, without OMP_NUM_THREADS."""
    before = torch.get_num_threads()

    def make(cores, load):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load), raising=False)

    yield make
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("cores", "load", "width", "expected"),
    [
        (2, 0.1, SMALL_WIDTH - 1, 1), (8, 0.0, SMALL_WIDTH - 1, 1), (8, 0.2, SMALL_WIDTH, 8),
        (8, 2.9, SMALL_WIDTH, 5), (2, 1.2, SMALL_WIDTH, 1), (2, 30.0, SMALL_WIDTH, 1),
    ],
)  # fmt: skip
def test_threads_are_those_that_the_model_needs_and_the_machine_has_free(
    machine, cores, load, width, expected
):
    machine(cores, load)
    lines = []
    assert choose_threads(width, log=lines.append) == torch.get_num_threads() == expected
    assert len(lines) == 1 and "--threads" in lines[0]


def test_a_given_number_is_said_with_its_reason_and_no_option_that_changes_it(machine):
    machine(8, 0.0)
    lines = []
    choose_threads(64, threads=3, log=lines.append, reason="as in the results so far")
    (line,) = lines
    assert "3 threads" in line and "as in the results so far" in line and "--threads" not in line


def test_what_is_asked_for_wins(machine, monkeypatch):
    machine(8, 8.0)
    assert choose_threads(64, threads=3) == torch.get_num_threads() == 3
    torch.set_num_threads(2)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert choose_threads(4096) == torch.get_num_threads() == 2


POOL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from unnoted.utils import without_working_directory

if __name__ == "__main__":
    with without_working_directory(), ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(abs, -3).result())
"""


def test_processes_import_nothing_from_the_working_directory(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "script.py").write_text(POOL)
    working = tmp_path / "working"
    working.mkdir()
    for name in ("signal", "multiprocessing", "traceback", "yaml"):
        (working / f"{name}.py").write_text(f"open({str(tmp_path / 'was run')!r}, 'a').write('x')")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "own" / "script.py")], cwd=working, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(unnoted.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout == "3\n", done.stderr
    assert not (tmp_path / "was run").exists()
