"""The generator of the synthetic corpus: entity graph → sentence plans → words.

A document is a small random graph of entities and statements, told in sentences made of a few hundred words
and invented names (`grammar.yaml`). Its facts are the statements and everything that follows from them. Some
hold only across sentences, some only by combining two others; some sentences mention entities without relating
them (distractors), or deny a relation.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from sys import intern
from typing import NamedTuple, TypeVar

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.synthetic.grammar import (
    CHANCES,
    CLOSERS,
    COMPOSITIONS,
    COUNTERFACTUALS,
    DENIALS,
    FIRST_KINDS,
    IMPLICATIONS,
    INVERSES,
    KINDS,
    NAMES,
    NEUTRAL,
    NUMBERED,
    NUMBERS,
    OPENERS,
    ORGANISATION,
    PERSON,
    RELATION_IDS,
    SIZES,
    STEPS,
    WORK,
    EntityKind,
    Phrase,
    Words,
)

T = TypeVar("T")

MOST_TRIES = 100
"""Steps after which a graph is complete whatever its size; the role constraints may leave no step."""

PAIR_TRIES = 6
"""Pairs of entities that are tried for a distractor."""


def generate_documents(documents: int, seed: int = 0, start: int = 0) -> Iterator[Document]:
    """Stream documents with their complete truth.

    Example:
        >>> [document.id for document in generate_documents(2, seed=3, start=5)]
        ['generated-3-5', 'generated-3-6']
    """
    if min(documents, start) < 0:
        raise ValueError(f"documents and start must not be negative: {documents}, {start}")
    return (generate_document(index, seed) for index in range(start, start + documents))


def generate_document(index: int, seed: int = 0) -> Document:
    """One document with its complete truth, which depends on the seed and the index only."""
    choices = Choices.of_document(index, seed)
    graph = EntityGraph(choices)
    plans = plan_sentences(graph, choices)  # which may add entities
    writer = Writer(graph.entities, choices)
    sentences_of: dict[int, set[int]] = {}
    for plan in plans:
        sentences_of |= dict.fromkeys(plan.statements, writer.write(plan))
    facts = []
    for (relation, head, tail), origin in sorted(
        graph.truth.items()
    ):  # does not tell stated facts from derived
        evidence = set().union(*(sentences_of[statement] for statement in origin))
        facts.append(Fact(head, tail, RELATION_IDS[relation], tuple(sorted(evidence))))
    entities = tuple([Entity(tuple(mentions)) for mentions in writer.mentions])
    return Document(f"generated-{seed}-{index}", tuple(writer.sentences), entities, tuple(facts))


class Choices(Random):
    """The random choices of one document."""

    @classmethod
    def of_document(cls, index: int, seed: int) -> "Choices":
        """Those of one document of a corpus."""
        return cls(f"unnoted {seed} {index}")

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1."""
        return int(self.random() * bound)

    def pick(self, things: Sequence[T]) -> T:
        """One of some things."""
        return things[int(self.random() * len(things))]

    def chance(self, event: str) -> bool:
        """Whether an event happens, with its probability in `grammar.yaml`."""
        return self.random() < CHANCES[event]


# The truth ------------------------------------------------------------------------------------------------------

Statement = tuple[int, int, int]
"""A fact as (relation number, head, tail)."""

Origin = frozenset[int]
"""The numbers of the statements that a fact is derived from."""

# What follows from one fact: the relation, and whether head and tail change places.
_UNARY = [
    [
        (NUMBERS[rule[id]], swapped)
        for rule, swapped in ((INVERSES, True), (IMPLICATIONS, False))
        if id in rule
    ]
    for id in NUMBERS
]
# What a relation composes with as the first of two facts (the second, the result), and as the second.
_AS_FIRST = [[(NUMBERS[b], NUMBERS[c]) for a, b, c in COMPOSITIONS if a == id] for id in NUMBERS]
_AS_SECOND = [[(NUMBERS[a], NUMBERS[c]) for a, b, c in COMPOSITIONS if b == id] for id in NUMBERS]


