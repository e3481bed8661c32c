"""Rules checked by scores: would what a rule adds look to a model like facts, or like any other pairs?

The labels cannot say how good a rule's additions are, since what it adds is what was not noted. Scores can,
if they are out of fold: the model that gives them has not seen the labels of the document. For each relation,
a pair's margin is replaced by its rank among the labelled facts: g, the share of labelled facts with a lower
margin. The mean of g is 1/2 for labelled facts, and some n for unlabelled pairs of the same types. If a share
a of what a rule adds are facts, and these score like labelled ones, the mean of g over what it adds is
a / 2 + (1 - a) n, so

    a = (mean of g - n) / (1/2 - n).

Some of the unlabelled pairs are facts too, which makes n too large and the share a too small: an error on the
safe side. So does a model that finds unlabelled facts harder than labelled ones.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules.bodies import Pair, RuleBody, matches
from unnoted.rules.bounds import ONE_SIDED, DocumentShare
from unnoted.rules.constraints import Constraints
from unnoted.rules.mining import proposals
from unnoted.rules.rule import Rule, RuleSet

UNIFORM_VARIANCE = 1 / 12
"""Of ranks among the labelled facts, if what is added scores like them."""


@dataclass(frozen=True, slots=True)
class RulePrecision:
    """How many of the facts that a rule adds are facts, as far as scores can tell.

    Attributes:
        added: facts that the rule adds in one round.
        share: estimated share of facts among them, from 0 to 1.
        low: its lower bound.
    """

    added: int
    share: float
    low: float


class ScoreCheck:
    """Compares what rules add with labelled facts and with unlabelled pairs, by out-of-fold scores.

    Args:
        scores: of the documents' pairs; documents that have none are left out.
        documents: with their noted facts.
        constraints: on what rules may add.
        deviations: standard deviations from an estimate to its bound.
    """

    def __init__(
        self,
        scores: LabelledScores,
        documents: Sequence[Document],
        constraints: Constraints,
        deviations: float = ONE_SIDED,
    ) -> None:
        scored = set(scores.documents)
        self.scores, self.constraints, self.deviations = scores, constraints, deviations
        self.documents = [document for document in documents if document.id in scored]
        self._columns = {relation: column for column, relation in enumerate(scores.relations)}
        self._rows = _rows(scores)
        self._type_pair = _type_pairs(scores, self.documents)  # [P]
        self._ranks = cache(self._ranks_of)
        self._matched: dict[RuleBody, dict[int, Mapping[Pair, object]]] = defaultdict(dict)
        for number, document in enumerate(self.documents):
            for body, ways in matches(document.labels).items():
                self._matched[body][number] = ways

    def precision(self, rule: Rule) -> RulePrecision:
        """The share of facts among what a rule would add, with its lower bound."""
        rows = self._added_rows(rule)
        added = sum(map(len, rows))
        labelled = int(self.scores.labelled[:, self._columns[rule.conclusion]].sum())
        if not added or not labelled:
            return RulePrecision(added, 0.0, 0.0)
        ranks = self._ranks(rule.conclusion)
        mean = DocumentShare()
        for each in rows:
            mean.add(len(each), float(ranks[each].sum()))
        unlabelled = self._unlabelled_mean(rule.conclusion, np.concatenate(rows))
        return mixture_share(mean, unlabelled, labelled, self.deviations)

    def _added_rows(self, rule: Rule) -> list[list[int]]:
        """Rows of the pairs that a rule would add, by document."""
        found = []
        for number, ways in self._matched.get(rule.body, {}).items():
            document = self.documents[number]
            labels, rows = document.labels, self._rows[document.id]
            facts = proposals(document, ways, rule.conclusion, self.constraints)
            new = [rows[fact[:2]] for fact in facts if fact not in labels and fact[:2] in rows]
            if new:
                found.append(new)
        return found

    def _ranks_of(self, relation: str) -> NDArray[np.float64]:
        """Each pair's rank among the labelled facts of a relation, [P]; of equal margins the middle."""
        column = self._columns[relation]
        margin = self.scores.margin[:, column]
        labelled = np.sort(margin[self.scores.labelled[:, column]])
        below, up_to = (np.searchsorted(labelled, margin, side) for side in ("left", "right"))
        ranks: NDArray[np.float64] = (below + up_to) / 2 / max(len(labelled), 1)
        return ranks

    def _unlabelled_mean(self, relation: str, added: NDArray[np.int64]) -> float:
        """The mean rank of unlabelled pairs of the same types, in the proportions of what is added."""
        others = ~self.scores.labelled[:, self._columns[relation]]
        others[added] = False
        kinds, size = self._type_pair, int(self._type_pair.max()) + 1
        pairs = np.bincount(kinds[others], minlength=size)
        total = np.bincount(kinds[others], self._ranks(relation)[others], minlength=size)
        means = total / np.maximum(pairs, 1)
        return float(means[kinds[added]].mean())


