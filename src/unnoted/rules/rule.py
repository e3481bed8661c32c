"""A rule: from facts of a document to another fact, with how far it is to be trusted and why."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from unnoted.errors import DataError, Defect, Kind
from unnoted.io import TextInput, open_output, parse_json, read_whole
from unnoted.rules.bodies import Namer, RuleBody, body_of
from unnoted.rules.constraints import Constraints
from unnoted.utils import short_repr

FORMAT = 1
"""Of files of rules."""


@dataclass(frozen=True, slots=True)
class Rule:
    """If the body holds for head and tail, the conclusion does.

    Attributes:
        body: what must hold.
        conclusion: the relation that follows, from head to tail.
        confidence: how often it does, estimated.
        low: its lower bound: what the rule was kept for.
        support: pairs for which body and conclusion were both noted.
        pairs: pairs for which the body was noted.
        lift: how many times as often the conclusion was noted with the body as among pairs of the same types.

    Example:
        >>> from unnoted.rules.bodies import TwoStep
        >>> print(Rule(TwoStep("born in", "country"), "citizen of", 0.9, 0.8, 40, 49, 12.0))
        born in(h, k) & country(k, t) -> citizen of(h, t)
    """

    body: RuleBody
    conclusion: str
    confidence: float = 1.0
    low: float = 0.0
    support: int = 0
    pairs: int = 0
    lift: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence of {self}: found {self.confidence}, expected 0 to 1")

    def __str__(self) -> str:
        return self.line()

    def line(self, name: Namer = str) -> str:
        """The rule as people read it."""
        return f"{self.body.line(name)} -> {name(self.conclusion)}(h, t)"

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON can hold it."""
        numbers = {name: getattr(self, name) for name in ("confidence", "low", "support", "pairs", "lift")}
        return {
            "kind": self.body.kind,
            "premises": list(self.body.relations),
            "conclusion": self.conclusion,
            **numbers,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Rule":
        """What `to_json` gave."""
        rest = {name: value for name, value in content.items() if name not in ("kind", "premises")}
        return cls(body_of(content["kind"], content["premises"]), **rest)


@dataclass(frozen=True, slots=True)
class RuleSet(Sequence[Rule]):
    """Rules, and the constraints that whatever they conclude must keep to."""

    rules: tuple[Rule, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> "RuleSet": ...
    def __getitem__(self, index: int | slice) -> "Rule | RuleSet":
        if isinstance(index, slice):
            return replace(self, rules=self.rules[index])
        return self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def kept(self, rules: Sequence[Rule]) -> "RuleSet":
        """Other rules under the same constraints, the surest first."""
        order = sorted(rules, key=lambda rule: (-rule.low, -rule.support, str(rule)))
        return replace(self, rules=tuple(order))

    def lines(self, name: Namer = str) -> list[str]:
        """A readable line for each rule."""
        return [
            f"{rule.confidence:.2f} (at least {rule.low:.2f}, {rule.support} of {rule.pairs} noted)"
            f"  {rule.line(name)}"
            for rule in self.rules
        ]

    def save(self, path: str | Path) -> None:
        """Write everything as JSON."""
        allowed = self.constraints.types
        types = {name: sorted(map(list, pairs)) for name, pairs in sorted((allowed or {}).items())}
        content = {
            "format": FORMAT,
            "rules": [rule.to_json() for rule in self.rules],
            "types": None if allowed is None else types,
            "functional": sorted(self.constraints.functional),
        }
        with open_output(Path(path)) as stream:
            json.dump(content, stream, indent=1, ensure_ascii=False)
            stream.write("\n")

    @classmethod
    def load(cls, path: str | Path) -> "RuleSet":
        """What `save` wrote.

        Raises:
            DataError: names the file and what it holds instead.
        """
        content = parse_json(read_whole(path))
        file, expected = TextInput(path).name, f"rules in format {FORMAT}, as RuleSet.save writes them"
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DataError(Defect(Kind.MALFORMED, file, None, "format", short_repr(content), expected))
        place = "rules"
        try:
            rules = []
            for number, each in enumerate(content["rules"]):
                place = f"rules[{number}]"
                rules.append(Rule.from_json(each))
            place = "types"
            given = content["types"]
            types = given and {name: frozenset(map(_pair, pairs)) for name, pairs in given.items()}
            place = "functional"
            functional = frozenset(map(_text, content["functional"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                Defect(Kind.MALFORMED, file, None, place, short_repr(str(error)), expected)
            ) from None
        return cls(tuple(rules), Constraints(types, functional))


def _pair(types: Sequence[str]) -> tuple[str, str]:
    head, tail = map(_text, types)
    return head, tail


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {short_repr(value)}, expected a string")
    return value
