"""Horn rules by which facts follow from facts: written by a person, proposed from labels, applied."""

from unnoted.rules.label_frequency import ImpliedFrequency, RuleFrequencies, implied_frequencies
from unnoted.rules.mining import ProposedRule, proposals_text, propose_rules
from unnoted.rules.rules import (
    ClosedDocument,
    DerivedFact,
    Rule,
    RuleKind,
    RuleSet,
    deductive_closure,
    load_rules,
    parse_rules,
)

__all__ = [
    "ClosedDocument",
    "DerivedFact",
    "ImpliedFrequency",
    "ProposedRule",
    "Rule",
    "RuleFrequencies",
    "RuleKind",
    "RuleSet",
    "deductive_closure",
    "implied_frequencies",
    "load_rules",
    "parse_rules",
    "proposals_text",
    "propose_rules",
]
