"""Rules that labels and out-of-fold scores both speak for: the surest that can be had without a person."""

from unnoted.data.corpus import Corpus
from unnoted.priors import Priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules.mining import MiningLimits, mine, noted_shares
from unnoted.rules.rule import RuleSet
from unnoted.rules.score_check import ScoreCheck, checked

BY_LABELS, BY_SCORES = MiningLimits(confidence=0.3), 0.4
"""What is asked of a rule: by the labels, corrected for those that are missing, and by the scores of what it
would add. Each alone keeps rules that are wrong (docs/concepts/rules.md); so both may be lenient."""


def confirmed_rules(corpus: Corpus, priors: Priors, scores: LabelledScores) -> RuleSet:
    """Mine rules from labels and keep those that scores confirm.

    Args:
        corpus: with its noted facts.
        priors: of its relations, which say how many facts were not noted.
        scores: of its pairs, by models that did not see their labels.
    """
    rules = mine(corpus.documents, noted_shares(priors), BY_LABELS)
    return checked(rules, ScoreCheck(scores, corpus.documents, rules.constraints), BY_SCORES)
