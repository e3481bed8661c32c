"""Which sentences a document has, in which order: statements, joined pairs of them, and distractors.

A distractor states no fact: two unrelated entities side by side, or a relation denied or imagined.
"""

from collections.abc import Iterable
from typing import NamedTuple

from unnoted.data.synthetic.closure import Statement
from unnoted.data.synthetic.dice import Dice
from unnoted.data.synthetic.vocabulary import (
    DENIALS,
    NEUTRAL,
    NUMBERED,
    SIZES,
    UNREAL,
    EntityKind,
    Phrase,
    Words,
)  # fmt: skip
from unnoted.data.synthetic.world import World

_TRIES = 6
_STATED = [relation for relation in NUMBERED if relation.phrases]


class Clause(NamedTuple):
    """One phrase and the two entities that it names."""

    phrase: Phrase
    head: int
    tail: int


class SentencePlan(NamedTuple):
    """A sentence to come: one clause, or two with the same subject.

    A distractor makes no statement, and `denied` are the numbers of the relations that it denies. Its
    `opening` takes back what would else be a statement.
    """

    clauses: list[Clause]
    statements: tuple[int, ...] = ()
    opening: Words = ()
    denied: Iterable[int] = ()


def plan_sentences(world: World, dice: Dice) -> list[SentencePlan]:
    """Order statements and distractors into sentences.

    Statements keep the order in which the world grew, so that a sentence mostly takes up somebody from the
    one before. Distractors fall anywhere after the first sentence.
    """
    distractors = draw_distractors(world, dice)
    plans: list[SentencePlan] = []
    said = 0
    while said < len(world.statements):
        first, *rest = world.statements[said : said + 2]
        clauses = _joined(first, rest[0], dice) if rest and dice.chance("joined statements") else []
        if not clauses:
            clauses = [Clause(dice.pick(NUMBERED[first[0]].phrases), *first[1:])]
        plans.append(SentencePlan(clauses, tuple(range(said, said + len(clauses)))))
        said += len(clauses)
    for distractor in distractors:
        plans.insert(1 + dice.below(len(plans)), distractor)
    return plans


def _joined(first: Statement, second: Statement, dice: Dice) -> list[Clause]:
    """Two different statements as clauses with a common subject, if they share one entity that can be it."""
    clauses = []
    if first[0] != second[0] and {*first[1:]} != {*second[1:]}:
        subject = first[1] if first[1] in second[1:] else first[2]
        for relation, head, tail in (first, second):
            phrases = NUMBERED[relation].about[subject == head]
            if phrases and subject in (head, tail):
                clauses.append(Clause(dice.pick(phrases), head, tail))
    return clauses if len(clauses) == 2 else []


def draw_distractors(world: World, dice: Dice) -> list[SentencePlan]:
    """Draw the distractors of a world; they may bring in characters of whom nothing is true.

    Example:
        >>> world = World(Dice("example"))
        >>> plans = draw_distractors(world, Dice("example"))
        >>> any((relation, *plan.clauses[0][1:]) in world.truth for plan in plans for relation in plan.denied)
        False
    """
    drawn = []
    for _ in range(1 + dice.below(SIZES["most_distractors"])):
        drawn.append(_neutral(world, dice) if dice.chance("neutral distractor") else _denial(world, dice))
    return [distractor for distractor in drawn if distractor is not None]


def _neutral(world: World, dice: Dice) -> SentencePlan | None:
    related = {(head, tail) for _, head, tail in world.truth}
    for _ in range(_TRIES):
        kinds, phrases = dice.pick(NEUTRAL)
        head, tail = _pair(world, dice, *kinds)
        if head != tail and not {(head, tail), (tail, head)} & related:
            return SentencePlan([Clause(dice.pick(phrases), head, tail)])
    return None


def _denial(world: World, dice: Dice) -> SentencePlan | None:
    opening: Words = ()
    if dice.chance("denied statement"):
        relation = dice.pick(_STATED)
        kinds, denied = relation.joins[0][:2], [relation.number]
        opening, phrase = dice.pick(DENIALS), dice.pick(relation.phrases)
    else:
        kinds, phrase, denied = dice.pick(UNREAL)
    for _ in range(_TRIES):
        head, tail = _pair(world, dice, *kinds)
        if head != tail and not any((relation, head, tail) in world.truth for relation in denied):
            return SentencePlan([Clause(phrase, head, tail)], opening=opening, denied=denied)
    return None


def _pair(world: World, dice: Dice, head_kind: EntityKind, tail_kind: EntityKind) -> tuple[int, int]:
    """Two characters of the given kinds, at most one of them new; the same one twice if there are none."""
    heads, tails = world.of_kind[head_kind.number], world.of_kind[tail_kind.number]
    if not heads:
        return 0, 0
    head = dice.pick(heads)
    if world.has_room(tail_kind) and dice.chance("new entity in a distractor"):
        return head, world.add_character(tail_kind)
    return head, dice.pick(tails) if tails else head
