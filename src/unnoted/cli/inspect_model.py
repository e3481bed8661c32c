"""`unnoted inspect`: what is this model, and how was it trained?"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from unnoted.cli.options import AsJSON, console, handle_errors, print_text, table, to_json_text
from unnoted.data.candidates import CandidatePairs
from unnoted.utils import strip_control

LONGEST_LIST = 8
"""Entries up to which a list is shown whole, and of a longer one those that are shown."""


@handle_errors
def inspect(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A trained model: its folder, or its name on the hub.")
    ],
    as_json: AsJSON = False,
) -> None:
    """Show a model's relations and priors, its decision rule, its size and how it was trained.

    The model is loaded, so a folder that is incomplete or damaged is refused here as it would be in use.
    """
    from unnoted.inference.inspection import inspect_model

    description = inspect_model(model)
    if as_json:
        print_text(to_json_text(description))
        return
    out = console()
    rows = table(None, "", "", text=2)
    rows.show_header = False
    for name, value in _rows(description):
        rows.add_row(name, value)
    out.print(rows)
    for name in ("settings", "training", "environment"):
        if description[name] is not None:
            out.print(f"\n[bold]{name}[/bold]")
            for line in _lines(description[name]):
                out.print(f"  {strip_control(line)}", markup=False, soft_wrap=True)
    if description["type_bias"]:
        out.print()
        out.print(_type_bias(description["type_bias"]))
    if description["lexical"]:
        out.print()
        out.print(_lexical(description["lexical"]["words"]))
    out.print()
    out.print(_relations(description["relations"]))


def _rows(description: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    encoder, pairs = description["encoder"], description["architecture"]
    yield (
        "encoder",
        f"{encoder['type']}, {encoder['layers']} layers of width {encoder['width']}, "
        f"{encoder['tokens_at_once']:,} tokens at once, {encoder['parameters']:,} parameters",
    )
    yield (
        "pairs",
        f"{pairs['name']}, embedding {pairs['embedding']}, blocks of {pairs['block']}, "
        f"{pairs['parameters']:,} parameters",
    )
    yield "parameters", f"{description['parameters']:,} in {description['precision']}"
    yield "tokenizer", description["tokenizer"] or "none: cannot read documents"
    yield "candidate pairs", CandidatePairs.from_json(description["candidates"])
    if description["typed_relations"]:
        yield "types", "a relation is predicted between types that it was labelled with (--any-types: any)"
    if description["rules"]:
        yield "rules", f"{len(description['rules'])}, which scores keep to: {description['rules'][0]}, ..."
    if description["lexical"]:
        yield (
            "linear model",
            f"of types, places and words: {description['lexical']['share']:.0%} of the log odds",
        )
    if description["undertrained"]:
        yield "training", description["undertrained"]
    yield "decision", ", ".join(f"{name} {value}" for name, value in description["decision"].items())
    yield (
        "probability",
        _probability(description["calibration"])
        or f"not calibrated: link {description['link']}, margin {description['margin']:g}",
    )
    yield "relations", f"{len(description['relations']):,}"


def _probability(calibration: dict[str, Any] | None) -> str:
    if calibration is None:
        return ""
    expected = ", ".join(f"{name} {value:.3f}" for name, value in calibration["expected"].items())
    return f"calibrated, decision threshold {calibration['threshold']:.3f} (expected {expected})"


def _lines(value: object, name: str = "") -> Iterator[str]:
    """Nested settings, one a line, by dotted name."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _lines(part, f"{name}.{key}" if name else str(key))
    else:
        yield f"{name}: {_shown(value)}"


def _shown(value: object) -> str:
    """A value as one line; of a long list, such as the loss at every report, the last entry."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) > LONGEST_LIST:
        return f"{len(value):,} entries, the last {_shown(value[-1])}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _type_bias(entries: list[dict[str, Any]]) -> Table:
    rows = table("what types alone say", "head", "tail", "relation", "probability", text=3)
    for row in entries:
        rows.add_row(row["head"], row["tail"], row["relation"], f"{row['shown']:.4f}")
    return rows


def _lexical(entries: list[dict[str, Any]]) -> Table:
    rows = table("which words speak for a relation", "relation", "words", text=2)
    for row in entries:
        words = (f"{each['word']} ({each['where']})" for each in row["words"])
        rows.add_row(row["name"], ", ".join(words))
    return rows


def _relations(relations: list[dict[str, Any]]) -> Table:
    typed = any(row["types"] is not None for row in relations)
    columns = ("relation", "name", "types") if typed else ("relation", "name")
    rows = table(None, *columns, "labelled prior", "overall prior", text=len(columns))
    for row in relations:
        name = "" if row["name"] == row["relation"] else row["name"]
        types = [_types(row["types"])] if typed else []
        priors = _prior(row["labelled_prior"]), _prior(row["overall_prior"])
        rows.add_row(row["relation"], name, *types, *priors)
    return rows


def _types(pairs: list[list[str]]) -> str:
    """The types that a relation was labelled with."""
    more = ", …" if len(pairs) > LONGEST_LIST else ""
    return ", ".join(":".join(pair) for pair in pairs[:LONGEST_LIST]) + more or "none labelled"


def _prior(value: float | None) -> str:
    return "none" if value is None else f"{value:.6f}"
