"""A small random world for each document: its characters, what is stated of them, and the whole truth.

A world grows from one character: each statement starts from somebody already there and reaches another
character, old or new. The same names can so stand in any relation that their types allow.
"""

from bisect import bisect
from dataclasses import dataclass
from random import Random

from unnoted.documents.generator.closure import NUMBERS, close, fact_key
from unnoted.documents.generator.names import Character, NameSource
from unnoted.documents.generator.relations import RELATIONS, Kind, Relation

Statement = tuple[int, int, int]
"""(relation number, head, tail)."""

FEWEST_STATEMENTS = 9
MOST_STATEMENTS = 15
FEWEST_CHARACTERS = 8
_MOST_TRIES = 100

# By kind: how many there may be in a document, and how readily a statement brings in a new one.
_MOST_OF_KIND = (7, 4, 4, 4, 3)
_NEW_OF_KIND = (0.45, 0.40, 0.50, 0.50, 0.20)

_FIRST_KINDS = (Kind.PERSON, Kind.PERSON, Kind.PERSON, Kind.ORGANISATION, Kind.WORK, Kind.CITY)

# A statement starts from the last statement's tail, from its head, or from anybody. A place or an
# organisation just reached is mostly taken up at once: that makes the chains in which facts combine.
_FROM_TAIL_OF_KIND = (0.2, 0.5, 0.3, 0.6, 0.1)
_FROM_HEAD = 0.5

# A place says where it lies rather than who came from it; else everything would happen in one city.
_TO_PLACE = 0.4

_ROLE_BITS: dict[str, int] = {}


def _role_mask(roles: tuple[str, ...]) -> int:
    mask = 0
    for role in roles:
        mask |= _ROLE_BITS.setdefault(role, 1 << len(_ROLE_BITS))
    return mask


@dataclass(frozen=True, slots=True)
class _Step:
    """One way to go on from a character: a relation, the side the character is on, the kind it reaches."""

    relation: int
    from_head: bool
    kind: Kind
    fresh: bool
    bars: int
    takes: int
    other_bars: int
    other_takes: int
    fresh_takes: int


def _steps_from(kind: Kind) -> tuple[list[float], list[_Step]]:
    """Every step from a kind, with the accumulated weights to draw one by."""

    def step(relation: Relation, from_head: bool, reached: Kind) -> _Step:
        own, other = relation.head_roles, relation.tail_roles
        if not from_head:
            own, other = other, own
        masks = (_role_mask(r) for r in (own.bars, own.takes, other.bars, other.takes, relation.fresh_takes))
        return _Step(NUMBERS[relation.id], from_head, reached, relation.fresh, *masks)

    accumulated: list[float] = []
    steps: list[_Step] = []
    total = 0.0
    for relation in RELATIONS.values():
        for signature in relation.signatures:
            if signature.weight == 0:
                continue
            if signature.head == kind:
                total += signature.weight
                accumulated.append(total)
                steps.append(step(relation, True, signature.tail))
            if signature.tail == kind:
                total += signature.weight * (_TO_PLACE if kind >= Kind.CITY else 1.0)
                accumulated.append(total)
                steps.append(step(relation, False, signature.head))
    return accumulated, steps


_STEPS = tuple(_steps_from(kind) for kind in Kind)


class World:
    """The characters of one document, the statements in the order of telling, and the complete truth.

    Attributes:
        characters: by entity number.
        of_kind: the entity numbers of each kind.
        statements: what sentences will say, in order.
        truth: every true fact's key, with the bit mask of the statements it rests on.
    """

    __slots__ = ("_names", "_random", "characters", "of_kind", "statements", "truth")

    def __init__(self, random: Random) -> None:
        self._random = random.random
        self._names = NameSource(random)
        self.characters: list[Character] = []
        self.of_kind: tuple[list[int], ...] = ([], [], [], [], [])
        self.statements: list[Statement] = []
        self._grow()
        self.truth: dict[int, int] = close([fact_key(*statement) for statement in self.statements])

    def add_character(self, kind: Kind) -> int:
        """Bring in a new character; returns its number."""
        number = len(self.characters)
        self.characters.append(self._names.draw(kind))
        self.of_kind[kind].append(number)
        return number

    def has_room(self, kind: Kind) -> bool:
        """Whether there may be one more of a kind."""
        return len(self.of_kind[kind]) < _MOST_OF_KIND[kind]

    def _grow(self) -> None:
        random = self._random
        wanted = FEWEST_STATEMENTS + int(random() * (MOST_STATEMENTS - FEWEST_STATEMENTS + 1))
        head = tail = self.add_character(_FIRST_KINDS[int(random() * len(_FIRST_KINDS))])
        told: set[Statement] = set()
        # Steps that the roles forbid are not taken; the bound only guards against a world with no step left.
        for _ in range(_MOST_TRIES):
            if random() < _FROM_TAIL_OF_KIND[self.characters[tail].kind]:
                start = tail
            elif random() < _FROM_HEAD:
                start = head
            else:
                start = int(random() * len(self.characters))
            statement = self._step(start)
            if statement is not None and statement not in told:
                told.add(statement)
                self.statements.append(statement)
                _, head, tail = statement
                if self._is_complete(wanted):
                    return

    def _is_complete(self, wanted: int) -> bool:
        told = len(self.statements)
        return told == MOST_STATEMENTS or (told >= wanted and len(self.characters) >= FEWEST_CHARACTERS)

    def _step(self, start: int) -> Statement | None:
        """One statement from a character, or nothing if the step drawn is not possible."""
        random = self._random
        character = self.characters[start]
        accumulated, steps = _STEPS[character.kind]
        step = steps[bisect(accumulated, random() * accumulated[-1])]
        if character.roles & step.bars:
            return None
        reached = self._reach(step, start)
        if reached < 0:
            return None
        character.roles |= step.takes
        self.characters[reached].roles |= step.other_takes
        return (step.relation, start, reached) if step.from_head else (step.relation, reached, start)

    def _reach(self, step: _Step, start: int) -> int:
        """The character that a step reaches, or -1."""
        random = self._random
        there = self.of_kind[step.kind]
        if step.fresh or not there or random() < _NEW_OF_KIND[step.kind]:
            if len(there) < _MOST_OF_KIND[step.kind]:
                reached = self.add_character(step.kind)
                self.characters[reached].roles = step.fresh_takes
                return reached
            if step.fresh:
                return -1
        reached = there[int(random() * len(there))]
        if reached == start or self.characters[reached].roles & step.other_bars:
            return -1
        return reached
