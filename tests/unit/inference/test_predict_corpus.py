"""Corpora of many files: what one call would write, whatever happens in between."""

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress

import psutil
import pytest
import torch
from tests.unit.inference.making import corpus, saved_model

from unnoted.data.formats import write_documents
from unnoted.data.loading import find_shards
from unnoted.inference import DecisionOptions, Extractor
from unnoted.inference.predict_corpus import CorpusJob, predict_corpus
from unnoted.io import hold_lock
from unnoted.utils import MissingExtra

SHARDS = ("a.jsonl", "b.json", "sub/c.jsonl.gz", "sub/d.jsonl")
RESULTS = ("a.jsonl", "b.jsonl", "sub/c.jsonl", "sub/d.jsonl")
BETWEEN = 3
"""Documents of a shard."""


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def extractor(model):
    return Extractor.from_pretrained(model, device="cpu")


@pytest.fixture
def folder(tmp_path):
    """Shards of a corpus; those that a test changes are its own."""
    for number, name in enumerate(SHARDS):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        write_documents(tmp_path / "in" / name, corpus()[BETWEEN * number : BETWEEN * (number + 1)])
    return tmp_path


@pytest.fixture
def predict(folder, model, extractor):
    """Predict the shards of the folder into `out`."""

    def call(*inputs, to="out", on_progress=lambda done: None, **options):
        job = CorpusJob(str(model), folder / to, device="cpu", **options)
        shards = find_shards(inputs or [folder / "in"])
        return predict_corpus(job, shards, load=lambda: extractor, on_progress=on_progress)

    return call


