"""A small random world for each document: its characters, what is stated of them, and the whole truth.

A world grows from one character: each statement starts from somebody already there and reaches another
character, old or new. The same names can so stand in any relation that their types allow.
"""

from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate

from unnoted.data.synthetic.closure import Statement, close
from unnoted.data.synthetic.dice import Dice
from unnoted.data.synthetic.vocabulary import (
    FIRST_KINDS,
    KINDS,
    NAMES,
    NUMBERED,
    ORGANISATION,
    PERSON,
    SIZES,
    TO_PLACE,
    WORK,
    EntityKind,
    Relation,
    Words,
)  # fmt: skip

_MOST_TRIES = 100


@dataclass(slots=True)
class Character:
    """One entity of a world: what it is, and every form under which a document may mention it.

    No other entity of the document has its description. Gender is 0 for all but people.
    """

    kind: EntityKind
    gender: int
    full: Words
    short: str
    description: str
    roles: int = 0


def _steps_from(kind: EntityKind) -> tuple[list[float], list[tuple[Relation, int, EntityKind]]]:
    """Accumulated weights, and every step: a relation, the side to start from, the kind that is reached."""
    weights, steps = [], []
    for relation in NUMBERED:
        for *ends, weight in relation.joins:
            for side in (0, 1):
                if weight and ends[side] is kind:
                    weights.append(weight * (TO_PLACE if side and kind.place else 1.0))
                    steps.append((relation, side, ends[1 - side]))
    return list(accumulate(weights)), steps


_STEPS = [_steps_from(kind) for kind in KINDS]


class World:
    """The characters of one document, the statements in the order of telling, and the complete truth.

    Attributes:
        characters: by entity number.
        of_kind: the entity numbers of each kind.
        statements: what sentences will say, in order.
        truth: every true fact, with the bit mask of the statements it rests on.
    """

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._used = {""}
        self.characters: list[Character] = []
        self.of_kind: list[list[int]] = [[] for _ in KINDS]
        self.statements: list[Statement] = []
        self._grow()
        self.truth = close(self.statements)

    def has_room(self, kind: EntityKind) -> bool:
        """Whether there may be one more of a kind."""
        return len(self.of_kind[kind.number]) < kind.most

    def add_character(self, kind: EntityKind, roles: int = 0) -> int:
        """Bring in a new character, no word of whose name is another's; returns its number."""
        dice = self._dice
        gender = dice.below(2) if kind is PERSON else 0
        short = self._unused("title_nouns" if kind is WORK else "stems")
        full: Words = (short,)
        if kind is PERSON:
            full = (self._unused("given"), short)
        elif kind is WORK:
            full = ("The", self._unused("title_adjectives"), short)
        elif kind is ORGANISATION:
            full = (short, dice.pick(NAMES["organisation_words"]))
        elif dice.chance("longer name of a place"):
            full = (dice.pick(NAMES["place_words"]), short)
        noun = dice.pick(kind.descriptions) if dice.chance("description") else ""
        description = "" if noun in self._used else noun
        self._used.add(noun)
        self.of_kind[kind.number].append(len(self.characters))
        self.characters.append(Character(kind, gender, full, short, description, roles))
        return len(self.characters) - 1

    def _unused(self, pool: str) -> str:
        word = self._dice.pick(NAMES[pool])
        while word in self._used:
            word = self._dice.pick(NAMES[pool])
        self._used.add(word)
        return word

    def _grow(self) -> None:
        dice, characters, statements = self._dice, self.characters, self.statements
        fewest, most = SIZES["fewest_statements"], SIZES["most_statements"]
        wanted = fewest + dice.below(most - fewest + 1)
        head = tail = self.add_character(dice.pick(FIRST_KINDS))
        # Steps that the roles forbid are not taken; the bound only guards against a world with no step left.
        for _ in range(_MOST_TRIES):
            if dice.random() < characters[tail].kind.from_tail:
                start = tail
            else:
                start = head if dice.chance("start from the head") else dice.below(len(characters))
            statement = self._step(start)
            if statement is None or statement in statements:
                continue
            statements.append(statement)
            _, head, tail = statement
            enough = len(statements) >= wanted and len(characters) >= SIZES["fewest_entities"]
            if enough or len(statements) == most:
                return

    def _step(self, start: int) -> Statement | None:
        """One statement from a character, or nothing if the step drawn is not possible."""
        character = self.characters[start]
        weights, steps = _STEPS[character.kind.number]
        relation, side, kind = steps[bisect(weights, self._dice.random() * weights[-1])]
        if character.roles & relation.bars[side]:
            return None
        reached = self._reach(relation, kind, start, relation.bars[1 - side])
        if reached is None:
            return None
        character.roles |= relation.takes[side]
        self.characters[reached].roles |= relation.takes[1 - side]
        return (relation.number, reached, start) if side else (relation.number, start, reached)

    def _reach(self, relation: Relation, kind: EntityKind, start: int, bars: int) -> int | None:
        """The character that a step reaches, if there is one."""
        there = self.of_kind[kind.number]
        if relation.fresh or not there or self._dice.random() < kind.new:
            if self.has_room(kind):
                return self.add_character(kind, relation.fresh_takes)
            if relation.fresh:
                return None
        reached = self._dice.pick(there)
        return None if reached == start or self.characters[reached].roles & bars else reached
