"""A run that is scored: what its record says, and what is never done twice."""

import shutil
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from tests.unit.experiments.factories import address, make_run, without_time, write_data

from unnoted.data import load_documents
from unnoted.evaluation import CHEMDISGENE, precision_recall_curve
from unnoted.evaluation.evaluator import evaluate_extractor
from unnoted.inference import Extractor
from unnoted.training import Record, RunError, Trainer, run
from unnoted.training.record import CURVE_POINTS
from unnoted.training.run_folder import Busy, RunFolder


@pytest.fixture(scope="module", autouse=True)
def one_thread_and_own_cache(tmp_path_factory):
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNNOTED_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    """The settings of a finished run, and its record; not to be changed."""
    settings = make_run(data, benchmark="chemdisgene", output=tmp_path_factory.mktemp("runs") / "run")
    return settings, run(settings)


@pytest.fixture
def no_training(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(Trainer, "train", refuse)


def test_a_margin_of_0_which_the_paper_has_is_scored_too(data, tmp_path):
    assert run(make_run(data, margin=0.0, output=tmp_path / "run")).scored["test"].overall.gold


def test_the_figures_are_those_of_the_model(finished, data):
    settings, record = finished
    train, test = (load_documents(data / f"{name}.json").documents for name in ("train", "test"))
    extractor = Extractor.from_pretrained(settings.output)
    evaluation = evaluate_extractor(extractor, test, train, benchmark=CHEMDISGENE)
    scored = record.scored["test"]
    assert scored.overall == evaluation.overall and scored.overall.predicted
    assert scored.ignoring_train == evaluation.ignoring_train
    assert scored.frequent == evaluation.frequent and scored.relations == evaluation.relations
    assert scored.reachable == evaluation.published.overall
    assert scored.reachable_frequent == evaluation.published.frequent
    assert scored.curve[-1] == (evaluation.curve.recalls[-1], evaluation.curve.precisions[-1])
    assert scored.average_precision == evaluation.curve.average_precision
    assert scored.best_f1 == evaluation.curve.best.f1
    assert list(scored.documents) == [document.id for document in test]
    assert record.train_documents == 4 and record.address == address(settings) and record.seconds > 0
    assert sum(record.train_facts.values()) == sum(len(document.labels) for document in train)


def test_what_is_left_in_the_folder(finished):
    settings, record = finished
    assert Record.read(settings.output / "record.json") == record
    assert float((settings.output / "seconds.txt").read_text()) == pytest.approx(record.seconds, abs=1)


@pytest.mark.usefixtures("no_training")
def test_a_finished_run_is_only_read(finished, monkeypatch):
    settings, record = finished
    monkeypatch.setattr(Extractor, "from_pretrained", None)
    assert run(settings) == record


def copied(finished, tmp_path):
    settings, record = finished
    shutil.copytree(settings.output, tmp_path / "run")
    return settings.model_copy(update={"output": tmp_path / "run"}), record


@pytest.mark.parametrize("content", ["", '{"address": "', "[]", '{"address": "x"}'])
def test_a_damaged_record_is_made_again(finished, tmp_path, content):
    settings, record = copied(finished, tmp_path)
    path = settings.output / "record.json"
    path.write_text(content)
    told = []
    again = run(settings, resume=True, tell=told.append)
    assert without_time(again) == without_time(record) and again.seconds > record.seconds
    assert "it is made again" in told[0] and str(path) in told[0]
    assert Record.read(path) == again


@pytest.mark.usefixtures("no_training")
def test_only_what_is_missing_is_scored(finished, tmp_path):
    settings, record = copied(finished, tmp_path)
    replace(record, scored={}).write(settings.output / "record.json")
    with pytest.raises(RunError, match="unfinished; --resume continues it"):
        run(settings)
    assert without_time(run(settings, resume=True)) == without_time(record)


def interrupt(monkeypatch, after):
    """Let the training stop as a kill would, after a number of checkpoints."""
    written = []
    write = Trainer._write_checkpoint

    def then_stop(self, step):
        write(self, step)
        written.append(step)
        if len(written) == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "_write_checkpoint", then_stop)


def test_an_interrupted_training_continues_though_its_files_moved(data, tmp_path, finished, monkeypatch):
    there, output = shutil.copytree(data, tmp_path / "there"), tmp_path / "run"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt(patch, after=1)
        run(make_run(there, benchmark="chemdisgene", output=output))
    there.rename(tmp_path / "moved")
    steps, told = [], []
    step = Trainer.training_step
    monkeypatch.setattr(Trainer, "training_step", lambda *given: steps.append(1) or step(*given))
    settings = make_run(tmp_path / "moved", benchmark="chemdisgene", output=output)
    record = run(settings, resume=True, tell=told.append)
    assert told[0] == "continuing at checkpoint-2" and len(steps) == 2  # of 4
    assert record.scored == finished[1].scored and record.address == finished[1].address


def test_an_interrupted_scoring_does_not_train_again(data, tmp_path, monkeypatch, request):
    settings = make_run(data, epochs=1, output=tmp_path / "run")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Extractor, "extract", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        run(settings)
    assert RunFolder(settings.output).finished(settings) is None
    before = float((settings.output / "seconds.txt").read_text())
    request.getfixturevalue("no_training")
    assert run(settings, resume=True).seconds > before


def test_a_run_that_another_process_is_at_is_left_alone(data, tmp_path):
    settings = make_run(data, output=tmp_path / "run")
    folder = RunFolder(settings.output)
    assert not folder.busy
    with folder.locked():
        assert folder.busy
        with pytest.raises(Busy, match="a training that is running here"):
            run(settings)
    assert not folder.busy and not folder.taken


def test_an_unknown_benchmark_is_refused_before_the_training(data, tmp_path):
    with pytest.raises(ValueError, match=r"unknown benchmark 'docked'.*nearest: 'docred'"):
        run(make_run(data, benchmark="docked", output=tmp_path / "run"))


def test_a_thinned_curve_keeps_its_shape():
    number = 5000
    scores = [1 - index / number for index in range(number)]
    curve = precision_recall_curve(scores, [index % 3 == 0 for index in range(number)], gold=2000)
    points = curve.sampled(CURVE_POINTS)
    assert 290 <= len(points) <= 300
    whole = list(zip(curve.recalls.tolist(), curve.precisions.tolist(), strict=True))
    assert set(points) <= set(whole) and (points[0], points[-1]) == (whole[0], whole[-1])
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(points)]
    assert max(gaps) < 2 * curve.end / 299
    assert precision_recall_curve([], [], gold=1).thinned(300) == ()
