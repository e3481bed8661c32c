"""Rules by which facts follow from facts: written by people or mined from labels, checked, applied."""

from unnoted.rules.bodies import Inverse, RuleBody, SamePair, TwoStep
from unnoted.rules.closing import ClosedDocument, Derived, close
from unnoted.rules.constraints import Constraints
from unnoted.rules.implied import ImpliedFacts, implied_facts
from unnoted.rules.mining import MiningLimits, mine, noted_shares
from unnoted.rules.rule import Rule, RuleSet
from unnoted.rules.written import load_rules, written_rules

__all__ = [
    "ClosedDocument",
    "Constraints",
    "Derived",
    "ImpliedFacts",
    "Inverse",
    "MiningLimits",
    "Rule",
    "RuleBody",
    "RuleSet",
    "SamePair",
    "TwoStep",
    "close",
    "implied_facts",
    "load_rules",
    "mine",
    "noted_shares",
    "written_rules",
]
