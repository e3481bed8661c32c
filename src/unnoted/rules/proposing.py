"""Rules put before a person: what each would add, with a fact to judge it by.

Labels alone do not tell a rule that always holds from one that often does, nor do scores. Someone who knows
what the relations mean sees it at a glance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from unnoted.data.document import Document
from unnoted.rules.bodies import Namer
from unnoted.rules.closing import Derived, close
from unnoted.rules.rule import Rule, RuleSet


@dataclass(frozen=True, slots=True)
class ProposedRule:
    """A rule, and what it would bring.

    Attributes:
        rule: with how often its conclusion was noted.
        added: facts that it would add to the labels.
        example: one of them, in words; empty where there is none.
    """

    rule: Rule
    added: int
    example: str


def proposed(
    documents: Sequence[Document], rules: RuleSet, name: Namer = str, most: int | None = None
) -> list[ProposedRule]:
    """What each rule would add by itself; those that would add most come first.

    Args:
        documents: with their noted facts.
        rules: mined or written ones.
        name: from the id of a relation to its readable name.
        most: how many rules to give.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.rules.written import written_rules
        >>> documents = list(generate_documents(40))
        >>> (found,) = proposed(documents, written_rules("lives_in(h, t) -> works_in(h, t)"))
        >>> found.added > 0, "| lives_in |" in found.example
        (True, True)
    """
    found = []
    for rule in rules:
        closed = close(documents, rules.kept([rule]), depth=1)
        added = [(each.document, derived) for each in closed for derived in each.derived]
        example = _in_words(*added[0], name) if added else ""
        found.append(ProposedRule(rule, len(added), example))
    return sorted(found, key=lambda each: (-each.added, str(each.rule)))[:most]


def _in_words(document: Document, derived: Derived, name: Namer) -> str:
    """A derived fact with what it rests on: `Porto | country | Portugal -> Porto | located in | Portugal`."""
    facts = [*derived.premises, derived.fact.triple]
    lines = [
        " | ".join((document.entities[head].name, name(relation), document.entities[tail].name))
        for head, tail, relation in facts
    ]
    return f"{' & '.join(lines[:-1])} -> {lines[-1]}"


def as_text(found: Sequence[ProposedRule], name: Namer = str) -> str:
    """Proposed rules as a file in which a person takes away the # of those that always hold.

    Example:
        >>> from unnoted.rules.bodies import Inverse
        >>> print(as_text([ProposedRule(Rule(Inverse("spouse"), "spouse"), 2, "Bo | spouse | Al -> ...")]))
        # Take away the first # of every rule that always holds; `rules: FILE` in a config applies them.
        <BLANKLINE>
        # spouse(t, h) -> spouse(h, t)  # 0 of 0 noted, would add 2: Bo | spouse | Al -> ...
        <BLANKLINE>
    """
    lines = [
        "# Take away the first # of every rule that always holds; `rules: FILE` in a config applies them.",
        "",
    ]
    for each in found:
        rule = each.rule
        remark = f"{rule.support:,} of {rule.pairs:,} noted, would add {each.added:,}: {each.example}"
        lines.append(f"# {rule.line(name)}  # {remark}")
    return "\n".join((*lines, ""))
