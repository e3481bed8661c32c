"""A run: the folder that it takes, what it leaves there, and what it refuses."""

import json
import resource
import shutil
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.training.making import settings_file

from unnoted.data import DataError
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.losses import DecisionRule
from unnoted.models.encoders import EncoderError
from unnoted.models.model import RelationModel
from unnoted.training import (
    CheckpointError,
    Record,
    RunError,
    SettingsError,
    Trainer,
    load_settings,
    run,
)
from unnoted.training.fingerprint import fingerprint
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import parse_changes


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run; not to be changed."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("finished")
    path = settings_file(folder)
    run(load_settings(path))
    return folder


@pytest.fixture
def here(tmp_path):
    """Settings, data and encoder; no run."""
    return settings_file(tmp_path, epochs=1, documents=4)


def test_what_is_beside_the_weights(finished):
    folder = finished / "run"
    settings = load_settings(folder / "settings.yaml")
    assert settings == load_settings(finished / "settings.yaml")
    rows = json.loads((folder / "priors.json").read_text())
    model = RelationModel.from_pretrained(folder)
    assert [row["relation"] for row in rows] == list(model.relations)
    assert [row["overall"] for row in rows] == list(model.decoder.priors.overall)
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["torch"] == torch.__version__ and environment["python"] and environment["platform"]
    record = Record.read(folder / "record.json")
    assert record.steps == 12 == len(record.training["history"]) and record.scored == {}
    assert record.training["features"]["documents"] == record.train_documents == 12
    card = (folder / "README.md").read_text("utf-8")
    assert (
        card == model.card
        and "12 documents with" in card
        and "No documents were given to score it on" in card
    )
    assert record.seconds == pytest.approx(float((folder / "seconds.txt").read_text()), abs=1)
    held = json.loads((folder / "run.json").read_text())
    assert held["files"]["train"] == [str(finished / "train.json")] and len(held["values"]["train"][0]) == 64
    assert held["address"] == record.address == fingerprint(settings).address
    assert bool(find_spec("tensorboard")) == any(folder.glob("logs/events*"))
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".") and path.name != ".lock"]
    assert (folder / "model.safetensors").stat().st_mode & 0o044 == (
        folder / "config.json"
    ).stat().st_mode & 0o044


def test_the_final_model_is_what_is_saved(finished):
    last = load_file(finished / "run" / "checkpoints" / "checkpoint-12" / "model.safetensors")
    saved = load_file(finished / "run" / "model.safetensors")
    assert last.keys() == saved.keys() and all(torch.equal(last[name], saved[name]) for name in last)


@pytest.mark.parametrize("resume", [False, True])
def test_a_finished_run_is_not_repeated(finished, resume):
    before = (finished / "run" / "model.safetensors").stat().st_mtime_ns
    told = []
    record = run(load_settings(finished / "settings.yaml"), resume=resume, tell=told.append)
    assert record == Record.read(finished / "run" / "record.json") and record.steps == 12
    assert told == [f"{finished / 'run'}: this run is finished; nothing to do"]
    assert (finished / "run" / "model.safetensors").stat().st_mtime_ns == before


