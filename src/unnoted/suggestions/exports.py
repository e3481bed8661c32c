"""Suggestions for people and for other programs: rows, a CSV file, a page. None of them can be read back."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnoted.data.document import Document
from unnoted.data.visualization.document_html import FactCell, FactGroup, FactRow, FactTable
from unnoted.data.visualization.pages import DocumentEntry, documents_page
from unnoted.io import open_output
from unnoted.suggestions.suggestion import Suggestion
from unnoted.utils import format_count, plural, require_extra

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped,unused-ignore]

    from unnoted.suggestions.suggestion_file import SuggestionSet

COLUMNS = (
    "document", "head", "head_name", "head_type", "relation", "relation_name", "tail", "tail_name",
    "tail_type", "probability", "confidence", "evidence", "rule", "labelled",
)  # fmt: skip

MOST_DRAWN, MOST_FACTS = 200, 20
"""Documents that a page draws, and suggestions that it shows of one."""


def suggestion_rows(found: "SuggestionSet") -> Iterator[dict[str, Any]]:
    """A row for each suggestion, with the names of what it is about."""
    for each in found.suggestions:
        head, tail = (found.documents[each.document].entities[index] for index in (each.head, each.tail))
        yield {
            "document": each.document,
            "head": each.head, "head_name": head.name, "head_type": head.type,
            "relation": each.relation, "relation_name": found.relations[each.relation][0],
            "tail": each.tail, "tail_name": tail.name, "tail_type": tail.type,
            "probability": each.probability, "confidence": each.confidence,
            "evidence": list(each.evidence), "rule": each.rule, "labelled": each.labelled,
        }  # fmt: skip


def suggestions_frame(found: "SuggestionSet") -> "DataFrame":
    """The suggestions as a pandas frame.

    Raises:
        MissingExtra: pandas is not installed.
    """
    frame: DataFrame = require_extra("pandas", "frames").DataFrame(
        list(suggestion_rows(found)), columns=list(COLUMNS)
    )
    return frame


def write_suggestions_csv(path: Path, found: "SuggestionSet") -> None:
    """Write suggestions as CSV with a line of titles; numbers of sentences are separated by blanks."""
    with open_output(path) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in suggestion_rows(found):
            writer.writerow(row | {"evidence": " ".join(map(str, row["evidence"]))})


def write_suggestions_page(path: Path, found: "SuggestionSet") -> None:
    """Write one page to look at: the documents of the best suggestions first, each with its best ones."""
    by_document: dict[str, list[Suggestion]] = defaultdict(list)
    for each in found.suggestions:
        by_document[each.document].append(each)
    names = {relation: name for relation, (name, _) in found.relations.items()}
    drawn = [
        DocumentEntry(found.documents[name], _table(found.documents[name], listed), names)
        for name, listed in list(by_document.items())[:MOST_DRAWN]
    ]
    page = documents_page("Suggestions", _lines(found, names), drawn, len(by_document))
    with open_output(path) as stream:
        stream.write(page)


def _lines(found: "SuggestionSet", names: dict[str, str]) -> list[str]:
    suggested = sum(not each.labelled for each in found.suggestions)
    lines = [
        f"{plural(suggested, 'probable fact')} that nobody noted, and "
        f"{plural(len(found.suggestions) - suggested, 'labelled fact')} that look wrong, in {found.source}; "
        f"judged by {found.model}."
    ]
    unlisted = found.unlisted
    if unlisted.candidates:
        expected = (
            "" if unlisted.expected is None else f"; {unlisted.expected:,.0f} of them are expected to hold"
        )
        lines.append(f"{format_count(unlisted.candidates)} less probable ones are not listed{expected}.")
    if found.missing:
        most = "; ".join(
            f"{names[each.relation]} {each.missing:,.0f} ({each.low:,.0f} to {each.high:,.0f})"
            for each in found.missing[:10]
        )
        lines.append(f"Labels that are thought to be missing, the most first: {most}.")
    return lines


def _table(document: Document, listed: list[Suggestion]) -> FactTable:
    suggested = [each for each in listed if not each.labelled]
    groups = [
        FactGroup(tuple(map(_line, suggested[:MOST_FACTS])), "suggested", "?", "suggested"),
        FactGroup(
            tuple(_line(each) for each in listed if each.labelled), "labelled, looks wrong", "!", "doubtful"
        ),
        FactGroup(
            tuple(
                FactRow(fact.head, fact.tail, fact.relation, fact.evidence, (FactCell(""), FactCell("")))
                for fact in document.facts
            ),
            "labelled", "✓", "labelled",
        ),
    ]  # fmt: skip
    return FactTable(tuple(group for group in groups if group.rows), ("probability", "rule"))


def _line(each: Suggestion) -> FactRow:
    shown = f"{each.confidence:.2f} (confidence)" if each.probability is None else f"{each.probability:.2f}"
    return FactRow(
        each.head,
        each.tail,
        each.relation,
        each.evidence,
        (FactCell(shown), FactCell(each.rule or "", False)),
    )
