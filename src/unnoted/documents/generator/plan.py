"""Which sentences a document has, in which order: statements, joined pairs of them, and distractors."""

from random import Random
from typing import NamedTuple

from unnoted.documents.generator.distractors import Distractor
from unnoted.documents.generator.phrases import HEAD_SUBJECT, STATEMENTS, TAIL_SUBJECT, Phrase, Words
from unnoted.documents.generator.world import Statement, World

_JOIN = 0.75


class Clause(NamedTuple):
    """One phrase and the two entities that it names."""

    phrase: Phrase
    head: int
    tail: int


class SentencePlan(NamedTuple):
    """A sentence to come.

    Attributes:
        clause: its first clause.
        joined: a second clause with the same subject, if there is one.
        opening: words that take the sentence back; empty for a statement.
        statements: bit mask of the statements it makes; zero for a distractor.
    """

    clause: Clause
    joined: Clause | None
    opening: Words
    statements: int


def plan_sentences(world: World, distractors: list[Distractor], random: Random) -> list[SentencePlan]:
    """Order statements and distractors into sentences.

    Statements keep the order in which the world grew, so that a sentence mostly takes up somebody from the
    one before. Distractors fall anywhere after the first sentence.
    """
    draw = random.random
    plans: list[SentencePlan] = []
    statements = world.statements
    position = 0
    while position < len(statements):
        pair = None
        if position + 1 < len(statements) and draw() < _JOIN:
            pair = _joined(statements[position], statements[position + 1], random)
        if pair is None:
            relation, head, tail = statements[position]
            plans.append(
                SentencePlan(Clause(_pick(STATEMENTS[relation], random), head, tail), None, (), 1 << position)
            )
            position += 1
        else:
            plans.append(SentencePlan(pair[0], pair[1], (), 3 << position))
            position += 2
    for distractor in distractors:
        place = 1 + int(draw() * len(plans))
        clause = Clause(distractor.phrase, distractor.head, distractor.tail)
        plans.insert(place, SentencePlan(clause, None, distractor.opening, 0))
    return plans


def _joined(first: Statement, second: Statement, random: Random) -> tuple[Clause, Clause] | None:
    """Two different statements as clauses with a common subject, if they share one entity that can be it."""
    relation, head, tail = first
    next_relation, next_head, next_tail = second
    if relation == next_relation or {head, tail} == {next_head, next_tail}:
        return None
    shared = head if head in (next_head, next_tail) else tail
    clause, joined = _about(shared, first, random), _about(shared, second, random)
    return None if clause is None or joined is None else (clause, joined)


def _about(subject: int, statement: Statement, random: Random) -> Clause | None:
    """A statement as a clause with a certain subject, if it can be said so."""
    relation, head, tail = statement
    if subject == head:
        phrases = HEAD_SUBJECT[relation]
    elif subject == tail:
        phrases = TAIL_SUBJECT[relation]
    else:
        return None
    return Clause(_pick(phrases, random), head, tail) if phrases else None


def _pick(phrases: tuple[Phrase, ...], random: Random) -> Phrase:
    return phrases[int(random.random() * len(phrases))]