def test_another_run_is_refused_unless_told(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    changes = [f"output={tmp_path / 'run'}", "epochs=1", "loss=atlop", "prior_multiplier=null"]
    settings = load_settings(finished / "settings.yaml", parse_changes(changes))
    for resume in (False, True):
        with pytest.raises(RunError, match=r"another run \(.*epochs 2, not 1; .*--overwrite removes it"):
            run(settings, resume=resume)
    assert Record.read(tmp_path / "run" / "record.json").steps == 12
    assert run(settings, overwrite=True).steps == 6
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.decoder.decision == DecisionRule(top_k=4) and model.decoder.priors is None
    assert json.loads((tmp_path / "run" / "priors.json").read_text()) is None


def begun(path, *changes):
    """The settings of a run that was begun, and stopped at once."""
    settings = load_settings(path, parse_changes(changes))
    folder = RunFolder(settings.output)
    with folder.locked():
        folder.claim(fingerprint(settings))
    return settings


@pytest.mark.parametrize("content", ['{"settings": {}, "data": {}}', "{", "[]", "[" * 100_000], ids=len)
def test_a_run_that_cannot_be_compared_with_is_named(here, content):
    settings = load_settings(here)
    settings.output.mkdir(parents=True)
    (settings.output / "run.json").write_text(content, "utf-8")
    with pytest.raises(RunError, match=r"run\.json: found no readable description .*--overwrite removes"):
        run(settings, resume=True)


def test_edited_seconds_are_named(here):
    settings = begun(here)
    (settings.output / "seconds.txt").write_text("many", "utf-8")
    with pytest.raises(RunError, match=r"seconds\.txt: found no number .*'many'.*, expected the seconds"):
        run(settings, resume=True)


def test_an_unfinished_run_waits_for_a_word(here):
    settings = begun(here)
    with pytest.raises(RunError, match="unfinished; --resume continues it, --overwrite begins anew"):
        run(settings)
    with pytest.raises(RunError, match="both resume and overwrite"):
        run(settings, resume=True, overwrite=True)
    assert run(settings, resume=True).steps == 2


def test_data_that_changed_under_a_resume_are_named(here, tmp_path):
    settings = begun(here)
    write_documents(tmp_path / "train.json", generate_documents(4, seed=1))
    with pytest.raises(RunError, match=r"train\.json: found other content than this run began with"):
        run(settings, resume=True)
    assert run(settings, overwrite=True).steps


def test_priors_that_changed_under_a_resume_are_named(here, tmp_path):
    priors = tmp_path / "priors.json"
    priors.write_text('{"*": {"multiplier": 2}}')
    settings = begun(here, "prior_multiplier=null", f"prior_file={priors}")
    priors.write_text('{"*": {"multiplier": 3}}')
    with pytest.raises(RunError, match=r"priors\.json: found other content"):
        run(settings, resume=True)
    priors.write_text('{"*": {"multiplier": 2}}')
    assert run(settings, resume=True).steps


def test_a_setting_that_is_newer_than_a_run_is_what_it_is_by_default(here):
    settings = begun(here)
    path = settings.output / "run.json"
    held = json.loads(path.read_text())
    assert held["values"].pop("tuned_thresholds") is False
    path.write_text(json.dumps(held))
    assert run(settings, resume=True).steps


def test_how_often_to_save_may_change_under_a_resume(here):
    begun(here)
    settings = load_settings(here, parse_changes(["checkpoint_steps=1", "log_steps=2"]))
    assert run(settings, resume=True).steps


def test_a_folder_with_other_files_is_refused_even_if_told(here, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("dear")
    with pytest.raises(RunError, match=r"found 'thesis.txt' but no run"):
        run(load_settings(here), overwrite=True)
    assert (tmp_path / "run" / "thesis.txt").read_text() == "dear"


def test_a_file_in_the_place_of_the_folder_is_refused(here, tmp_path):
    (tmp_path / "run").write_text("dear")
    with pytest.raises(RunError, match="found a file, expected a folder"):
        run(load_settings(here))


def test_a_folder_in_use_is_refused(here):
    settings = load_settings(here)
    with (
        RunFolder(settings.output).locked(),
        pytest.raises(RunError, match="a training that is running here"),
    ):
        run(settings)


def test_unusable_data_or_encoders_leave_the_folder_free(here, tmp_path):
    with pytest.raises(RunError, match=r"absent\.json: found no readable file"):
        run(load_settings(here, parse_changes([f"train={tmp_path / 'absent.json'}"])))
    (tmp_path / "broken.json").write_text('[{"title": 3}]')
    with pytest.raises(DataError, match=r"broken\.json"):
        run(load_settings(here, parse_changes([f"train={tmp_path / 'broken.json'}"])))
    (tmp_path / "encoder" / "model.safetensors").rename(tmp_path / "hidden")
    with pytest.raises(EncoderError, match="found no readable weights"):
        run(load_settings(here))
    (tmp_path / "hidden").rename(tmp_path / "encoder" / "model.safetensors")
    assert run(load_settings(here)).steps


def test_unusable_data_leave_the_run_that_was_to_be_overwritten(finished, tmp_path):
    shutil.copytree(finished / "run", tmp_path / "run")
    (tmp_path / "broken.json").write_text('[{"title": 3}]')
    changes = [f"output={tmp_path / 'run'}", f"train={tmp_path / 'broken.json'}"]
    with pytest.raises(DataError, match=r"broken\.json"):
        run(load_settings(finished / "settings.yaml", parse_changes(changes)), overwrite=True)
    assert RelationModel.from_pretrained(tmp_path / "run") and (tmp_path / "run" / "record.json").exists()


def test_a_disk_that_is_full_at_the_very_end(here, tmp_path, monkeypatch):
    settings, limits = load_settings(here), resource.getrlimit(resource.RLIMIT_FSIZE)
    finish = Trainer.train

    def train_then_full(self, **options):
        output = finish(self, **options)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
        return output

    monkeypatch.setattr(Trainer, "train", train_then_full)
    try:
        with pytest.raises(CheckpointError, match="the trained model was not written"):
            run(settings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    monkeypatch.undo()
    monkeypatch.setenv("UNNOTED_CACHE", str(tmp_path / "cache"))
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert run(settings, resume=True).steps == 2
    assert RelationModel.from_pretrained(tmp_path / "run")


def test_development_scores_are_kept_beside_the_weights(here):
    dev = here.parent / "dev.json"
    write_documents(dev, generate_documents(2, start=40))
    change = [f"dev={dev}"]
    run(load_settings(here, parse_changes(change)))
    summary = Record.read(here.parent / "run" / "record.json").training
    assert [entry["epoch"] for entry in summary["development"]] == [1.0]
    assert all("eval_f1" not in entry for entry in summary["history"])
    write_documents(dev, generate_documents(2, start=60))
    with pytest.raises(RunError, match=r"dev\.json: found other content"):
        run(load_settings(here, parse_changes(change)))


def test_an_encoder_is_made_on_the_spot_and_saved_with_the_model(here):
    lines = []
    changes = ["encoder=recurrent", "embedding=16", "block=4"]
    run(load_settings(here, parse_changes(changes)), tell=lines.append)
    assert any("encoder made" in line for line in lines)
    model = RelationModel.from_pretrained(here.parent / "run")
    assert model.encoder.model.config.model_type == "unnoted-lstm"


def test_word_vectors_need_an_encoder_that_is_made(here, tmp_path):
    with pytest.raises(
        SettingsError, match=r"vectors: found .*has its own \(encoders that are made: recurrent"
    ):
        load_settings(here, parse_changes([f"vectors={tmp_path / 'glove.txt'}"]))
