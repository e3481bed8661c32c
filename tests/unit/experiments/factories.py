"""Small runs on generated documents, and records made by hand."""

import json
from dataclasses import replace

from tests.unit.training.factories import tiny_encoder

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import IgnScore, Score
from unnoted.experiments import grid
from unnoted.training import TrainingConfig
from unnoted.training.results import Failure, Record, RunScores
from unnoted.training.run_directory import fingerprint


def write_data(folder):
    """Training and test documents, and an encoder of one layer with random weights."""
    tiny_encoder(folder / "encoder")
    write_documents(folder / "train.json", generate_documents(4))
    write_documents(folder / "test.json", generate_documents(3, start=4))
    return folder


def make_run(data, *, train="train.json", test="test.json", **changes):
    """The settings of a run on `write_data`'s files."""
    values = {
        "train": data / train, "encoder": str(data / "encoder"), "loss": "ssr-pu", "prior_multiplier": 2,
        "epochs": 2, "batch_size": 2, "head_learning_rate": 1e-2, "encoder_learning_rate": 1e-2,
        "embedding": 16, "test": data / test, "output": data / "unused", **changes,
    }  # fmt: skip
    return TrainingConfig.from_keys(values)


def address(settings):
    """What a run is called in a grid."""
    return fingerprint(settings).run_id


def without_time(record):
    """A record without what differs from one time and place to another."""
    config = {key: value for key, value in record.config.items() if key != "output"}
    config["optimizer"] = {**config["optimizer"], "checkpoint_steps": None}
    training = {key: value for key, value in record.training.items() if key != "seconds_of_last_session"}
    # The loss that is reported is the mean since the last report of the same session.
    training["history"] = [{**entry, "loss": None} for entry in training["history"]]
    return replace(record, seconds=0.0, config=config, training=training)


def make_scored(correct=30, predicted=60, gold=100, reachable=None):
    """Figures on ten documents with equal shares of the facts."""
    each = IgnScore(Score(correct // 10, predicted // 10, gold // 10), 0)
    overall = Score(correct, predicted, gold)
    return RunScores(
        overall=overall,
        ignoring_train=IgnScore(overall, 10),
        frequent=Score(10, 40, 50),
        reachable=reachable,
        reachable_frequent=None if reachable is None else Score(15, 20, 45),
        relations={"P17": overall},
        documents={f"d{number}": each for number in range(10)},
        curve=((0.1, 0.9), (0.3, 0.5)),
        average_precision=0.4,
        best_f1=0.5,
    )


def make_record(address="0" * 16, settings=None, train_documents=8, **sets):
    """A finished run; by default with a test set."""
    return Record(
        address, settings or {}, 12.0, train_documents, {"P17": 20}, sets or {"test": make_scored()}
    )


def fake_runs(monkeypatch, correct):
    """End every run at once with what a function returns for its settings; an error is a failure."""
    performed = []

    def run_grid(runs, folder, jobs=1, log=lambda line: None, ray=None):
        outcomes = {}
        for settings in runs:
            performed.append(settings)
            name = address(settings)
            try:
                sets = dict.fromkeys(settings.test, make_scored(correct(settings)))
                outcomes[name] = make_record(name, settings.to_dict(), **sets)
            except ZeroDivisionError as error:
                outcomes[name] = Failure(name, str(error))
        return outcomes

    monkeypatch.setattr(grid, "run_grid", run_grid)
    return performed


def docred_folder(folder, documents=6):
    """A data set under DocRED's names, in one folder; without a test set and `train_ext.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = list(generate_documents(documents))
    for name in ("train_annotated.json", "train_revised.json", "dev_revised.json"):
        write_documents(folder / name, made)
    (folder / "rel_info.json").write_text(json.dumps(dict(relation_names())), "utf-8")
    return folder
