"""The labels that a model learns from: closed under the rules of the settings; and the priors.

What annotators leave out is not random. That a town of a country lies in it goes without saying, so it is not
labelled, and a model that learns from labels alone learns not to predict it. Rules add it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from unnoted.data.corpus import Corpus
from unnoted.priors import Priors
from unnoted.rules import close
from unnoted.training.ingredients import rules_of
from unnoted.training.settings import Settings
from unnoted.utils import plural


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """Documents with all that is known of them.

    Attributes:
        corpus: with noted and implied facts.
        multiplier: true facts for each of these; None where priors come from elsewhere, or there are none.
        settings: of the run.
    """

    corpus: Corpus
    multiplier: float | None
    settings: Settings

    def priors(self, part: Corpus | None = None) -> Priors | None:
        """The priors that the settings ask for, of all labels or those of a part; None for a loss without."""
        corpus = self.corpus if part is None else part
        priors = self._asked_for(corpus.labelled_priors)
        if priors is not None:
            corpus.check_priors(priors)
        return priors

    def _asked_for(self, labelled: Priors) -> Priors | None:
        if self.settings.prior_file is not None:
            return Priors.from_file(self.settings.prior_file, labelled)
        if self.multiplier is not None:
            return labelled * self.multiplier
        return None


def training_labels(
    settings: Settings, corpus: Corpus, tell: Callable[[str], None] = lambda line: None
) -> TrainingLabels:
    """Close the labels of documents under the rules of the settings, if they name any.

    Whatever says how many facts are true says it of noted ones. With implied ones beside them fewer are
    missing, and the multiplier falls, to 1 at least.
    """
    rules = rules_of(settings, corpus, tell)
    if rules is None:
        return TrainingLabels(corpus, settings.prior_multiplier, settings)
    multiplier = settings.prior_multiplier
    closed = close(corpus, rules)
    noted = sum(len(document.labels) for document in corpus)
    added = sum(len(each.derived) for each in closed)
    tell(f"labels closed: {plural(len(rules), 'rule')} added {plural(added, 'fact')}")
    if multiplier is not None and noted:
        multiplier = max(1.0, multiplier * noted / (noted + added))
    documents = tuple(each.document for each in closed)
    return TrainingLabels(Corpus(documents, corpus.relations, corpus.candidates), multiplier, settings)
