"""A run: what it leaves in its folder, what it repeats, how it is scored, and what it refuses."""

import json
import resource
import shutil
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.experiments.factories import address, make_run, without_time, write_data
from tests.unit.training.factories import config_file, vocabulary_file

from unnoted.data import DataError, load_documents
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import CHEMDISGENE
from unnoted.evaluation.evaluator import evaluate_extractor
from unnoted.inference import Extractor
from unnoted.losses import DecisionRule
from unnoted.models.encoders import EncoderError
from unnoted.models.model import ModelError, RelationModel
from unnoted.training import CheckpointError, Record, RunError, Trainer, load_config, run
from unnoted.training.callbacks import Monitor
from unnoted.training.run_directory import BusyError, RunDirectory, fingerprint


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    run(load_config(config_file(folder)))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def scored(data, tmp_path_factory):
    """The configuration of a finished run with a test set, and its record; not to be changed."""
    config = make_run(data, benchmark="chemdisgene", output=tmp_path_factory.mktemp("runs") / "run")
    return config, run(config)


@pytest.fixture
def here(tmp_path):
    """A config, data and encoder; no run."""
    return config_file(tmp_path, epochs=1, documents=4)


def begun(path, **changes):
    """The configuration of a run that was begun, and stopped at once."""
    config = load_config(path, changes)
    directory = RunDirectory(config.output)
    with directory.lock():
        directory.acquire(fingerprint(config))
    return config


def test_what_is_beside_the_weights(finished):
    folder = finished / "run"
    config = load_config(folder / "config.yaml")
    assert config == load_config(finished / "config.yaml")
    rows = json.loads((folder / "priors.json").read_text())
    model = RelationModel.from_pretrained(folder)
    assert [row["relation"] for row in rows] == list(model.relations)
    assert [row["overall"] for row in rows] == list(model.decoder.priors.overall)
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["torch"] == torch.__version__ and environment["python"] and environment["platform"]
    record = Record.read(folder / "record.json")
    assert record.steps == 12 and record.loss > 0 and record.scored == {}
    assert record.training["features"]["documents"] == record.train_documents == 12
    assert record.get("optimizer.epochs") == 2 and record.get("nothing.at.all") is None
    assert (folder / "README.md").read_text("utf-8") == model.card
    assert 0 < record.seconds <= float((folder / "seconds.txt").read_text())
    held = json.loads((folder / "run.json").read_text())
    assert held["files"]["train"] == [str(finished / "train.json")] and len(held["values"]["train"][0]) == 64
    assert held["run_id"] == record.run_id == fingerprint(config).run_id
    assert bool(find_spec("tensorboard")) == any(folder.glob("logs/events*"))
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [".lock"]
    modes = {(folder / name).stat().st_mode & 0o044 for name in ("model.safetensors", "config.json")}
    assert len(modes) == 1


def same_weights(one, other):
    first, second = (load_file(folder / "model.safetensors") for folder in (one, other))
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_the_final_model_is_what_is_saved(finished):
    assert same_weights(finished / "run", finished / "run" / "checkpoints" / "checkpoint-12")


@pytest.mark.parametrize("resume", [False, True])
def test_a_finished_run_is_not_repeated(finished, resume, monkeypatch):
    monkeypatch.setattr(Trainer, "train", None)
    record = run(load_config(finished / "config.yaml"), resume=resume)
    assert record == Record.read(finished / "run" / "record.json") and record.steps == 12


