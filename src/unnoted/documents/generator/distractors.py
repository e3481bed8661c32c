"""Sentences that state no fact: two unrelated entities side by side, and relations denied or imagined."""

from random import Random
from typing import NamedTuple

from unnoted.documents.generator.closure import ENTITY_BITS, RELATION_IDS, fact_key
from unnoted.documents.generator.phrases import DENIALS, NEUTRAL, STATEMENTS, UNREAL, Phrase, Words
from unnoted.documents.generator.relations import ENTITY_TYPES, RELATIONS, Kind
from unnoted.documents.generator.world import World

FEWEST_DISTRACTORS = 1
MOST_DISTRACTORS = 3

_NEUTRAL_SHARE = 0.4
_DENIED_STATEMENT_SHARE = 0.6
_NEW_CHARACTER = 0.25
_TRIES = 6
_PAIR_MASK = (1 << 2 * ENTITY_BITS) - 1


class Distractor(NamedTuple):
    """A sentence to come that states no fact.

    Attributes:
        phrase: what it says.
        head: the entity in the phrase's `{h}`.
        tail: the entity in its `{t}`.
        opening: the words that take the phrase back, if it is an ordinary statement.
        denied: numbers of the relations that it denies; empty where it is neutral.
    """

    phrase: Phrase
    head: int
    tail: int
    opening: Words
    denied: tuple[int, ...]


Kinds = tuple[Kind, Kind]


def _kinds_of(relation: int) -> tuple[Kinds, ...]:
    return tuple((s.head, s.tail) for s in RELATIONS[RELATION_IDS[relation]].signatures)


_NEUTRAL_BY_KINDS: tuple[tuple[Kinds, tuple[Phrase, ...]], ...] = tuple(
    ((head, tail), NEUTRAL[types])
    for head in Kind
    for tail in Kind
    if (types := (ENTITY_TYPES[head], ENTITY_TYPES[tail])) in NEUTRAL
)
_DENIED_STATEMENTS: tuple[tuple[Kinds, tuple[Phrase, ...], int], ...] = tuple(
    (_kinds_of(relation)[0], phrases, relation) for relation, phrases in enumerate(STATEMENTS) if phrases
)
_UNREAL_BY_KINDS: tuple[tuple[Kinds, Phrase, tuple[int, ...]], ...] = tuple(
    (_kinds_of(denied[0])[0], phrase, denied) for phrase, denied in UNREAL
)


def draw_distractors(world: World, random: Random) -> list[Distractor]:
    """Draw the distractors of a world; they may bring in characters of whom nothing is true.

    Example:
        >>> world = World(Random("example"))
        >>> distractors = draw_distractors(world, Random("example"))
        >>> any(fact_key(r, d.head, d.tail) in world.truth for d in distractors for r in d.denied)
        False
    """
    draw = random.random
    wanted = FEWEST_DISTRACTORS + int(draw() * (MOST_DISTRACTORS - FEWEST_DISTRACTORS + 1))
    related = {key & _PAIR_MASK for key in world.truth}
    distractors = []
    for _ in range(wanted):
        if draw() < _NEUTRAL_SHARE:
            distractor = _neutral(world, random, related)
        elif draw() < _DENIED_STATEMENT_SHARE:
            kinds, phrases, relation = _DENIED_STATEMENTS[int(draw() * len(_DENIED_STATEMENTS))]
            opening = DENIALS[int(draw() * len(DENIALS))]
            phrase = phrases[int(draw() * len(phrases))]
            distractor = _denial(world, random, kinds, phrase, opening, (relation,))
        else:
            kinds, phrase, denied = _UNREAL_BY_KINDS[int(draw() * len(_UNREAL_BY_KINDS))]
            distractor = _denial(world, random, kinds, phrase, (), denied)
        if distractor is not None:
            distractors.append(distractor)
    return distractors


def _neutral(world: World, random: Random, related: set[int]) -> Distractor | None:
    draw = random.random
    for _ in range(_TRIES):
        kinds, phrases = _NEUTRAL_BY_KINDS[int(draw() * len(_NEUTRAL_BY_KINDS))]
        pair = _pair(world, random, kinds)
        if pair is None:
            continue
        head, tail = pair
        if fact_key(0, head, tail) not in related and fact_key(0, tail, head) not in related:
            return Distractor(phrases[int(draw() * len(phrases))], head, tail, (), ())
    return None


def _denial(
    world: World, random: Random, kinds: Kinds, phrase: Phrase, opening: Words, denied: tuple[int, ...]
) -> Distractor | None:
    for _ in range(_TRIES):
        pair = _pair(world, random, kinds)
        if pair is None:
            continue
        head, tail = pair
        if not any(fact_key(relation, head, tail) in world.truth for relation in denied):
            return Distractor(phrase, head, tail, opening, denied)
    return None


def _pair(world: World, random: Random, kinds: Kinds) -> tuple[int, int] | None:
    """Two different characters of the given kinds, at most one of them new."""
    draw = random.random
    heads, tails = world.of_kind[kinds[0]], world.of_kind[kinds[1]]
    if not heads:
        return None
    head = heads[int(draw() * len(heads))]
    if world.has_room(kinds[1]) and draw() < _NEW_CHARACTER:
        return head, world.add_character(kinds[1])
    if not tails:
        return None
    tail = tails[int(draw() * len(tails))]
    return None if head == tail else (head, tail)
