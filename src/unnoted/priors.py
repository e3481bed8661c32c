"""How often each relation holds: labelled, overall, and among the pairs left unlabelled.

The labelled prior π_l of a relation is counted: labelled pairs ÷ candidate pairs. Its overall prior π is
assumed, because nobody can count what is not labelled. All else follows from the two.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

from unnoted.errors import DataError
from unnoted.io import RepeatedKey, TextInput, parse_json, read_whole
from unnoted.utils import nearest, plural, short_repr

SLACK = 1e-9
"""By how much, relatively, an overall prior may fall below the labelled one and be taken for equal to it."""

OTHERS = "*"
"""In a file of priors: every relation that the file does not name."""


@dataclass(frozen=True, slots=True)
class Priors:
    """The labelled and the overall prior of every relation, in the order of the vocabulary.

    A relation without a labelled pair has a labelled prior of 0, and an overall one of 0 unless it is given.
    It has no positive to learn from; its remark in `report` says so.

    Args:
        relations: the relation ids.
        labelled: π_l, the share of candidate pairs that are labelled with the relation.
        overall: π, the share of candidate pairs for which the relation holds; at least π_l and below 1.

    Example:
        >>> labelled = Priors.from_counts(("spouse", "child"), {"spouse": 10}, pairs=1000)
        >>> priors = labelled * 3
        >>> priors.labelled, priors.overall
        ((0.01, 0.0), (0.03, 0.0))
        >>> labelled * 200  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        unnoted.errors.DataError: priors: relation 'spouse': overall prior 2.0, expected ...
    """

    relations: tuple[str, ...]
    labelled: tuple[float, ...]
    overall: tuple[float, ...]

    def __post_init__(self) -> None:
        relations = tuple(self.relations)
        labelled, overall = tuple(map(float, self.labelled)), tuple(map(float, self.overall))
        if not relations or len(set(relations)) < len(relations):
            _refuse(None, short_repr(relations), "one or more different relations")
        if not len(relations) == len(labelled) == len(overall):
            found = f"{len(labelled)} labelled and {len(overall)} overall priors"
            _refuse(None, found, f"one of each for {plural(len(relations), 'relation')}")
        checked = tuple(map(_check_prior, relations, labelled, overall))
        for name, value in (("relations", relations), ("labelled", labelled), ("overall", checked)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_counts(cls, relations: Sequence[str], counts: Mapping[str, int], pairs: int) -> "Priors":
        """Labelled priors from the number of pairs labelled with each relation; the overall ones are equal.

        Args:
            relations: the relation ids; one that `counts` does not name has no labelled pair.
            counts: how many candidate pairs are labelled with each relation.
            pairs: how many candidate pairs there are.
        """
        for relation, count in counts.items():
            _check_known(relation, relations)
            if not 0 <= count <= pairs:
                found = plural(count, "labelled pair")
                _refuse(relation, found, f"0 to {pairs}, the number of candidate pairs")
        labelled = tuple(counts.get(relation, 0) / max(pairs, 1) for relation in relations)
        return cls(tuple(relations), labelled, labelled)

    @classmethod
    def from_file(cls, path: str | Path, labelled: "Priors") -> "Priors":
        """Overall priors from a JSON file, beside the labelled priors of a training set.

        The file is one object. Each key is a relation, or `*` for all relations that it does not name. Each
        value is an overall prior, or how many times the labelled prior it is:

            {"P17": 0.012, "P131": {"multiplier": 5}, "*": {"multiplier": 3}}

        Without `*`, a relation that is not named keeps the overall prior it has in `labelled`.
        """
        try:
            content = parse_json(read_whole(path))
            if isinstance(content, RepeatedKey):
                place = f"key {short_repr(content.key)}"
                raise DataError("twice in one object", "one value", place=place, file="priors")
            if not isinstance(content, dict):
                _refuse(None, short_repr(content), "an object of relation to prior")
            for relation in content:
                if relation != OTHERS:
                    _check_known(relation, labelled.relations)
            overall = []
            for relation, prior, unchanged in zip(
                labelled.relations, labelled.labelled, labelled.overall, strict=True
            ):
                is_given = relation in content or OTHERS in content
                value = content.get(relation, content.get(OTHERS))
                overall.append(_parse_prior(relation, value, prior) if is_given else unchanged)
            return replace(labelled, overall=tuple(overall))
        except DataError as error:
            raise DataError.from_defect(replace(error.defect, file=TextInput(path).name)) from None

    def __mul__(self, multiplier: float) -> "Priors":
        """The same labelled priors with the overall ones multiplied."""
        if not isinstance(multiplier, Real):
            return NotImplemented
        return replace(self, overall=tuple(overall * float(multiplier) for overall in self.overall))

    __rmul__ = __mul__

    @property
    def unlabelled(self) -> tuple[float, ...]:
        """π_u = (π − π_l) / (1 − π_l): how often the relation holds among the pairs not labelled with it."""
        both = zip(self.labelled, self.overall, strict=True)
        return tuple((overall - labelled) / (1 - labelled) for labelled, overall in both)

    @property
    def class_weight(self) -> tuple[float, ...]:
        """γ = ((1 − π) / π)^½, the weight of each class' positives; infinite where π = 0."""
        # Two roots instead of one: 1 / π overflows for the smallest numbers, their roots do not.
        return tuple(math.sqrt(1 - prior) / math.sqrt(prior) if prior else math.inf for prior in self.overall)

    def report(self) -> list[dict[str, Any]]:
        """What is used for each relation, as plain data for tables and JSON."""
        rows = []
        for relation, labelled, overall, unlabelled, weight in zip(
            self.relations, self.labelled, self.overall, self.unlabelled, self.class_weight, strict=True
        ):
            remark = ""
            if labelled == 0:
                remark = "no labelled pair: nothing to estimate the positive terms from"
            if overall == 0:
                remark = "no labelled pair, prior 0: no positive term, every pair counts as a negative"
            rows.append(
                {
                    "relation": relation,
                    "labelled": labelled,
                    "overall": overall,
                    "unlabelled": unlabelled,
                    "weight": weight if overall else None,
                    "remark": remark,
                }
            )
        return rows

    def to_dict(self) -> dict[str, list[str] | list[float]]:
        """Everything, as JSON can hold it; `Priors(**that)` is equal to this."""
        return {
            "relations": list(self.relations),
            "labelled": list(self.labelled),
            "overall": list(self.overall),
        }