def test_another_run_is_refused_unless_overwritten(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    changes = {"output": tmp_path / "run", "epochs": 1, "loss": "atlop", "prior_multiplier": None}
    config = load_config(finished / "config.yaml", changes)
    for resume in (False, True):
        with pytest.raises(RunError) as caught:
            run(config, resume=resume)
        assert {"optimizer.epochs", "loss.name"} <= set(caught.value.keys)
    assert Record.read(tmp_path / "run" / "record.json").steps == 12
    assert run(config, overwrite=True).steps == 6
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.decoder.decision == DecisionRule(top_k=4) and model.decoder.priors is None
    assert json.loads((tmp_path / "run" / "priors.json").read_text()) is None


@pytest.mark.parametrize(("file", "content"), [
    ("run.json", '{"settings": {}, "data": {}}'), ("run.json", "{"), ("run.json", "[]"),
    ("run.json", "[" * 100_000), ("seconds.txt", "many"), ("threads.txt", "many"),
], ids=range(6))  # fmt: skip
def test_what_is_damaged_in_a_folder_is_named(here, file, content):
    config = begun(here)
    (config.output / file).write_text(content, "utf-8")
    with pytest.raises(RunError, match=file):
        run(config, resume=True)


def test_an_unfinished_run_needs_a_word(here):
    config = begun(here)
    with pytest.raises(RunError, match="--resume"):
        run(config)
    with pytest.raises(RunError, match="only one"):
        run(config, resume=True, overwrite=True)
    assert run(config, resume=True).steps == 2


def test_files_that_changed_under_a_resume_are_named(here, tmp_path):
    priors, dev = tmp_path / "priors.json", tmp_path / "dev.json"
    priors.write_text('{"*": {"multiplier": 2}}')
    write_documents(dev, generate_documents(2, start=40))
    changes = {"prior_multiplier": None, "prior_file": priors, "dev": dev}
    config = begun(here, **changes)
    for file, content in ((priors, '{"*": {"multiplier": 3}}'), (tmp_path / "train.json", "[]"), (dev, "[]")):
        before = file.read_text()
        file.write_text(content)
        with pytest.raises(RunError) as caught:
            run(config, resume=True)
        assert caught.value.files == (file,)
        file.write_text(before)
    record = run(config, resume=True)
    assert [entry["epoch"] for entry in record.training["development"]] == [1.0]
    assert all("eval_f1" not in entry for entry in record.training["history"])


def test_how_often_to_save_may_change_under_a_resume(here):
    begun(here)
    assert run(load_config(here, {"checkpoint_steps": 1}), resume=True).steps


def test_a_folder_that_holds_something_else_is_refused(here, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("precious")
    with pytest.raises(RunError, match=r"thesis\.txt"):
        run(load_config(here), overwrite=True)
    assert (tmp_path / "run" / "thesis.txt").read_text() == "precious"
    (tmp_path / "file").write_text("precious")
    with pytest.raises(RunError, match="is a file"):
        run(load_config(here, {"output": tmp_path / "file"}))


def test_a_run_that_another_process_is_at_is_left_alone(here):
    config = load_config(here)
    directory = RunDirectory(config.output)
    assert not directory.is_busy
    with directory.lock():
        assert directory.is_busy
        with pytest.raises(BusyError):
            run(config)
    assert not directory.is_busy and not directory.exists


def test_unusable_data_or_encoders_leave_the_folder_free(here, tmp_path):
    with pytest.raises(RunError, match=r"absent\.json"):
        run(load_config(here, {"train": tmp_path / "absent.json"}))
    (tmp_path / "broken.json").write_text('[{"title": 3}]')
    with pytest.raises(DataError, match=r"broken\.json"):
        run(load_config(here, {"train": tmp_path / "broken.json"}))
    (tmp_path / "encoder" / "model.safetensors").rename(tmp_path / "hidden")
    with pytest.raises(EncoderError):
        run(load_config(here))
    (tmp_path / "hidden").rename(tmp_path / "encoder" / "model.safetensors")
    assert run(load_config(here)).steps


def test_unusable_data_leave_the_run_that_was_to_be_overwritten(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    (tmp_path / "broken.json").write_text('[{"title": 3}]')
    changes = {"output": tmp_path / "run", "train": tmp_path / "broken.json"}
    with pytest.raises(DataError, match=r"broken\.json"):
        run(load_config(finished / "config.yaml", changes), overwrite=True)
    assert RelationModel.from_pretrained(tmp_path / "run") and (tmp_path / "run" / "record.json").exists()


@contextmanager
def full_disk(size):
    """Within this context no file may grow beyond a size once a training has ended."""
    limits, train = resource.getrlimit(resource.RLIMIT_FSIZE), Trainer.train

    def train_then_full(trainer, **options):
        output = train(trainer, **options)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        return output

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "train", train_then_full)
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_is_full_at_the_very_end(here, tmp_path):
    config = load_config(here)
    with full_disk(50_000), pytest.raises(CheckpointError, match="--resume"):
        run(config)
    assert not (tmp_path / "run" / "model.safetensors").exists()
    with full_disk(0), pytest.raises(CheckpointError):  # the seconds cannot be written, which hides no error
        run(config, resume=True)
    assert run(config, resume=True).steps == 2
    assert RelationModel.from_pretrained(tmp_path / "run")


def test_an_encoder_is_made_on_the_spot_and_saved_with_the_model(here):
    run(load_config(here, {"encoder": "recurrent", "embedding": 16}))
    model = RelationModel.from_pretrained(here.parent / "run")
    assert model.encoder.model.config.model_type == "unnoted-lstm"


def test_the_corpus_is_read_once(here, monkeypatch):
    from unnoted.training import builders

    read, load = [], builders.load_documents
    monkeypatch.setattr(
        builders, "load_documents", lambda *files, **options: read.append(files) or load(*files, **options)
    )
    run(load_config(here, {"loss": "label-likelihood", "folds": 2}))
    assert len(read) == 1


def test_threads_are_those_of_the_first_session(here, monkeypatch):
    lines, config = [], load_config(here)
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    directory = RunDirectory(config.output)
    with directory.lock():
        directory.acquire(fingerprint(config))
        directory.choose_threads(4096, threads=1)
    run(config, resume=True, log=lines.append)
    assert torch.get_num_threads() == 1 and any("1 thread" in line for line in lines)


def test_a_teacher_and_a_model_to_start_from(tmp_path):
    path = config_file(tmp_path, documents=4, vocabulary=vocabulary_file(tmp_path), epochs=1)
    run(load_config(path, {"output": tmp_path / "teacher"}))
    plain = run(load_config(path, {"output": tmp_path / "plain"}))
    taught = run(load_config(path, {"output": tmp_path / "student", "teacher": tmp_path / "teacher"}))
    assert taught.loss != plain.loss
    still = {"encoder_learning_rate": 0, "head_learning_rate": 0, "init_from": tmp_path / "student"}
    run(load_config(path, {"output": tmp_path / "again", **still}))
    assert same_weights(tmp_path / "student", tmp_path / "again")
    with pytest.raises(ModelError, match="teacher"):
        changes = {"output": tmp_path / "third", "teacher": tmp_path / "student", "markers": "none"}
        run(load_config(path, changes))
    (tmp_path / "teacher" / "model.safetensors").unlink()
    with pytest.raises(RunError, match=r"model\.safetensors"):
        run(load_config(path, {"output": tmp_path / "other", "teacher": tmp_path / "teacher"}))


# Scores


def test_the_scores_are_those_of_the_model(scored, data):
    config, record = scored
    train, test = (load_documents(data / f"{name}.json").documents for name in ("train", "test"))
    evaluation = evaluate_extractor(Extractor(config.output), test, train, benchmark=CHEMDISGENE)
    found = record.scored["test"]
    assert found.overall == evaluation.overall and found.overall.predicted
    assert found.ignoring_train == evaluation.ignoring_train
    assert found.frequent == evaluation.frequent and found.relations == evaluation.relations
    assert found.reachable == evaluation.published.overall
    assert found.reachable_frequent == evaluation.published.frequent
    assert found.curve[-1] == (evaluation.curve.recalls[-1], evaluation.curve.precisions[-1])
    assert found.average_precision == evaluation.curve.average_precision
    assert found.best_f1 == evaluation.curve.best.f1
    assert list(found.documents) == [document.id for document in test]
    assert record.train_documents == 4 and record.run_id == address(config) and record.seconds > 0
    assert sum(record.train_facts.values()) == sum(len(document.labels) for document in train)
    assert Record.read(config.output / "record.json") == record


def copied(scored, tmp_path):
    config, record = scored
    shutil.copytree(config.output, tmp_path / "run")
    return config.model_copy(update={"output": tmp_path / "run"}), record


@pytest.mark.parametrize("content", ["", '{"run_id": "', "[]", '{"run_id": "x"}'])
def test_a_damaged_record_is_made_again(scored, tmp_path, content):
    config, record = copied(scored, tmp_path)
    path, lines = config.output / "record.json", []
    path.write_text(content)
    again = run(config, resume=True, log=lines.append)
    assert without_time(again) == without_time(record) and again.seconds > record.seconds
    assert str(path) in lines[0] and Record.read(path) == again


def test_only_what_is_missing_is_scored(scored, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", None)
    config, record = copied(scored, tmp_path)
    replace(record, scored={}).write(config.output / "record.json")
    with pytest.raises(RunError, match="--resume"):
        run(config)
    assert without_time(run(config, resume=True)) == without_time(record)


def test_an_interrupted_run_continues_though_its_files_moved(data, tmp_path, scored, monkeypatch):
    there, output = shutil.copytree(data, tmp_path / "there"), tmp_path / "run"
    write = Monitor.on_save

    def then_stop(self, args, state, *others, **more):
        write(self, args, state, *others, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Monitor, "on_save", then_stop)
        run(make_run(there, benchmark="chemdisgene", output=output))
    there.rename(tmp_path / "moved")
    steps, step = [], Trainer.training_step
    monkeypatch.setattr(Trainer, "training_step", lambda *given: steps.append(1) or step(*given))
    record = run(make_run(tmp_path / "moved", benchmark="chemdisgene", output=output), resume=True)
    assert len(steps) == 2  # of 4
    assert record.scored == scored[1].scored and record.run_id == scored[1].run_id


def test_an_interrupted_scoring_does_not_train_again(data, tmp_path, monkeypatch):
    config = make_run(data, epochs=1, output=tmp_path / "run")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Extractor, "extract", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        run(config)
    assert RunDirectory(config.output).read_finished(config) is None
    before = float((config.output / "seconds.txt").read_text())
    monkeypatch.setattr(Trainer, "train", None)
    assert run(config, resume=True).seconds > before
