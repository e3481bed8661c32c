"""Rules by which facts follow from facts: mined from incomplete labels, checked by scores, applied."""

from unnoted.rules.bodies import Inverse, RuleBody, SamePair, TwoStep
from unnoted.rules.closing import ClosedDocument, Derived, close
from unnoted.rules.constraints import Constraints
from unnoted.rules.mining import MiningLimits, mine, noted_shares
from unnoted.rules.rule import Rule, RuleSet
from unnoted.rules.score_check import RulePrecision, ScoreCheck, checked

__all__ = [
    "ClosedDocument",
    "Constraints",
    "Derived",
    "Inverse",
    "MiningLimits",
    "Rule",
    "RuleBody",
    "RulePrecision",
    "RuleSet",
    "SamePair",
    "ScoreCheck",
    "TwoStep",
    "checked",
    "close",
    "mine",
    "noted_shares",
]
