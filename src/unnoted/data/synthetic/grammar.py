"""The grammar of the synthetic corpus: `grammar.yaml`, which explains every field, compiled for use."""

from dataclasses import dataclass
from itertools import accumulate, product
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

Words = tuple[str, ...]

_DATA: dict[str, Any] = yaml.load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)

SIZES: dict[str, int] = _DATA["sizes"]
CHANCES: dict[str, float] = _DATA["chances"]


@dataclass(frozen=True, slots=True, eq=False)
class EntityKind:
    """A kind of entity; see `grammar.yaml`."""

    number: int
    type: str
    place: bool
    most: int
    new: float
    from_tail: float
    relative: str
    pronouns: list[str]
    descriptions: list[str]


_KINDS = {name: EntityKind(number, **fields) for number, (name, fields) in enumerate(_DATA["kinds"].items())}
KINDS = list(_KINDS.values())
PERSON, ORGANISATION, WORK = KINDS[:3]
FIRST_KINDS = [_KINDS[name] for name in _DATA["first_kinds"]]

NAMES: dict[str, list[str]] = {
    key: ["".join(parts) for parts in product(*words)] if isinstance(words[0], list) else words
    for key, words in _DATA["names"].items()
}
"""The words that names are made of."""


class Phrase(NamedTuple):
    """A sentence with two slots.

    Attributes:
        head_first: whether the head is in the first slot.
        subject: whether the first slot begins the phrase and is its subject, so that a pronoun can replace it
            and a second phrase with the same subject can be joined on.
        words: before, between and after the slots, at 2 * gender of the head + gender of the tail.
    """

    head_first: bool
    subject: bool
    words: list[tuple[Words, Words, Words]]


def compile_phrase(template: str) -> Phrase:
    """Split a sentence of `grammar.yaml` into words.

    Example:
        >>> phrase = compile_phrase("{t} was the [t:father|mother] of {h}")
        >>> phrase.head_first, phrase.subject, phrase.words[1]
        (False, True, ((), ('was', 'the', 'mother', 'of'), ()))
    """
    words = template.split()
    first, second = sorted((words.index("{h}"), words.index("{t}")))
    forms = []
    for genders in product((0, 1), repeat=2):
        # [h:son|daughter] without its brackets and slot, by the gender of that slot.
        chosen = [w[3:-1].split("|")[genders[w[1] == "t"]] if w[0] == "[" else w for w in words]
        forms.append(((*chosen[:first],), (*chosen[first + 1 : second],), (*chosen[second + 1 :],)))
    subject = first == 0 and words[1] != "and"  # "A and B were": A alone is no subject
    return Phrase(words[first] == "{h}", subject, forms)


class Relation:
    """One relation, with its phrases and role constraints; those of head and tail are a pair."""

    def __init__(self, number: int, fields: dict[str, Any]) -> None:
        sides = fields.get("head", {}), fields.get("tail", {})
        self.number = number
        self.name: str = fields["name"]
        self.joins = [(_KINDS[head], _KINDS[tail], float(weight)) for head, tail, weight in fields["joins"]]
        self.forbids, self.adds = (
            [frozenset(side.get(key, ())) for side in sides] for key in ("forbids", "adds")
        )
        self.fresh: bool = fields.get("fresh", False)
        self.fresh_roles = frozenset(fields.get("fresh_roles", ()))
        self.phrases = [compile_phrase(template) for template in fields.get("says", ())]
        # Those whose subject is the tail, and those whose subject is the head.
        self.by_subject = [
            [phrase for phrase in self.phrases if phrase.subject and phrase.head_first is head]
            for head in (False, True)
        ]


RELATIONS = {id: Relation(number, fields) for number, (id, fields) in enumerate(_DATA["relations"].items())}
RELATION_IDS = list(RELATIONS)
NUMBERED = list(RELATIONS.values())
NUMBERS = {id: relation.number for id, relation in RELATIONS.items()}

INVERSES: dict[str, str] = dict(pair[::step] for pair in _DATA["inverses"] for step in (1, -1))
IMPLICATIONS: dict[str, str] = dict(_DATA["implications"])
COMPOSITIONS: list[list[str]] = _DATA["compositions"]

DENIALS, OPENERS, CLOSERS = (
    [tuple(phrase.split()) for phrase in _DATA[key]] for key in ("denials", "openers", "closers")
)
COUNTERFACTUALS = [
    (RELATIONS[denied[0]].joins[0][:2], compile_phrase(says), [NUMBERS[id] for id in denied])
    for says, *denied in _DATA["counterfactuals"]
]
NEUTRAL = [
    ((head, tail), [compile_phrase(template) for template in _DATA["neutral"][types]])
    for head, tail in product(KINDS, repeat=2)
    if (types := f"{head.type} {tail.type}") in _DATA["neutral"]
]

Step = tuple[Relation, int, EntityKind]
"""A relation, the side to start from (0: the head), and the kind of entity on the other side."""


def _steps_from(kind: EntityKind) -> tuple[list[float], list[Step]]:
    """The accumulated weights of the steps from an entity of a kind, and the steps."""
    weights: list[float] = []
    steps: list[Step] = []
    for relation in NUMBERED:
        for *ends, weight in relation.joins:
            for side in (0, 1):
                if weight and ends[side] is kind:
                    weights.append(weight * (_DATA["to_place"] if side and kind.place else 1.0))
                    steps.append((relation, side, ends[1 - side]))
    return list(accumulate(weights)), steps


STEPS = [_steps_from(kind) for kind in KINDS]
"""By the number of a kind."""


def relation_names() -> dict[str, str]:
    """The readable names of the relations."""
    return {id: relation.name for id, relation in RELATIONS.items()}
