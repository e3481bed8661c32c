"""What a finished run came to: all that tables, plots and tests of significance need, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, overload

from unnoted.evaluation import IgnScore, Score


@dataclass(frozen=True, slots=True)
class Scored:
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
        curve: (recall, precision) at falling thresholds, thinned to a few hundred points.
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

    def to_json(self) -> dict[str, Any]:
        """The counts, from which most figures follow, and the curve."""
        return {
            "overall": _counts(self.overall),
            "correct_in_train": self.ignoring_train.correct_in_train,
            "frequent": _counts(self.frequent),
            "reachable": None if self.reachable is None else _counts(self.reachable),
            "reachable_frequent": None
            if self.reachable_frequent is None
            else _counts(self.reachable_frequent),
            "relations": {relation: _counts(score) for relation, score in self.relations.items()},
            "documents": {
                document: [*_counts(ign.score), ign.correct_in_train]
                for document, ign in self.documents.items()
            },
            "curve": [list(point) for point in self.curve],
            "average_precision": self.average_precision,
            "best_f1": self.best_f1,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Scored":
        """What `to_json` wrote."""
        overall = Score(*value["overall"])
        return cls(
            overall=overall,
            ignoring_train=IgnScore(overall, value["correct_in_train"]),
            frequent=Score(*value["frequent"]),
            reachable=_score(value["reachable"]),
            reachable_frequent=_score(value["reachable_frequent"]),
            relations={relation: Score(*counts) for relation, counts in value["relations"].items()},
            documents={
                document: IgnScore(Score(*counts[:3]), counts[3])
                for document, counts in value["documents"].items()
            },
            curve=tuple((recall, precision) for recall, precision in value["curve"]),
            average_precision=value["average_precision"],
            best_f1=value["best_f1"],
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A finished run.

    Attributes:
        address: of the run: the name of its folder, which follows from all that the run depends on.
        settings: as `Settings.to_json` gives them.
        seconds: that training and scoring took, over all sessions.
        train_documents: how many there were.
        train_facts: how many labels of each relation they had.
        scored: the figures on each set of documents by its name, `test` and perhaps `dev`.
    """

    address: str
    settings: Mapping[str, Any]
    seconds: float
    train_documents: int
    train_facts: Mapping[str, int]
    scored: Mapping[str, Scored]

    @property
    def placeless(self) -> dict[str, Any]:
        """The settings with files and folders called by their last names alone.

        Runs that stand in one table may have been made in several places.

        Example:
            >>> settings = {"train": ["/here/train.json"], "encoder": "../there/minilm", "epochs": 3}
            >>> Record("0123", settings, 1.0, 0, {}, {}).placeless
            {'train': ['train.json'], 'encoder': 'minilm', 'epochs': 3}
        """
        return {key: _last_names(value) for key, value in self.settings.items()}

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it; `from_json` reads it."""
        return {
            "address": self.address,
            "settings": dict(self.settings),
            "seconds": self.seconds,
            "train_documents": self.train_documents,
            "train_facts": dict(self.train_facts),
            "scored": {name: scored.to_json() for name, scored in self.scored.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Record":
        """What `to_json` wrote."""
        scored = {name: Scored.from_json(figures) for name, figures in value["scored"].items()}
        return cls(**{**value, "scored": scored})


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that did not come to an end.

    Attributes:
        address: of the run.
        reason: in one line.
    """

    address: str
    reason: str


@overload
def _counts(score: Score) -> list[int]: ...
@overload
def _counts(score: None) -> None: ...
def _counts(score: Score | None) -> list[int] | None:
    return None if score is None else [score.correct, score.predicted, score.gold]


def _score(counts: Sequence[int] | None) -> Score | None:
    return None if counts is None else Score(*counts)


def _last_names(value: Any) -> Any:  # noqa: ANN401 - whatever a setting may be
    if isinstance(value, list):
        return [_last_names(each) for each in value]
    return PurePath(value).name if isinstance(value, str) else value
