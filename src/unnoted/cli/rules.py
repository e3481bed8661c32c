"""`unnoted rules`: rules between relations, what they imply of the labels, and proposals."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.options import (
    AsJSON,
    Files,
    Overwrite,
    Vocabulary,
    console,
    handle_errors,
    log,
    print_text,
    read_vocabulary,
    table,
    to_json_text,
)
from unnoted.data.loading import load_documents
from unnoted.io import lock_output, open_output
from unnoted.rules import (
    ImpliedFrequency,
    ProposedRule,
    RuleFrequencies,
    implied_frequencies,
    load_rules,
    proposals_text,
    propose_rules,
)
from unnoted.utils import shorten


@handle_errors
def show(
    files: Files,
    rules: Annotated[
        Path, typer.Option("--rules", metavar="FILE", help="A rule a line (docs/concepts/best.md#rules).")
    ],
    vocabulary: Vocabulary = None,
    as_json: AsJSON = False,
) -> None:
    """Show what each rule implies of the labels: how many of its conclusions are labelled.

    If a rule always holds, facts that it implies and that are not labelled are missing. The multiplier says how
    many true facts there are for each labelled one by this rule. Where rules differ, none of them is the
    multiplier of all labels; a review estimates that.
    """
    corpus = load_documents(*files, vocabulary=read_vocabulary(vocabulary))
    found = implied_frequencies(corpus, load_rules(rules, corpus.relations, log))
    if as_json:
        print_text(to_json_text(_frequencies_json(found)))
        return
    name, out = corpus.relations.name, console()
    rows = table(None, "rule", "implied", "labelled", "multiplier", "90 % interval", text=1)
    order = sorted(zip(found.rules, found.by_rule, strict=True), key=lambda row: -row[1].implied)
    for rule, each in order:
        rows.add_row(shorten(rule.to_text(name)), *_figures(each))
    rows.add_row("all rules together", *_figures(found.together))
    out.print(rows)
    low, high = found.spread
    out.print(f"\nwithout any one rule, the multiplier of all lies between {low:.2f} and {high:.2f}")


@handle_errors
def propose(
    files: Files,
    multiplier: Annotated[float, typer.Option(min=1, help="True facts for each labelled one.")] = 3.0,
    limit: Annotated[int, typer.Option(min=1, help="How many rules to show.")] = 40,
    vocabulary: Vocabulary = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write them, for a person to choose from.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJSON = False,
) -> None:
    """Propose rules that labels speak for. A person chooses those that always hold.

    An example: unnoted rules propose own.jsonl --to rules.txt, choose in rules.txt, then
    unnoted train best --train own.jsonl --rules rules.txt
    """
    with lock_output(*([to] if to else []), inputs=files, overwrite=overwrite):
        corpus = load_documents(*files, vocabulary=read_vocabulary(vocabulary))
        name = corpus.relations.name
        found = propose_rules(corpus.documents, multiplier, name=name, limit=limit if to is None else None)
        if as_json:
            print_text(to_json_text({"rules": [_proposal_json(each) for each in found]}))
        else:
            _print_proposals(found[:limit], name)
        if not found:
            log("note: the labels speak for no rule; there may be too few of them")
        if to is not None:
            with open_output(to) as stream:
                stream.write(proposals_text(found, name))
            log(f"{len(found):,} rules written to {to}; remove the # of those that always hold")


def _figures(each: ImpliedFrequency) -> tuple[str, ...]:
    interval = f"{each.low:.2f} to {each.high:.2f}"
    return f"{each.implied:,}", f"{each.labelled:,}", f"{each.multiplier:.2f}", interval


def _frequencies_json(found: RuleFrequencies) -> dict[str, Any]:
    def figures(each: ImpliedFrequency) -> dict[str, Any]:
        high = each.high if math.isfinite(each.high) else None
        return asdict(each) | {"high": high, "multiplier": each.multiplier}

    rules = [rule.to_json() | figures(each) for rule, each in zip(found.rules, found.by_rule, strict=True)]
    return {"rules": rules, "together": figures(found.together), "spread": found.spread}


def _proposal_json(each: ProposedRule) -> dict[str, Any]:
    return each.rule.to_json() | {key: value for key, value in asdict(each).items() if key != "rule"}


def _print_proposals(found: Sequence[ProposedRule], name: Any) -> None:  # noqa: ANN401
    if not found:
        return
    rows = table(None, "rule", "example", "labelled", "would add", text=2)
    for each in found:
        labelled = f"{each.support:,} of {each.pairs:,}"
        rows.add_row(each.rule.to_text(name), shorten(each.example), labelled, f"{each.added:,}")
    console().print(rows)
