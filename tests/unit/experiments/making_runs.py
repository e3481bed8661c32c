"""Small runs on generated documents, and records made by hand."""

from dataclasses import replace

from tests.unit.training.making import tiny_encoder

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import IgnScore, Score
from unnoted.training import Settings
from unnoted.training.fingerprint import fingerprint
from unnoted.training.record import Record, Scored


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
        "epochs": 2, "batch_documents": 2, "head_learning_rate": 1e-2, "encoder_learning_rate": 1e-2,
        "embedding": 16, "block": 4, "test": data / test, "output": data / "unused", **changes,
    }  # fmt: skip
    return Settings(**values)


def address(settings):
    """What a run is called in a grid."""
    return fingerprint(settings).address


def made_record(settings, correct=1):
    """A record as a run could have left it."""
    score = Score(correct, 2, 4)
    scored = Scored(score, IgnScore(score, 0), score, None, None, {"r": score}, {}, ((0.25, 0.5),), 0.5, 0.4)
    return Record(address(settings), settings.to_json(), 192.0, 4, {"r": 4}, {"test": scored})


def without_time(record):
    """A record without what differs from one time and place to another."""
    settings = {
        key: value for key, value in record.settings.items() if key not in ("output", "checkpoint_steps")
    }
    training = {key: value for key, value in record.training.items() if key != "seconds_of_last_session"}
    # The loss that is reported is the mean since the last report of the same session.
    training["history"] = [{**entry, "loss": None} for entry in training["history"]]
    return replace(record, seconds=0.0, settings=settings, training=training)
