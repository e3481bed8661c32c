"""The predictions of a system, each once, and what is wrong with those that could never be right."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation.gold import Gold, Key

EXAMPLES_SHOWN = 5


class SubmissionError(ValueError):
    """Predictions that cannot be scored as they were asked to be."""


class Fault(Enum):
    """Why a prediction could never be right. It counts against precision all the same."""

    UNKNOWN_DOCUMENT = "the gold has no document of that title"
    NO_SUCH_ENTITY = "the document has no entity of that index"
    SAME_ENTITY = "head and tail are one entity"
    UNKNOWN_RELATION = "the relation is not in the vocabulary"

    @property
    def slug(self) -> str:
        """Its name in tables and JSON."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class Submission:
    """Distinct predictions; of one that is repeated the first counts, with its evidence and its score.

    Args:
        predictions: the distinct predictions.
        repeated: how many were left out because an earlier one claims the same fact.
        faults: those that could never be right.
    """

    predictions: Mapping[Key, Prediction]
    repeated: int
    faults: Mapping[Key, Fault]

    @classmethod
    def of(cls, predictions: Iterable[Prediction], gold: Gold, relations: Collection[str]) -> "Submission":
        """Take predictions in, once each, and look for faults.

        Args:
            predictions: as the system gives them.
            gold: the documents they are about.
            relations: the relations that exist.
        """
        distinct: dict[Key, Prediction] = {}
        count = 0
        for prediction in predictions:
            distinct.setdefault(prediction.key, prediction)
            count += 1
        faults = {
            key: fault
            for key in distinct
            if key not in gold.facts and (fault := find_fault(key, gold, relations)) is not None
        }
        return cls(distinct, count - len(distinct), faults)

    def at_least(self, threshold: float) -> "Submission":
        """The predictions whose score reaches a threshold.

        Raises:
            SubmissionError: a prediction has no score.
            ValueError: the threshold is no number.
        """
        if math.isnan(threshold):
            raise ValueError(f"threshold: found {threshold}, expected a number")
        if not self.is_scored:
            raise SubmissionError("threshold: found predictions without a score, expected a score for each")
        kept = {
            key: prediction
            for key, prediction in self.predictions.items()
            if prediction.score is not None and prediction.score >= threshold
        }
        faults = {key: fault for key, fault in self.faults.items() if key in kept}
        return Submission(kept, self.repeated, faults)

    @property
    def is_scored(self) -> bool:
        """Whether the predictions have scores.

        Raises:
            SubmissionError: some have and some have not.
        """
        scored = sum(prediction.score is not None for prediction in self.predictions.values())
        if 0 < scored < len(self.predictions):
            raise SubmissionError(
                f"predictions: found a score for {scored} of {len(self.predictions)}, expected all or none"
            )
        return scored == len(self.predictions)

    def to_json(self) -> dict[str, Any]:
        """How many there are, and every kind of fault with its first examples."""
        counts = Counter(self.faults.values())
        faults = {
            fault.slug: {
                "meaning": fault.value,
                "count": counts[fault],
                "examples": [list(key) for key in self.examples(fault)],
            }
            for fault in Fault
            if counts[fault]
        }
        return {"distinct": len(self.predictions), "repeated": self.repeated, "faults": faults}

    def examples(self, fault: Fault) -> list[Key]:
        """The first predictions with a fault."""
        return [key for key, found in self.faults.items() if found is fault][:EXAMPLES_SHOWN]


def find_fault(key: Key, gold: Gold, relations: Collection[str]) -> Fault | None:
    """What makes a prediction impossible, the gravest reason first; None if it is possible."""
    title, head, tail, relation = key
    document = gold.documents.get(title)
    if document is None:
        return Fault.UNKNOWN_DOCUMENT
    entities = len(document.entities)
    if not (0 <= head < entities and 0 <= tail < entities):
        return Fault.NO_SUCH_ENTITY
    if head == tail:
        return Fault.SAME_ENTITY
    return None if relation in relations else Fault.UNKNOWN_RELATION
