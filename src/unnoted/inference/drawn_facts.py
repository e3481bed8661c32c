"""Predicted facts as they are drawn with their document: the surest first, with their confidences."""

from typing import Any

from unnoted.data.visualization import FactCell, FactGroup, FactLine, FactTable


def fact_table(record: dict[str, Any]) -> FactTable:
    """The facts of one line of extracted JSONL, for `render_document`.

    Example:
        >>> fact = {"head": 0, "tail": 1, "relation": "P26", "confidence": 0.9996, "evidence": [0]}
        >>> table = fact_table({"id": "d1", "facts": [fact]})
        >>> table.columns, next(table.lines()).cells
        (('Confidence',), (FactCell(text='0.999', strong=True, spoken=''),))
    """
    facts = sorted(record["facts"], key=lambda fact: -fact["confidence"])
    columns = ["confidence", *(["probability"] if any("probability" in fact for fact in facts) else [])]
    lines = (
        FactLine(
            fact["head"],
            fact["tail"],
            fact["relation"],
            tuple(fact["evidence"]),
            tuple(FactCell(never_certain(fact.get(column))) for column in columns),
        )
        for fact in facts
    )
    return FactTable((FactGroup(tuple(lines)),), tuple(column.capitalize() for column in columns))


def never_certain(share: float | None) -> str:
    """A number from 0 to 1 with three decimals; only 1 itself is written as 1.

    Example:
        >>> never_certain(0.99996), never_certain(1.0), never_certain(None)
        ('0.999', '1.000', '–')
    """
    if share is None:
        return "–"
    return f"{1 if share >= 1 else min(share, 0.999):.3f}"
