"""The result of a run: all that tables, plots and tests of significance need, as plain data."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter

from unnoted.evaluation import Evaluation, IgnScore, Score
from unnoted.io import open_output

CURVE_POINTS = 300
"""How many points of a precision-recall curve a record keeps at most."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """One run's figures on one set of documents.

    Attributes:
        overall: all facts.
        ignoring_train: no credit for facts known from train.
        frequent: the benchmark's most frequent relations.
        reachable: over the facts that published systems could reach; None where the benchmark has no such
            figure.
        reachable_frequent: its most frequent relations.
        relations: the score of each relation.
        documents: the score of each document by its id, for resampling.
        curve: (recall, precision) at falling thresholds, sampled at a few hundred points.
        average_precision: the area under the whole curve.
        best_f1: the highest F1 along it: what a threshold chosen on the gold itself would reach.
    """

    overall: Score
    ignoring_train: IgnScore
    frequent: Score
    reachable: Score | None
    reachable_frequent: Score | None
    relations: Mapping[str, Score]
    documents: Mapping[str, IgnScore]
    curve: tuple[tuple[float, float], ...]
    average_precision: float
    best_f1: float

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, documents: Mapping[str, IgnScore]) -> "RunScores":
        """What a record keeps of an evaluation that was given the training documents and scores."""
        assert evaluation.ignoring_train is not None and evaluation.curve is not None
        published, best = evaluation.published, evaluation.curve.best
        return cls(
            overall=evaluation.overall,
            ignoring_train=evaluation.ignoring_train,
            frequent=evaluation.frequent,
            reachable=None if published is None else published.overall,
            reachable_frequent=None if published is None else published.frequent,
            relations=evaluation.relations,
            documents=documents,
            curve=evaluation.curve.sampled(CURVE_POINTS),
            average_precision=evaluation.curve.average_precision,
            best_f1=0.0 if best is None else best.f1,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A run that is trained, and its scores.

    Attributes:
        run_id: 16 hexadecimal digits that depend on all that the result depends on.
        config: as `TrainingConfig.to_dict` gives it.
        seconds: that training and scoring took, over all sessions.
        train_documents: how many there were.
        train_facts: how many labels of each relation they had.
        scored: the scores on each set of `test` documents by its name.
        training: steps, the features' report, the loss over time (`history`), the scores after every epoch
            (`development`), and the calibration (`calibration`).
    """

    run_id: str
    config: Mapping[str, Any]
    seconds: float
    train_documents: int
    train_facts: Mapping[str, int]
    scored: Mapping[str, RunScores]
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Of the optimizer."""
        return int(self.training["steps"])

    @property
    def loss(self) -> float | None:
        """The mean over the steps since the last report but one; None if nothing was reported."""
        history = self.training["history"]
        return history[-1]["loss"] if history else None

    def get(self, key: str) -> Any:  # noqa: ANN401
        """The value of a key of the configuration, such as `optimizer.epochs`; None if it has none."""
        value: Any = self.config
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        with open_output(path) as stream:
            stream.write(RECORDS.dump_json(self).decode("utf-8"))

    @classmethod
    def read(cls, path: Path) -> "Record":
        """What `write` wrote.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not such a file.
        """
        return RECORDS.validate_json(path.read_bytes())


RECORDS = TypeAdapter(Record)


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that failed.

    Attributes:
        run_id: of the run.
        reason: in one line.
    """

    run_id: str
    reason: str


def describe_environment() -> dict[str, str | int | None]:
    """Versions and hardware, to be saved beside the weights.

    Example:
        >>> sorted(set(describe_environment()) & {"python", "torch", "unnoted", "platform"})
        ['platform', 'python', 'torch', 'unnoted']
    """
    packages = ("unnoted", "torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy")
    return {
        **{package: _version(package) for package in packages},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
