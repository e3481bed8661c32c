"""What the generated corpus talks about: `vocabulary.yaml`, which explains every field, compiled for use."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

Words = tuple[str, ...]

_DATA: dict[str, Any] = yaml.load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)

SIZES: dict[str, int] = _DATA["sizes"]
CHANCES: dict[str, float] = _DATA["chances"]
TO_PLACE: float = _DATA["to_place"]


@dataclass(frozen=True, slots=True, eq=False)
class EntityKind:
    """What an entity is."""

    number: int
    type: str
    place: bool
    most: int
    new: float
    from_tail: float
    relative: str
    pronouns: list[str]
    descriptions: list[str]


_KINDS = {name: EntityKind(number, **each) for number, (name, each) in enumerate(_DATA["kinds"].items())}
KINDS = list(_KINDS.values())
PERSON, ORGANISATION, WORK = KINDS[:3]
FIRST_KINDS = [_KINDS[name] for name in _DATA["first_kinds"]]

NAMES: dict[str, list[str]] = {
    key: ["".join(parts) for parts in product(*words)] if isinstance(words[0], list) else words
    for key, words in _DATA["names"].items()
}
"""The words that names are made of."""


class Phrase(NamedTuple):
    """A sentence around its two slots.

    Attributes:
        head_first: whether the head stands in the first slot.
        subject: whether the first slot opens the phrase and is its subject, so that a pronoun can stand
            there and a second phrase with the same subject can be joined on.
        words: those before, between and after the slots, at 2 * gender of the head + gender of the tail.
    """

    head_first: bool
    subject: bool
    words: list[tuple[Words, Words, Words]]


def compile_phrase(template: str) -> Phrase:
    """Split a sentence of `vocabulary.yaml` into words.

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
        said = [w[3:-1].split("|")[genders[w[1] == "t"]] if w[0] == "[" else w for w in words]
        forms.append(((*said[:first],), (*said[first + 1 : second],), (*said[second + 1 :],)))
    subject = first == 0 and words[1] != "and"  # "A and B were": A alone is no subject
    return Phrase(words[first] == "{h}", subject, forms)


_role_bits: dict[str, int] = {}


def _mask(roles: Iterable[str]) -> int:
    return sum(_role_bits.setdefault(role, 1 << len(_role_bits)) for role in roles)


class Relation:
    """One relation of the vocabulary. Roles are bit masks, those of head and tail a pair."""

    def __init__(self, number: int, fields: dict[str, Any]) -> None:
        sides = fields.get("head", {}), fields.get("tail", {})
        self.number = number
        self.name: str = fields["name"]
        self.joins = [(_KINDS[head], _KINDS[tail], float(weight)) for head, tail, weight in fields["joins"]]
        self.bars, self.takes = ([_mask(side.get(key, ())) for side in sides] for key in ("bars", "takes"))
        self.fresh: bool = fields.get("fresh", False)
        self.fresh_takes = _mask(fields.get("fresh_takes", ()))
        self.phrases = [compile_phrase(template) for template in fields.get("says", ())]
        # Those whose subject is the tail, and those whose subject is the head.
        self.about = [
            [p for p in self.phrases if p.subject and p.head_first is head] for head in (False, True)
        ]


RELATIONS = {key: Relation(number, each) for number, (key, each) in enumerate(_DATA["relations"].items())}
RELATION_IDS = list(RELATIONS)
NUMBERED = list(RELATIONS.values())
NUMBERS = {key: relation.number for key, relation in RELATIONS.items()}

INVERSES: dict[str, str] = dict(pair[::step] for pair in _DATA["inverses"] for step in (1, -1))
IMPLICATIONS: dict[str, str] = dict(_DATA["implications"])
COMPOSITIONS: list[list[str]] = _DATA["compositions"]

DENIALS, OPENERS, CLOSERS = (
    [tuple(phrase.split()) for phrase in _DATA[key]] for key in ("denials", "openers", "closers")
)
UNREAL = [
    (RELATIONS[denied[0]].joins[0][:2], compile_phrase(says), [NUMBERS[key] for key in denied])
    for says, *denied in _DATA["unreal"]
]
NEUTRAL = [
    ((head, tail), [compile_phrase(template) for template in _DATA["neutral"][types]])
    for head, tail in product(KINDS, repeat=2)
    if (types := f"{head.type} {tail.type}") in _DATA["neutral"]
]
