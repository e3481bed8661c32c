"""Priors of single relations where it is known how many facts are true in all: told, or implied by rules."""

import math
from collections.abc import Iterable

from unnoted.calibration.counted_priors import counted_priors
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.priors.estimated import EstimatedPriors, Interval
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import RuleSet, close, implied_facts, load_rules


def priors_at_level(
    scores: LabelledScores, corpus: Corpus, *, multiplier: float | None = None, rules: str | None = None
) -> EstimatedPriors:
    """Share out the true facts among relations.

    Args:
        scores: out of fold, of the documents; their labels do not matter.
        corpus: the documents, with what was noted.
        multiplier: true facts for each noted one; without it, as the rules imply.
        rules: a file, or the name of rules of the package. What follows by them is known to be true.

    Raises:
        ValueError: there is no room for so many facts, or the rules cannot tell how many there are.
        DataError: the rules cannot be read.
    """
    written = RuleSet() if rules is None else load_rules(rules, corpus.relations)
    if multiplier is not None:
        _ = corpus.labelled_priors * multiplier  # refuses what leaves no room for it
        level = Interval(multiplier, multiplier, multiplier)
    else:
        level = _implied(corpus, written, str(rules))
    noted = beside_labels_of(scores, corpus)
    known = beside_labels_of(scores, (closed.document for closed in close(corpus, written)))
    return counted_priors(known, noted.labelled.sum(0), level)


def beside_labels_of(scores: LabelledScores, documents: Iterable[Document]) -> LabelledScores:
    """The same scores beside the labels that these documents have."""
    return scores.relabelled({document.id: document.labels for document in documents})


def _implied(corpus: Corpus, written: RuleSet, name: str) -> Interval:
    implied = implied_facts(corpus, written)
    low, high = implied.interval
    if not math.isfinite(high):
        raise ValueError(
            f"{name}: found {implied.implied:,} facts that follow, {implied.noted:,} of them noted, "
            "expected enough to tell how many are missing; --prior-multiplier says it"
        )
    return Interval(implied.multiplier, low, high)
