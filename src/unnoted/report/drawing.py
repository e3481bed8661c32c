"""A document of the demonstration: drawn with what became of each of its facts."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from unnoted.data.document import Document
from unnoted.data.visualization import (
    FactCell,
    FactGroup,
    FactRow,
    FactTable,
    render_document,
    render_types,
)
from unnoted.inference import ExtractedFact
from unnoted.report.judged_facts import JudgedFact, State
from unnoted.report.page import fill


def draw_document(
    document: Document,
    facts: Sequence[JudgedFact],
    relation_names: Mapping[str, str] | None = None,
    number: int = 1,
    types: Sequence[str] | None = None,
) -> Markup:
    """A document and its facts as an `<article>` of a page of this room.

    Args:
        document: what is drawn.
        facts: as `judge` gives them.
        relation_names: readable names; a relation without one is shown by its id.
        number: of the drawing in its page, from 1; ids are made from it.
        types: all entity types of the page, in the order of their colours; by default the document's own.
    """
    table = judged_table(facts)
    drawn = render_document(document, table, names=relation_names, types=types, anchor=f"document-{number}")
    return fill("drawing", document=document, table=table, drawn=drawn, drawn_facts=len(facts), number=number)


def judged_table(facts: Sequence[JudgedFact]) -> FactTable:
    """The facts by what became of them, with a column for each method."""
    methods = tuple(facts[0].found) if facts else ()
    groups = (
        FactGroup(
            tuple(_line(fact) for fact in facts if fact.state is state),
            state.title,
            state.symbol,
            state.name.lower(),
        )
        for state in State
    )
    return FactTable(tuple(groups), methods)


def _line(fact: JudgedFact) -> FactRow:
    cells = tuple(verdict(found, fact.state) for found in fact.found.values())
    return FactRow(*fact.triple, fact.evidence, cells)


def verdict(found: ExtractedFact | None, state: State) -> FactCell:
    """A tick if predicted and true, a cross if predicted and wrong, in brackets if not predicted.

    A score is never rounded up to 1.

    Example:
        >>> verdict(None, State.MISSED).text
        '–'
        >>> verdict(ExtractedFact(0, 1, "P26", "spouse", 0.999), State.FOUND)
        FactCell(text='✓ 0.99', strong=True, spoken='predicted')
    """
    if found is None:
        return FactCell("–", False, "not predicted")
    written = f"{1 if found.score >= 1 else min(found.score, 0.99):.2f}"
    if not found.decided:
        return FactCell(f"({written})", False, "not predicted")
    return FactCell(f"{'✗' if state is State.WRONG else '✓'} {written}", True, "predicted")


def legend(types: Sequence[str]) -> Markup:
    """What the symbols of facts and the colours of entity types mean."""
    return fill("legend", types=render_types(types) if types else "", states=list(State))
