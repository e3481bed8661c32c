"""Labels closed by rules before the main training: facts that follow from noted ones are labels, too.

What annotators leave out is not random. That a town of a country lies in it goes without saying, so it is not
said, and a model that learns from labels alone learns not to say it either. Rules that were mined from the
labels and confirmed by out-of-fold scores say it.
"""

from collections.abc import Callable
from dataclasses import replace

from unnoted.common.wording import counted
from unnoted.documents.corpus import Corpus
from unnoted.priors import Priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import MiningLimits, RuleSet, ScoreCheck, checked, close, mine, noted_shares
from unnoted.training.cross_fit import FOLDS
from unnoted.training.ingredients import load_corpus, risk_of
from unnoted.training.preparing import features_of
from unnoted.training.settings import Settings
from unnoted.training.stages import Plan

RULES = "rules.json"
"""The rules that labels were closed with, in the folder of the folds."""

BY_LABELS, BY_SCORES = MiningLimits(confidence=0.3), 0.4
"""What is asked of a rule: by the labels, corrected for those that are missing, and by the scores of what it
would add. Each alone keeps rules that are wrong (docs/concepts/rules.md); so both may be lenient."""


def with_closed_labels(
    plan: Plan, settings: Settings, scores: LabelledScores, tell: Callable[[str], None]
) -> Plan:
    """The plan with labels closed by rules, and with the labelled priors that they then have."""
    corpus = load_corpus(settings, settings.train)
    priors = plan.main.priors or corpus.labelled_priors
    rules = mined_rules(corpus, priors, scores)
    rules.save(settings.output / FOLDS / RULES)
    closed = close(corpus.documents, rules)
    derived = sum(len(each.derived) for each in closed)
    tell(f"labels closed: {counted(len(rules), 'rule')} added {counted(derived, 'fact')}")
    documents = tuple(each.document for each in closed)
    corpus = Corpus(documents, corpus.relations, corpus.candidates)
    risk = risk_of(settings, None if plan.main.priors is None else with_more_labels(priors, corpus))
    features = features_of(plan.model, corpus)
    return replace(plan, main=replace(plan.main, risk=risk, features=features))


def mined_rules(corpus: Corpus, priors: Priors, scores: LabelledScores) -> RuleSet:
    """The rules that labels and scores both confirm."""
    rules = mine(corpus.documents, noted_shares(priors), BY_LABELS)
    return checked(rules, ScoreCheck(scores, corpus.documents, rules.constraints), BY_SCORES)


def with_more_labels(priors: Priors, corpus: Corpus) -> Priors:
    """The same overall priors beside the labels of a corpus; as high as these, where they are more."""
    labelled = corpus.labelled_priors
    overall = map(max, priors.overall, labelled.labelled)
    return replace(labelled, overall=tuple(overall))
