"""`unnoted rules`: what follows from what, and how complete labels are by it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

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
from unnoted.data.corpus import Corpus
from unnoted.data.loading import load_documents
from unnoted.io import check_output, open_output
from unnoted.rules import ImpliedFacts, MiningLimits, implied_facts, load_rules, mine, noted_shares
from unnoted.rules.proposing import ProposedRule, as_text, proposed
from unnoted.utils import shorten

LENIENT = MiningLimits(support=2, confidence=0.2)
"""What is asked of rules that a person looks at."""


@handle_errors
def rules(
    files: Files,
    given: Annotated[
        str | None,
        typer.Option("--rules", metavar="FILE", help="Judge these rules; `docred` is in the package."),
    ] = None,
    multiplier: Annotated[
        float, typer.Option(min=1, help="True facts for each labelled one, for what is mined.")
    ] = 3.0,
    limit: Annotated[int, typer.Option(min=1, help="How many rules to show.")] = 40,
    vocabulary: Vocabulary = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write them, for a person to choose from.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJSON = False,
) -> None:
    """Propose rules that labels speak for, or judge those that are given.

    A rule that always holds brings labels that nobody noted, tells how complete the labels are, and keeps a
    model's predictions consistent: unnoted rules own.jsonl --to rules.txt, choose, then
    unnoted train best --set rules=rules.txt --set priors=implied --set prior_multiplier=null
    """
    if to is not None:
        check_output(to, files, overwrite)
    corpus = load_documents(*files, vocabulary=read_vocabulary(vocabulary))
    name = corpus.relations.name
    implied = None
    if given is None:
        found = mine(corpus.documents, noted_shares(corpus.labelled_priors * multiplier), LENIENT)
    else:
        found = load_rules(given, corpus.relations, log)
        implied = implied_facts(corpus, found)
    rows = proposed(corpus.documents, found, name, limit if to is None else None)
    if as_json:
        print_text(to_json_text(_as_json(rows, implied)))
    else:
        _print(rows[:limit], corpus, implied)
    if to is not None:
        with open_output(to) as stream:
            stream.write(as_text(rows, name))
        log(f"{len(rows):,} rules written to {to}; take away the # of those that always hold")


def _as_json(rows: Sequence[ProposedRule], implied: ImpliedFacts | None) -> dict[str, object]:
    listed = [{**each.rule.to_json(), "added": each.added, "example": each.example} for each in rows]
    judged = (
        {}
        if implied is None
        else {"implied": asdict(implied) | {"multiplier": implied.multiplier, "interval": implied.interval}}
    )
    return {"rules": listed, **judged}


def _print(rows: Sequence[ProposedRule], corpus: Corpus, implied: ImpliedFacts | None) -> None:
    name, out = corpus.relations.name, console()
    shown = table(None, "rule", "example", "noted", "would add", text=2)
    for each in rows:
        rule = each.rule
        noted = f"{rule.support:,} of {rule.pairs:,}" if rule.pairs else "–"
        shown.add_row(rule.line(name), shorten(each.example), noted, f"{each.added:,}")
    out.print(shown)
    if implied is not None:
        low, high = implied.interval
        out.print(
            f"\nof {implied.implied:,} facts that follow from noted ones {implied.noted:,} are noted "
            f"({100 * implied.share:.0f} %): {implied.multiplier:.2f} true facts for each labelled one "
            f"({low:.2f} to {high:.2f})"
        )
