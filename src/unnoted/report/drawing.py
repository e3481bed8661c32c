"""A document drawn: its sentences with their entities, and beside them what became of each fact."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unnoted.documents.schema import Document, Entity
from unnoted.report.mentions import COLOURS, drawn_mentions, drawn_sentence
from unnoted.report.states import JudgedFact, State, Verdict
from unnoted.report.templating import fill


@dataclass(frozen=True, slots=True)
class Drawing:
    """A document and its judged facts.

    Args:
        document: what is drawn.
        facts: as `judge` gives them.
        methods: titles of the methods whose verdicts are shown.
        relation_names: readable names; a relation without one is shown by its id.
        number: of the drawing in its page, from 1; ids are made from it.
        types: all entity types of the page, in the order of their colours.
    """

    document: Document
    facts: tuple[JudgedFact, ...]
    methods: tuple[str, ...]
    relation_names: Mapping[str, str]
    number: int
    types: tuple[str, ...]

    def sentences(self) -> list[Markup]:
        """The sentences with their mentions."""
        lines = drawn_mentions(self.document, self.types)
        return [
            drawn_sentence(words, mentions)
            for words, mentions in zip(self.document.sentences, lines, strict=True)
        ]

    def groups(self) -> list[tuple[State, list["DrawnFact"]]]:
        """The facts of each state that has any."""
        drawn = [DrawnFact(self, index, fact) for index, fact in enumerate(self.facts)]
        parts = [(state, [one for one in drawn if one.fact.state is state]) for state in State]
        return [(state, part) for state, part in parts if part]

    def summary(self) -> list[tuple[State, int]]:
        """How many facts are in each state."""
        found = Counter(fact.state for fact in self.facts)
        return [(state, found[state]) for state in State]

    def to_html(self) -> Markup:
        """The drawing as an `<article>`."""
        return fill("drawing", drawing=self)


@dataclass(frozen=True, slots=True)
class DrawnFact:
    """A fact of a drawing, with what its row shows."""

    drawing: Drawing
    index: int
    fact: JudgedFact

    @property
    def id(self) -> str:
        """Unique in the page, and safe to link to."""
        return f"document-{self.drawing.number}-fact-{self.index + 1}"

    @property
    def head(self) -> Entity:
        """The head entity."""
        return self.drawing.document.entities[self.fact.triple[0]]

    @property
    def tail(self) -> Entity:
        """The tail entity."""
        return self.drawing.document.entities[self.fact.triple[1]]

    @property
    def relation(self) -> str:
        """The relation as people read it."""
        return self.drawing.relation_names.get(self.fact.triple[2], self.fact.triple[2])

    @property
    def verdicts(self) -> list["DrawnVerdict"]:
        """What each method says, in the order of the columns."""
        return [DrawnVerdict(self.fact.state, self.fact.verdicts[title]) for title in self.drawing.methods]


@dataclass(frozen=True, slots=True)
class DrawnVerdict:
    """A method's verdict as it is written.

    Example:
        >>> drawn = DrawnVerdict(State.FOUND, Verdict(stated=True, probability=0.934))
        >>> drawn.words, drawn.shown
        ('stated', '✓ 0.93')
        >>> DrawnVerdict(State.FOUND, Verdict(stated=False, probability=0.21)).shown
        '(0.21)'
    """

    state: State
    verdict: Verdict

    @property
    def shown(self) -> str:
        """A tick if it is stated and true, a cross if stated and wrong; in brackets if it is not stated."""
        if not self.verdict.stated:
            return f"({self.probability})" if self.probability else "–"
        symbol = State.WRONG.symbol if self.state is State.WRONG else State.FOUND.symbol
        return f"{symbol} {self.probability}"

    @property
    def words(self) -> str:
        """The same for those who listen."""
        return "stated" if self.verdict.stated else "not stated"

    @property
    def probability(self) -> str:
        """With two digits, never rounded up to certainty; empty where the method gave none."""
        if self.verdict.probability is None:
            return ""
        return f"{min(self.verdict.probability, 0.99) if self.verdict.probability < 1 else 1:.2f}"


def entity_types(documents: Iterable[Document]) -> tuple[str, ...]:
    """All types of mentions, sorted."""
    return tuple(
        sorted(
            {
                mention.type
                for document in documents
                for entity in document.entities
                for mention in entity.mentions
            }
        )
    )


def legend(types: Sequence[str], facts: bool = True) -> Markup:
    """What the colours and symbols mean.

    Args:
        types: the entity types, in the order of their colours.
        facts: whether the states of facts are explained as well.
    """
    coloured = [(name, index % COLOURS) for index, name in enumerate(types)]
    return fill("legend", types=coloured, states=list(State) if facts else [])