def results(folder):
    """The content of each file of results, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "_unnoted.json"
    }


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.jsonl")}


def test_a_file_of_results_for_each_shard(folder, predict, extractor):
    steps = []
    report = predict(on_progress=steps.append)
    assert tuple(results(folder / "out")) == RESULTS and steps == [0, 1, 2, 3, 4]
    expected = list(extractor.extract(corpus()))
    assert (report.shards, report.finished, report.documents) == (4, 0, len(corpus()))
    assert report.facts == sum(len(each.facts) for each in expected) > 0
    lines = b"".join(results(folder / "out").values()).decode().splitlines()
    alone = [
        each
        for start in range(0, 12, BETWEEN)
        for each in extractor.extract(corpus()[start : start + BETWEEN])
    ]
    assert len(lines) == len(alone) and all(
        each.document.id in line for each, line in zip(alone, lines, strict=True)
    )


class Killed(BaseException):
    """Stands for the end of the program."""


def test_what_is_finished_is_not_computed_again(folder, predict):
    predict(to="whole")

    def kill(done):
        if done == 2:
            raise Killed

    with pytest.raises(Killed):
        predict(on_progress=kill)
    half = folder / "out" / "sub" / ".c.jsonl.partial"
    half.mkdir(parents=True)  # as a kill leaves it
    (half / "c.jsonl").write_text("half of ")
    before = times(folder / "out")
    report = predict()
    assert (report.finished, report.shards) == (2, 2)
    assert results(folder / "out") == results(folder / "whole")
    assert {name: times(folder / "out")[name] for name in before if name != "c.jsonl"} == {
        name: time for name, time in before.items() if name != "c.jsonl"
    }


def test_new_and_changed_shards_are_predicted(folder, predict):
    predict()
    before = times(folder / "out")
    write_documents(folder / "in" / "e.jsonl", corpus()[:1])
    write_documents(folder / "in" / "a.jsonl", corpus()[:1])
    report = predict()
    assert (report.finished, report.shards, report.documents) == (3, 2, 2)
    changed = {name for name, time in times(folder / "out").items() if before.get(name) != time}
    assert changed == {"a.jsonl", "e.jsonl"}


def test_results_of_other_settings_are_not_mixed(folder, predict):
    predict()
    before = results(folder / "out")
    with pytest.raises(ValueError, match="another threshold"):
        predict(options=DecisionOptions(threshold=0.6))  # also where nothing is left to do
    shutil.rmtree(folder / "out" / "sub")
    with pytest.raises(ValueError, match="another format"):
        predict(format="csv")
    assert results(folder / "out") == {name: before[name] for name in RESULTS[:2]}


def test_a_bad_shard_does_not_stop_the_others(folder, predict):
    (folder / "in" / "b.json").write_text('[{"title": "x"}]')
    report = predict()
    assert report.shards == 3 and tuple(results(folder / "out")) == (RESULTS[0], *RESULTS[2:])
    assert len(report.failed) == 1 and "in/b.json: line 1: document 'x'" in report.failed[0]
    write_documents(folder / "in" / "b.json", corpus()[:1])
    report = predict()
    assert (report.finished, report.shards, report.failed) == (3, 1, [])


def test_a_shard_of_another_process_is_left_to_it(folder, predict):
    (folder / "out").mkdir()
    with hold_lock(folder / "out" / ".b.jsonl.lock", RuntimeError()):
        report = predict()
    assert report.busy == ["b.json"] and report.shards == 3
    assert predict().shards == 1


def test_two_at_once_share_the_shards(folder, predict):
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(predict())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(report.shards for report in reports) == 4
    assert tuple(results(folder / "out")) == RESULTS


def test_an_output_is_no_input_and_has_one_owner(folder, predict):
    (folder / "in" / "a.json").write_bytes((folder / "in" / "a.jsonl").read_bytes())
    with pytest.raises(
        ValueError, match=r"in/a\.json and .*in/a\.jsonl would both be written to .*out/a\.jsonl"
    ):
        predict()
    with pytest.raises(ValueError, match="where results are written"):
        predict(to="in")
    with pytest.raises(ValueError, match="nearest: 'parquet'"):
        predict(format="parkett")
    assert not (folder / "out").exists()


def test_a_format_that_cannot_be_written_is_refused_before_the_model_is_loaded(folder, model, monkeypatch):
    assert CorpusJob(str(model), folder / "out.gz", "parquet").output(find_shards([folder / "in"])[0])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"unnoted\[frames\]"):
        CorpusJob(str(model), folder / "out", "parquet")


def test_a_stray_text_is_listed_and_does_not_stop_the_others(folder, predict):
    (folder / "in" / "notes.txt").write_text("Ada left.")
    report = predict()
    (line,) = report.failed
    assert "in/notes.txt: plain text" in line and report.shards == len(SHARDS)
    assert not list((folder / "out").glob(".*"))
    assert tuple(results(folder / "out")) == RESULTS


def test_ids_are_unique_within_a_shard_only(folder, predict):
    for name in ("one.jsonl", "two.jsonl"):
        write_documents(folder / name, corpus()[:2])
    report = predict(folder / "one.jsonl", folder / "two.jsonl")
    assert report.documents == 4 and not report.failed


def at_work(command):
    """The processes below a command that perform tasks of Ray."""
    for process in psutil.Process(command).children(recursive=True):
        with suppress(psutil.Error):  # it has ended since
            if process.name().startswith("ray::perform"):
                yield process


@pytest.mark.slow
def test_a_lost_worker_of_ray_changes_no_byte(model, tmp_path, predict):
    """A cluster of two workers on this machine, one of which is killed while both are at work."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'unnoted[ray]'")
    documents, here, there = corpus(400), tmp_path / "here", tmp_path / "there"
    (tmp_path / "many").mkdir()
    for number in range(8):
        write_documents(tmp_path / "many" / f"{number}.jsonl", documents[number * 50 : (number + 1) * 50])
    predict(tmp_path / "many", to="here", threads=1)
    command = [
        "-m",
        "unnoted",
        "predict",
        model,
        "many",
        "--to",
        "there/",
        "--device",
        "cpu",
        "--ray",
        "local",
    ]
    process = subprocess.Popen(
        [sys.executable, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_OVERRIDE_RESOURCES": '{"CPU": 2}'},
    )  # fmt: skip
    killed = False
    while process.poll() is None and not killed:
        workers = list(at_work(process.pid))
        if len(workers) == 2 and any(there.glob("*.jsonl")) and any(there.glob(".*.partial")):
            workers[0].kill()
            killed = True
        time.sleep(0.01)
    told = process.communicate()[1]
    assert process.returncode == 0 and killed, told
    assert results(there) == results(here)