def deductive_closure(statements: list[Statement]) -> dict[Statement, Origin]:
    """The deductive closure of statements under the inverse, implication and composition rules.

    Returns:
        Every true fact, and the statements that it was first derived from. Facts are derived in breadth-first
        order, so a stated fact rests on its own statement, and a derived one on few.

    Example:
        >>> born, located = NUMBERS["born_in"], NUMBERS["located_in"]
        >>> truth = deductive_closure([(born, 0, 1), (located, 1, 2)])
        >>> truth[born, 0, 2] == {0, 1}, len(truth)
        (True, 3)
    """
    truth = {statement: frozenset({number}) for number, statement in enumerate(statements)}
    queue = list(truth)
    # Neighbours of the facts already taken from the queue: each pair of facts meets once, when the later one
    # is taken.
    tails_of: dict[tuple[int, int], list[int]] = {}
    heads_of: dict[tuple[int, int], list[int]] = {}
    for fact in queue:
        relation, head, tail = fact
        origin = truth[fact]
        derived = [
            ((r, tail, head) if swapped else (r, head, tail), origin) for r, swapped in _UNARY[relation]
        ]
        for second, third in _AS_FIRST[relation]:
            ends = tails_of.get((second, tail), ())
            derived += [((third, head, e), origin | truth[second, tail, e]) for e in ends if e != head]
        for first, third in _AS_SECOND[relation]:
            starts = heads_of.get((first, head), ())
            derived += [((third, s, tail), origin | truth[first, s, head]) for s in starts if s != tail]
        if _AS_FIRST[relation]:
            heads_of.setdefault((relation, tail), []).append(head)
        if _AS_SECOND[relation]:
            tails_of.setdefault((relation, head), []).append(tail)
        for new, origin in derived:
            if new not in truth:
                truth[new] = origin
                queue.append(new)
    return truth


# The entity graph -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class GraphEntity:
    """One entity, and every form under which a document may mention it.

    No other entity of the document has its description. Gender is 0 for all but people.
    """

    kind: EntityKind
    gender: int
    full: Words
    short: str
    description: str
    roles: set[str] = field(default_factory=set)


