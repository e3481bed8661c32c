"""Small runs on generated documents, and records made by hand."""

from dataclasses import replace

from tests.unit.training.making import tiny_encoder

from unnoted.documents.generator import generate_documents
from unnoted.documents.writing import write_documents
from unnoted.evaluation import DOCRED, IgnScore, Score
from unnoted.experiments.runs import Run
from unnoted.training import Settings
from unnoted.training.record import Record, Scored


def write_data(folder):
    """Training and test documents, and an encoder of one layer with random weights."""
    tiny_encoder(folder / "encoder")
    write_documents(folder / "train.json", generate_documents(4))
    write_documents(folder / "test.json", generate_documents(3, start=4))
    return folder


def make_run(data, *, train="train.json", test="test.json", benchmark=DOCRED, **changes):
    """A run on `write_data`'s files."""
    values = {
        "train": data / train, "encoder": str(data / "encoder"), "loss": "ssr-pu", "prior_multiplier": 2,
        "epochs": 2, "batch_documents": 2, "head_learning_rate": 1e-2, "encoder_learning_rate": 1e-2, "embedding": 16,
        "block": 4, "output": data / "unused", **changes,
    }  # fmt: skip
    return Run(Settings(**values), {"test": (data / test,)}, benchmark)


def made_record(run, correct=1):
    """A record as a run could have left it."""
    score = Score(correct, 2, 4)
    scored = Scored(score, IgnScore(score, 0), score, None, None, {"r": score}, {}, ((0.25, 0.5),), 0.5, 0.4)
    return Record(run.address, run.settings.to_json(), 192.0, 4, {"r": 4}, {"test": scored})


def without_time(record):
    """A record without what differs from one time and place to another."""
    free = {"output", "checkpoint_steps"}
    settings = {key: value for key, value in record.settings.items() if key not in free}
    return replace(record, seconds=0.0, settings=settings)
