"""A run performed: what its record says, and what is never done twice."""

import json
import shutil
from itertools import pairwise

import pytest
import torch
from tests.unit.experiments.making_runs import make_run, without_time, write_data

from unnoted.documents import load_documents
from unnoted.evaluation import CHEMDISGENE, precision_recall_curve
from unnoted.evaluation.extractor import evaluate_extractor
from unnoted.experiments import perform as performing
from unnoted.experiments import worker
from unnoted.experiments.perform import perform, thinned
from unnoted.experiments.place import Busy, Place
from unnoted.experiments.pools import BUSY, FAILED
from unnoted.extraction import Extractor
from unnoted.training import Trainer


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
    """A grid's folder with one finished run, that run, and its record; not to be changed."""
    folder, run = tmp_path_factory.mktemp("grid"), make_run(data, benchmark=CHEMDISGENE)
    return folder, run, perform(run, folder)


@pytest.fixture
def no_training(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(Trainer, "train", refuse)


def test_a_margin_of_0_which_the_paper_has_is_scored_too(data, tmp_path):
    assert perform(make_run(data, margin=0.0), tmp_path).scored["test"].overall.gold


def test_the_figures_are_those_of_the_model(finished, data):
    folder, run, record = finished
    train, test = (load_documents(data / f"{name}.json").documents for name in ("train", "test"))
    extractor = Extractor.from_pretrained(Place(folder, run.address).model)
    evaluation = evaluate_extractor(extractor, test, train, benchmark=CHEMDISGENE)
    scored = record.scored["test"]
    assert scored.overall == evaluation.overall and scored.overall.predicted
    assert scored.ignoring_train == evaluation.ignoring_train
    assert scored.frequent == evaluation.frequent and scored.relations == evaluation.relations
    assert scored.reachable == evaluation.published.overall
    assert scored.reachable_frequent == evaluation.published.frequent
    assert scored.curve[-1] == (evaluation.curve.recalls[-1], evaluation.curve.precisions[-1])
    assert list(scored.documents) == [document.id for document in test]
    assert record.train_documents == 4 and record.address == run.address and record.seconds > 0
    assert sum(record.train_facts.values()) == sum(len(document.labels) for document in train)


def test_what_is_left_in_the_folder(finished):
    folder, run, record = finished
    place = Place(folder, run.address)
    assert place.record() == record
    assert not list(place.path.rglob("checkpoint*"))
    assert float(place.seconds.read_text()) == record.seconds


@pytest.mark.usefixtures("no_training")
def test_a_finished_run_is_only_read(finished, monkeypatch):
    folder, run, record = finished
    monkeypatch.setattr(performing, "evaluate_extractor", None)
    assert perform(run, folder) == record


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize("content", ["", '{"address": "', "[]", '{"address": "x"}', None])
def test_a_damaged_record_is_made_again_from_the_model(finished, tmp_path, content):
    folder, run, record = finished
    shutil.copytree(folder, tmp_path / "grid")
    path = tmp_path / "grid" / run.address / "record.json"
    path.write_text(json.dumps(record.to_json() | {"address": "of another"}) if content is None else content)
    told = []
    again = perform(run, tmp_path / "grid", told.append)
    assert without_time(again) == without_time(record) and again.seconds > record.seconds
    assert "it is made again" in told[0] and str(path) in told[0]
    assert Place(tmp_path / "grid", run.address).record() == again


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


def test_an_interrupted_training_goes_on_though_its_files_moved(data, tmp_path, finished, monkeypatch):
    there = shutil.copytree(data, tmp_path / "there")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt(patch, after=1)
        perform(make_run(there, benchmark=CHEMDISGENE), tmp_path / "grid")
    there.rename(tmp_path / "moved")
    steps, told = [], []
    step = Trainer.training_step
    monkeypatch.setattr(Trainer, "training_step", lambda *given: steps.append(1) or step(*given))
    record = perform(make_run(tmp_path / "moved", benchmark=CHEMDISGENE), tmp_path / "grid", told.append)
    assert told[0] == "going on at checkpoint-2" and len(steps) == 2  # of 4
    assert record.scored == finished[2].scored and record.address == finished[2].address


def test_an_interrupted_scoring_does_not_train_again(data, tmp_path, monkeypatch, request):
    run = make_run(data, epochs=1)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Extractor, "extract", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        perform(run, tmp_path)
    assert Place(tmp_path, run.address).record() is None
    before = float(Place(tmp_path, run.address).seconds.read_text())
    request.getfixturevalue("no_training")
    assert perform(run, tmp_path).seconds > before


def test_a_run_that_another_process_is_at_is_left_alone(data, tmp_path):
    run = make_run(data)
    place = Place(tmp_path, run.address)
    assert not place.busy
    with place.locked():
        assert place.busy
        with pytest.raises(Busy, match="another process at this run"):
            perform(run, tmp_path)
        assert worker.main([str(place.specify(run))]) == BUSY
    assert not place.busy and not place.model.exists()


def test_a_worker_writes_down_why_it_failed(data, tmp_path, capsys):
    (tmp_path / "bad.json").write_text("[{}]")
    run = make_run(data, train=tmp_path / "bad.json")
    place = Place(tmp_path, run.address)
    assert worker.main([str(place.specify(run))]) == FAILED
    reason = place.failure().reason
    assert reason.startswith("DataError: ") and "bad.json" in reason and "\n" not in reason
    assert "Traceback" in (place.path / "failed.txt").read_text() and "Traceback" in capsys.readouterr().err


def test_a_worker_refuses_data_that_changed_meanwhile(data, tmp_path):
    shutil.copy(data / "train.json", tmp_path / "train.json")
    run = make_run(data, train=tmp_path / "train.json")
    place = Place(tmp_path, run.address)
    specification = place.specify(run)
    (tmp_path / "train.json").write_text("[]")
    assert worker.main([str(specification)]) == FAILED
    assert "changed since the grid began" in place.failure().reason


def test_a_thinned_curve_keeps_its_shape():
    number = 5000
    scores = [1 - index / number for index in range(number)]
    curve = precision_recall_curve(scores, [index % 3 == 0 for index in range(number)], gold=2000)
    points = thinned(curve)
    assert 290 <= len(points) <= 300
    whole = list(zip(curve.recalls.tolist(), curve.precisions.tolist(), strict=True))
    assert set(points) <= set(whole) and (points[0], points[-1]) == (whole[0], whole[-1])
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(points)]
    assert max(gaps) < 2 * curve.end / 299
    assert thinned(precision_recall_curve([], [], gold=1)) == ()