class EntityGraph:
    """The entities of one document, the statements in the order of telling, and the complete truth.

    A graph grows from one entity: each statement starts from an entity already there and reaches another one,
    old or new. So the same names can be in any relation that their types allow.

    Attributes:
        entities: by number.
        of_kind: the entity numbers of each kind.
        statements: what sentences will say, in order.
        truth: every true fact, with the statements it was derived from.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._used = {""}
        self.entities: list[GraphEntity] = []
        self.of_kind: list[list[int]] = [[] for _ in KINDS]
        self.statements: list[Statement] = []
        self._grow()
        self.truth = deductive_closure(self.statements)

    def has_room(self, kind: EntityKind) -> bool:
        """Whether there may be one more of a kind."""
        return len(self.of_kind[kind.number]) < kind.most

    def add_entity(self, kind: EntityKind, roles: Iterable[str] = ()) -> int:
        """Add an entity that shares no word of its name with another; returns its number."""
        choices = self._choices
        gender = choices.below(2) if kind is PERSON else 0
        short = self._choose_unused("title_nouns" if kind is WORK else "stems")
        full: Words = (short,)
        if kind is PERSON:
            full = (self._choose_unused("given"), short)
        elif kind is WORK:
            full = ("The", self._choose_unused("title_adjectives"), short)
        elif kind is ORGANISATION:
            full = (short, choices.pick(NAMES["organisation_words"]))
        elif choices.chance("longer name of a place"):
            full = (choices.pick(NAMES["place_words"]), short)
        noun = choices.pick(kind.descriptions) if choices.chance("description") else ""
        description = "" if noun in self._used else noun
        self._used.add(noun)
        self.of_kind[kind.number].append(len(self.entities))
        self.entities.append(GraphEntity(kind, gender, full, short, description, set(roles)))
        return len(self.entities) - 1

    def _choose_unused(self, pool: str) -> str:
        word = self._choices.pick(NAMES[pool])
        while word in self._used:
            word = self._choices.pick(NAMES[pool])
        self._used.add(word)
        return word

    def _grow(self) -> None:
        choices, statements = self._choices, self.statements
        fewest, most = SIZES["fewest_statements"], SIZES["most_statements"]
        wanted = fewest + choices.below(most - fewest + 1)
        head = tail = self.add_entity(choices.pick(FIRST_KINDS))
        for _ in range(MOST_TRIES):
            if choices.random() < self.entities[tail].kind.from_tail:
                start = tail
            else:
                start = head if choices.chance("start from the head") else choices.below(len(self.entities))
            statement = self._draw_statement(start)
            if statement is None or statement in statements:
                continue
            statements.append(statement)
            _, head, tail = statement
            enough = len(statements) >= wanted and len(self.entities) >= SIZES["fewest_entities"]
            if enough or len(statements) == most:
                return

    def _draw_statement(self, start: int) -> Statement | None:
        """One statement about an entity, or None if the role constraints forbid the one that was drawn."""
        choices, entity = self._choices, self.entities[start]
        weights, steps = STEPS[entity.kind.number]
        relation, side, kind = steps[bisect(weights, choices.random() * weights[-1])]
        if entity.roles & relation.forbids[side]:
            return None
        there = self.of_kind[kind.number]
        if (relation.fresh or not there or choices.random() < kind.new) and self.has_room(kind):
            reached = self.add_entity(kind, relation.fresh_roles)
        elif relation.fresh:
            return None
        else:
            reached = choices.pick(there)
            if reached == start or self.entities[reached].roles & relation.forbids[1 - side]:
                return None
        entity.roles |= relation.adds[side]
        self.entities[reached].roles |= relation.adds[1 - side]
        return (relation.number, reached, start) if side else (relation.number, start, reached)


# Sentence plans -------------------------------------------------------------------------------------------------


class Clause(NamedTuple):
    """One phrase and its two entities."""

    phrase: Phrase
    head: int
    tail: int


class SentencePlan(NamedTuple):
    """A sentence to be written: one clause, or two with the same subject.

    A distractor makes no statement; `denied` are the numbers of the relations that it denies. Its `opening`
    takes back what would otherwise be a statement.
    """

    clauses: list[Clause]
    statements: tuple[int, ...] = ()
    opening: Words = ()
    denied: Iterable[int] = ()


def plan_sentences(graph: EntityGraph, choices: Choices) -> list[SentencePlan]:
    """Order statements and distractors into sentences.

    Statements keep the order in which the graph grew, so that a sentence mostly continues with an entity of
    the one before. Distractors come anywhere after the first sentence.
    """
    distractors = draw_distractors(graph, choices)
    plans: list[SentencePlan] = []
    done = 0
    while done < len(graph.statements):
        first, *rest = graph.statements[done : done + 2]
        clauses = (
            _join_statements(first, rest[0], choices) if rest and choices.chance("joined statements") else []
        )
        if not clauses:
            clauses = [Clause(choices.pick(NUMBERED[first[0]].phrases), *first[1:])]
        plans.append(SentencePlan(clauses, tuple(range(done, done + len(clauses)))))
        done += len(clauses)
    for distractor in distractors:
        plans.insert(1 + choices.below(len(plans)), distractor)
    return plans


def _join_statements(first: Statement, second: Statement, choices: Choices) -> list[Clause]:
    """Two different statements as clauses with a common subject, if they share one entity that can be it."""
    clauses = []
    if first[0] != second[0] and {*first[1:]} != {*second[1:]}:
        subject = first[1] if first[1] in second[1:] else first[2]
        for relation, head, tail in (first, second):
            phrases = NUMBERED[relation].by_subject[subject == head]
            if phrases and subject in (head, tail):
                clauses.append(Clause(choices.pick(phrases), head, tail))
    return clauses if len(clauses) == 2 else []


def draw_distractors(graph: EntityGraph, choices: Choices) -> list[SentencePlan]:
    """Draw sentences that state no fact; they may add entities that no fact is about."""
    drawn = []
    for _ in range(1 + choices.below(SIZES["most_distractors"])):
        neutral = choices.chance("neutral distractor")
        drawn.append(_draw_neutral(graph, choices) if neutral else _draw_denial(graph, choices))
    return [distractor for distractor in drawn if distractor is not None]


def _draw_neutral(graph: EntityGraph, choices: Choices) -> SentencePlan | None:
    """Two unrelated entities side by side."""
    related = {(head, tail) for _, head, tail in graph.truth}
    for _ in range(PAIR_TRIES):
        kinds, phrases = choices.pick(NEUTRAL)
        head, tail = _draw_pair(graph, choices, *kinds)
        if head != tail and not {(head, tail), (tail, head)} & related:
            return SentencePlan([Clause(choices.pick(phrases), head, tail)])
    return None


_STATED = [relation for relation in NUMBERED if relation.phrases]


def _draw_denial(graph: EntityGraph, choices: Choices) -> SentencePlan | None:
    """A relation that is denied or imagined, and does not hold."""
    opening: Words = ()
    if choices.chance("denied statement"):
        relation = choices.pick(_STATED)
        kinds, denied = relation.joins[0][:2], [relation.number]
        opening, phrase = choices.pick(DENIALS), choices.pick(relation.phrases)
    else:
        kinds, phrase, denied = choices.pick(COUNTERFACTUALS)
    for _ in range(PAIR_TRIES):
        head, tail = _draw_pair(graph, choices, *kinds)
        if head != tail and not any((number, head, tail) in graph.truth for number in denied):
            return SentencePlan([Clause(phrase, head, tail)], opening=opening, denied=denied)
    return None


def _draw_pair(
    graph: EntityGraph, choices: Choices, head_kind: EntityKind, tail_kind: EntityKind
) -> tuple[int, int]:
    """Two entities of the given kinds, at most one of them new; the same one twice if there are none."""
    heads, tails = graph.of_kind[head_kind.number], graph.of_kind[tail_kind.number]
    if not heads:
        return 0, 0
    head = choices.pick(heads)
    if graph.has_room(tail_kind) and choices.chance("new entity in a distractor"):
        return head, graph.add_entity(tail_kind)
    return head, choices.pick(tails) if tails else head


# Words ----------------------------------------------------------------------------------------------------------


class Writer:
    """Writes planned sentences word by word.

    Attributes:
        sentences: so far.
        mentions: of each entity in them.
    """

    def __init__(self, entities: list[GraphEntity], choices: Choices) -> None:
        self._choices = choices
        self._entities = entities
        self._words: list[str] = []
        # The entities of the previous sentence, and those of them that are not a pronoun there.
        self._present: list[int] = []
        self._named: list[int] = []
        self.sentences: list[Words] = []
        self.mentions: list[list[Mention]] = [[] for _ in entities]

    def write(self, plan: SentencePlan) -> set[int]:
        """Write a sentence; returns the numbers of the sentences that are needed to understand it."""
        choices, (phrase, head, tail) = self._choices, plan.clauses[0]
        subject = head if phrase.head_first else tail
        entity = self._entities[subject]
        opening = plan.opening or (choices.pick(OPENERS) if choices.chance("opener") else ())
        words = self._words = [*opening, *self._parts(plan.clauses[0])[0]]
        pronoun = phrase.subject and self._is_antecedent(subject) and choices.chance("pronoun")
        if pronoun:
            words += entity.kind.pronouns[entity.gender].split()
        else:
            self._mention(subject)
        present = [subject]
        relative = len(plan.clauses) > 1 and not pronoun and choices.chance("relative clause")
        if relative:
            words += (",", entity.kind.relative)
        for clause in plan.clauses[:-1]:
            present.append(self._finish_clause(clause, relative))
            words.append("," if relative else "and")
        present.append(self._finish_clause(plan.clauses[-1], True))
        if not opening and choices.chance("closer"):  # one remark per sentence is enough
            words += choices.pick(CLOSERS)
        words[0] = intern(words[0][0].upper() + words[0][1:])
        self.sentences.append((*words, "."))
        self._present, self._named = present, present[1:] if pronoun else present
        here = len(self.sentences) - 1
        return {here - 1, here} if pronoun else {here}

    def _parts(self, clause: Clause) -> tuple[Words, Words, Words]:
        """The words of a clause before, between and after its two entities."""
        phrase, head, tail = clause
        return phrase.words[2 * self._entities[head].gender + self._entities[tail].gender]

    def _finish_clause(self, clause: Clause, before_stop: bool) -> int:
        """Write a clause after its subject; returns its other entity."""
        other = clause.tail if clause.phrase.head_first else clause.head
        _, middle, trail = self._parts(clause)
        self._words += middle
        self._mention(other, before_stop and not trail)
        self._words += trail
        return other

    def _is_antecedent(self, number: int) -> bool:
        """Whether a pronoun can only mean this entity: the last sentence names no other of its type."""
        type = self._entities[number].kind.type
        others = [self._entities[other].kind.type for other in self._present if other != number]
        return number in self._named and type not in others

    def _mention(self, number: int, before_stop: bool = False) -> None:
        """Mention an entity: in full and with its description the first time, then in any of its forms."""
        choices, words = self._choices, self._words
        entity, mentions = self._entities[number], self.mentions[number]
        noun, form = entity.description, entity.full
        apposition: Words = ()
        if mentions:
            if noun and choices.chance("description again"):
                form = ("the" if words else "The", noun)
            elif choices.chance("short name again"):
                form = (entity.short,)
        elif noun and before_stop and choices.chance("description behind the name"):
            apposition = (",", "an" if noun[0] in "aeiou" else "a", noun)
        elif noun:
            words += ("the", noun, "of") if entity.kind.place else ("the", noun)
        start, end = len(words), len(words) + len(form)
        words += form + apposition
        mentions.append(Mention(len(self.sentences), start, end, entity.kind.type, " ".join(form)))
