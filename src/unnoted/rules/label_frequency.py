"""The label frequency that rules imply: of the facts that follow from labelled ones, how many are labelled?

If a rule always holds, every fact that follows from a labelled one is true. The share of these that is
labelled estimates the label frequency c, as far as annotators label conclusions as often as other facts. They
need not: what goes without saying is seldom said. So each rule gives an estimate of its own, and the spread
*between* rules, which no interval over documents shows, says how far to trust them together. Nothing in the
package uses these estimates unasked.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unnoted.data.document import Document, Triple
from unnoted.rules.rules import Rule, derive, group_by_body

ONE_SIDED = 1.645
"""Standard deviations below which a normal variable lies with 5 %."""


@dataclass(frozen=True, slots=True)
class ImpliedFrequency:
    """Facts that follow from labelled ones.

    Attributes:
        implied: how many.
        labelled: how many of these are labelled.
        low: the lower end of a 90 % interval of the multiplier, over documents.
        high: the upper end.
    """

    implied: int
    labelled: int
    low: float
    high: float

    @property
    def multiplier(self) -> float:
        """True facts for each labelled one; one more of both is counted, so that a few say nothing wild."""
        return (self.implied + 1) / (self.labelled + 1)


@dataclass(frozen=True, slots=True)
class RuleFrequencies:
    """What rules imply, one by one and together.

    Attributes:
        rules: the rules.
        by_rule: what each implies.
        together: what all imply, each fact counted once.
        spread: the smallest and the largest multiplier that is left if any one rule is left out.
    """

    rules: tuple[Rule, ...]
    by_rule: tuple[ImpliedFrequency, ...]
    together: ImpliedFrequency
    spread: tuple[float, float]


def implied_frequencies(documents: Iterable[Document], rules: Sequence[Rule]) -> RuleFrequencies:
    """Count what follows from the labelled facts of documents, in one step.

    What a person rejected does not count: the rule does not hold there, or its premise does not.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> from unnoted.rules.rules import parse_rules
        >>> entities = [Entity((Mention(0, i, i + 1, "PER", name),)) for i, name in enumerate("abc")]
        >>> facts = (Fact(0, 1, "spouse"), Fact(1, 0, "spouse"), Fact(0, 2, "spouse"))
        >>> document = Document("d", (("a", "b", "c"),), tuple(entities), facts)
        >>> found = implied_frequencies([document], parse_rules("spouse(t, h) -> spouse(h, t)"))
        >>> found.together.implied, found.together.labelled
        (3, 2)
    """
    rules = tuple(rules)
    number_of = {rule: number for number, rule in enumerate(rules)}
    by_body = group_by_body(rules)
    rows = []
    for document in documents:
        followed: dict[Triple, set[int]] = defaultdict(set)  # from a fact to the rules that imply it
        for triple, rule, _ in derive(document, document.labels, by_body):
            followed[triple].add(number_of[rule])
        # Columns: each rule, all rules together, all but each rule.
        counts = np.zeros((2 * len(rules) + 1, 2))
        for triple, numbers in followed.items():
            one = np.array([1, triple in document.labels])
            counts[[*numbers, len(rules)]] += one
            counts[len(rules) + 1 :] += one
            if len(numbers) == 1:
                counts[len(rules) + 1 + min(numbers)] -= one
        rows.append(counts)
    every = np.array(rows).reshape(len(rows), 2 * len(rules) + 1, 2)  # [D, columns, 2]
    total = every.sum(0)
    found = [
        ImpliedFrequency(*map(int, total[column]), *map(float, _interval(every[:, column])))
        for column in range(len(rules) + 1)
    ]
    without = (total[len(rules) + 1 :, 0] + 1) / (total[len(rules) + 1 :, 1] + 1)
    spread = (float(without.min()), float(without.max())) if len(rules) > 1 else (found[-1].multiplier,) * 2
    return RuleFrequencies(rules, tuple(found[:-1]), found[-1], spread)


def _interval(counts: NDArray[np.float64]) -> tuple[float, float]:
    """The interval of a multiplier from the counts of documents, [D, 2].

    Facts of one document are labelled together or not at all: the variance of the labelled share is taken
    over documents, and Wilson's interval for as many facts as would have it if they were independent.
    """
    implied, labelled = counts.sum(0)
    if not implied:
        return 1.0, math.inf
    share = (labelled + 1) / (implied + 1)
    variance = np.square(counts[:, 1] - labelled / implied * counts[:, 0]).sum() / implied**2
    independent = share * (1 - share) / implied
    documents = implied**2 / np.square(counts[:, 0]).sum()  # as many equal ones
    count = implied / max(1.0, variance / independent) if independent and variance else documents
    return 1 / (1 - wilson_low(1 - share, count)), 1 / wilson_low(share, count)


def wilson_low(share: float, count: float) -> float:
    """The lower end of Wilson's 90 % interval for a share of a count."""
    if count <= 0:
        return 0.0
    square = ONE_SIDED**2 / count
    spread = ONE_SIDED * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, (share + square / 2 - spread) / (1 + square))