def mixture_share(
    mean: DocumentShare, unlabelled: float, labelled: int, deviations: float = ONE_SIDED
) -> RulePrecision:
    """The share of facts among pairs of this mean rank, and its lower bound.

    Args:
        mean: of the ranks of what is added.
        unlabelled: the mean rank of unlabelled pairs.
        labelled: how many labelled facts the ranks are among; few make the ranks themselves uncertain.
        deviations: standard deviations from the estimate to its bound.

    Example:
        >>> mean = DocumentShare()
        >>> for _ in range(100):
        ...     mean.add(1, 0.42)
        >>> found = mixture_share(mean, 0.02, 1000)
        >>> round(found.share, 2), round(found.low, 2)
        (0.83, 0.73)
    """
    distance = 0.5 - unlabelled
    if distance <= 0:  # labelled facts score no higher than others: scores say nothing
        return RulePrecision(mean.pairs, 0.0, 0.0)
    share = (mean.share - unlabelled) / distance
    # Documents that agree by chance, above all a single one, do not make the mean certain.
    variance = (
        max(mean.variance, UNIFORM_VARIANCE / mean.equal_documents) + share**2 * UNIFORM_VARIANCE / labelled
    )
    low = share - deviations * math.sqrt(variance) / distance
    return RulePrecision(mean.pairs, min(max(share, 0.0), 1.0), min(max(low, 0.0), 1.0))


def checked(rules: RuleSet, check: ScoreCheck, precision: float = 0.4) -> RuleSet:
    """The rules of which what they add scores like labelled facts.

    Args:
        rules: mined rules.
        check: the scores.
        precision: the lower bound of the share of facts among what a rule adds, at least.

    Returns:
        The rules that are kept, with that share as their confidence.
    """
    judged = [(rule, check.precision(rule)) for rule in rules]
    return rules.kept(
        [
            replace(rule, confidence=found.share, low=found.low)
            for rule, found in judged
            if found.low >= precision
        ]
    )


def _rows(scores: LabelledScores) -> dict[str, dict[Pair, int]]:
    """The row of each pair, by document."""
    rows: dict[str, dict[Pair, int]] = {document: {} for document in scores.documents}
    columns = zip(scores.document.tolist(), scores.head.tolist(), scores.tail.tolist(), strict=True)
    for row, (document, head, tail) in enumerate(columns):
        rows[scores.documents[document]][head, tail] = row
    return rows


def _type_pairs(scores: LabelledScores, documents: Sequence[Document]) -> NDArray[np.int64]:
    """A number for the types of head and tail of each pair, [P]; 0 where the document is not known."""
    types = {document.id: [entity.type for entity in document.entities] for document in documents}
    numbers: Counter[tuple[str, str]] = Counter()
    columns = zip(scores.document.tolist(), scores.head.tolist(), scores.tail.tolist(), strict=True)
    found = []
    for document, head, tail in columns:
        known = types.get(scores.documents[document])
        kind = (known[head], known[tail]) if known else None
        found.append(0 if kind is None else numbers.setdefault(kind, len(numbers) + 1))
    return np.array(found, dtype=np.int64)
