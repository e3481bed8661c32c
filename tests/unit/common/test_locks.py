"""Locks between processes: one holder, looks that disturb nobody, and nothing left behind by a kill."""

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from threading import Thread, Timer

import pytest

from unnoted.io import hold_lock, is_held, output_lock
from unnoted.training.run_folder import LOCK, RunFolder

HOLD = """
import sys
from pathlib import Path
from unnoted.io import held
with held(Path(sys.argv[1]), RuntimeError("busy")):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path):
    return tmp_path / ".lock"


@pytest.fixture
def holder(lock):
    """Another process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_another_process_is_kept_out_until_the_holder_ends(lock, holder):
    assert is_held(lock)
    with pytest.raises(ValueError, match="busy"), hold_lock(lock, ValueError("busy")):
        pass
    holder.communicate("")
    assert not is_held(lock)
    with hold_lock(lock, ValueError("busy")):
        assert is_held(lock)
    assert not is_held(lock)


def test_a_killed_process_lets_go(lock, holder):
    holder.kill()
    holder.wait()
    assert not is_held(lock)
    with hold_lock(lock, ValueError("busy")):
        pass


def test_an_error_inside_lets_go(lock):
    with pytest.raises(KeyError), hold_lock(lock, ValueError("busy")):
        raise KeyError
    assert not is_held(lock)


def test_a_lock_file_that_was_never_there_is_not_made_by_a_look(lock):
    assert not is_held(lock)
    assert not lock.exists()


def looking(lock, seen):
    threads = [Thread(target=lambda: seen.extend(is_held(lock) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    return threads


def test_looks_are_not_taken_for_a_holder(lock):
    lock.touch()
    seen = []
    for thread in looking(lock, seen):
        thread.join()
    assert seen == [False] * 200


def test_looks_keep_nobody_out(lock):
    lock.touch()
    threads = looking(lock, [])
    for _ in range(20):
        with hold_lock(lock, ValueError("busy")):
            pass
    for thread in threads:
        thread.join()


def test_a_lock_that_may_not_be_opened_counts_as_free(lock, monkeypatch):
    def deny(*arguments):
        raise PermissionError

    lock.touch()
    monkeypatch.setattr(os, "open", deny)
    assert not is_held(lock)


def test_a_look_that_takes_long_keeps_nobody_out(lock):
    lock.touch()
    with lock.open() as stopped:
        fcntl.flock(stopped, fcntl.LOCK_SH)  # as a look does, in a process that is then stopped for a while
        timer = Timer(0.5, lambda: fcntl.flock(stopped, fcntl.LOCK_UN))
        timer.start()
        with hold_lock(lock, ValueError("busy")):
            assert is_held(lock)
        timer.join()


@pytest.mark.parametrize("there", [True, False])
def test_a_planted_link_is_not_followed(lock, tmp_path, there):
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious")
    lock.symlink_to(victim)
    assert not is_held(lock)
    with (
        pytest.raises(OSError, match="found a link in the place of a lock") as caught,
        hold_lock(lock, ValueError()),
    ):
        pass
    assert caught.value.filename == str(lock)
    assert not there or victim.read_text() == "precious"
    assert victim.exists() == there


def test_a_link_planted_in_a_run_is_not_followed(tmp_path):
    (tmp_path / LOCK).symlink_to(tmp_path.parent / "elsewhere")
    with pytest.raises(OSError, match="found a link in the place of a lock"), RunFolder(tmp_path).locked():
        pass
    assert not (tmp_path.parent / "elsewhere").exists()


def test_the_lock_of_an_output_is_the_same_for_all_its_names(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "link").symlink_to("out")
    locks = {output_lock(tmp_path / name) for name in ("out", "link", f"../{tmp_path.name}/out")}
    (lock,) = locks
    assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    assert output_lock(tmp_path / "other") != lock


@pytest.mark.parametrize("make", [lambda folder: folder.symlink_to("/"), lambda folder: folder.mkdir(0o755)])
def test_locks_lie_where_only_the_user_may_write(tmp_path, monkeypatch, make):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    make(tmp_path / f"unnoted-{os.geteuid()}")
    with pytest.raises(OSError, match="expected a folder that only you may enter"):
        output_lock(tmp_path / "out")
