"""Results that outlive an interruption."""

import json
import os
import resource
import threading

import pytest

from unnoted.inference.predict_files import MANIFEST, open_results, threads_of_results

FROM = {"model": "m", "threshold": None, "batch": {"documents": 8}}


@pytest.fixture
def folder(tmp_path):
    """Results of `FROM`."""
    open_results(tmp_path / "results", FROM)
    (tmp_path / "results" / "00000000.jsonl").write_text("{}\n")
    return tmp_path / "results"


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_results_of_the_same_settings_are_taken_up(folder):
    before = content(folder)
    open_results(folder, FROM)
    assert content(folder) == before and before.keys() == {MANIFEST, "00000000.jsonl"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "n"}, r"another model \('m', now 'n'\)"),
        ({"threshold": 0.5}, r"another threshold \(None, now 0.5\)"),
        ({"batch": {"documents": 3}}, "another batch"),
        ({"format": "csv"}, r"another format \(None, now 'csv'\)"),
    ],
)
def test_results_of_other_settings_are_refused(folder, change, message):
    before = content(folder)
    with pytest.raises(ValueError, match=rf"results: .*{message}"):
        open_results(folder, FROM | change)
    assert content(folder) == before


@pytest.mark.parametrize("damaged", [b"", b"{nonsense", b"[" * 100_000, b"3", b'{"model": "n"}'])
def test_a_damaged_manifest_is_refused(folder, damaged):
    (folder / MANIFEST).write_bytes(damaged)
    with pytest.raises(ValueError, match="results"):
        open_results(folder, FROM)
    assert (folder / MANIFEST).read_bytes() == damaged


def test_files_of_the_user_are_left_as_they_are(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"'thesis\.tex' in it"):
        open_results(tmp_path, FROM)
    assert content(tmp_path) == {"thesis.tex": b"mine"}
    with pytest.raises(FileExistsError):
        open_results(tmp_path / "thesis.tex", FROM)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError):
        open_results(tmp_path / "pipe", FROM)


def test_a_start_that_was_killed_is_no_obstacle(tmp_path):
    for name in (".unnoted-0123", ".lock"):
        (tmp_path / name).write_text("")
    open_results(tmp_path, FROM)
    assert json.loads((tmp_path / MANIFEST).read_text()) == FROM


def test_several_processes_may_begin_at_once(tmp_path):
    settings, refused = [{**FROM, "threads": number % 2} for number in range(8)], []

    def begin(mine):
        try:
            open_results(tmp_path / "results", mine)
        except ValueError:
            refused.append(mine["threads"])

    threads = [threading.Thread(target=begin, args=(each,)) for each in settings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = json.loads((tmp_path / "results" / MANIFEST).read_text())["threads"]
    assert refused == [1 - kept] * 4


@pytest.mark.parametrize(
    ("threads", "expected"), [(3, 3), (None, None), (0, None), ("3", None), (True, None), ([], None)]
)
def test_an_interrupted_run_is_continued_with_its_threads(tmp_path, threads, expected):
    open_results(tmp_path / "results", {**FROM, "threads": threads})
    assert threads_of_results(tmp_path / "results") == expected
    (tmp_path / "results" / MANIFEST).write_bytes(b"[3]\n")
    assert threads_of_results(tmp_path / "results") is threads_of_results(tmp_path / "none") is None


def test_a_full_disk_is_told(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match=rf"not written: File too large.*{MANIFEST}"):
            open_results(tmp_path / "results", FROM)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    open_results(tmp_path / "results", FROM)