def _refuse(relation: str | None, found: str, expected: str) -> NoReturn:
    place = None if relation is None else f"relation {short_repr(relation)}"
    raise DataError(found, expected, place=place, file="priors")


def _check_prior(relation: str, labelled: float, overall: float) -> float:
    """The overall prior, if both are possible; exactly the labelled one where rounding put it just below."""
    for name, value in (("labelled", labelled), ("overall", overall)):
        if not value >= 0:  # also true of NaN
            _refuse(relation, f"{name} prior {value}", "0 or more")
        if value >= 1:
            _refuse(relation, f"{name} prior {value}", "below 1")
    if overall < labelled * (1 - SLACK):
        _refuse(relation, f"overall prior {overall}", f"at least the labelled prior {labelled}")
    return max(labelled, overall)


def _check_known(relation: str, relations: Sequence[str]) -> None:
    if relation not in relations:
        expected = f"one of the {len(relations)} relations" + nearest(relation, relations)
        _refuse(relation, "a relation that is not in the vocabulary", expected)


def _parse_prior(relation: str, value: object, labelled: float) -> float:
    """A prior as a file gives it: a number, or an object that holds a multiplier."""
    unit, number = 1.0, value
    if isinstance(value, dict) and set(value) == {"multiplier"}:
        unit, number = labelled, value["multiplier"]
    if isinstance(number, bool) or not isinstance(number, int | float):
        _refuse(relation, short_repr(value), 'a number or {"multiplier": number}')
    # An integer of a JSON file may be larger than any float.
    return unit * (number if isinstance(number, float) else max(-1e300, min(number, 1e300)))
