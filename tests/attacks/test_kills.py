"""Programs that are killed, raced or shared, each in a process of its own: `make test-slow`."""

import subprocess
import sys

import pytest

PROGRAMS = {
    "kill_predict": ("--kills", "10"),
    "kill_train": ("--kills", "6"),
    "kill_review": ("--kills", "5", "--decisions", "300"),
    "two_writers": ("--rounds", "5"),
    "threads": ("--threads", "4", "--documents", "60"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_lost_or_mixed_up(name):
    command = [sys.executable, "-m", f"tests.attacks.{name}", *PROGRAMS[name]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
