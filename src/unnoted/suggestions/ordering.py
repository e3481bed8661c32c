"""Which suggestion is looked at next.

An order is computed once, for all suggestions; a reviewer gets the first one that is not decided yet.
Labelled facts that look wrong come after the suggestions (in the order by document, after those of their
document): what was noted mostly holds, however a model scores it, so that its probability is no chance of
finding something.

**By probability.** A decision finds a fact with probability p. If facts are independent, n decisions find as
many as the sum of their p, which is largest for the n largest: for completeness alone, no order does better.

**By gain.** An accepted fact is also a label to learn from. Say that a model finds the share n / (n + h) of
the facts of a relation with n labels (h: the labels that find half of them). With T facts of the relation to
be found, one more label lets it find v = T h / (n + h)² more. It teaches this only as far as the model did
not know the fact, 1 − p. So a decision is expected to bring

    p + v p (1 − p)

facts: the one that is found, and those that the next model finds because of it. The second term prefers
relations with few labels for their facts, and answers that are open. n grows by p with every suggestion of
the relation that comes before, so that the first of a rare relation weigh most.

**By document.** All suggestions of one document, then those of the next; documents with the most expected
facts for each decision come first. Whoever has read a document decides the rest of it faster, and it is then
complete. It is dear in decisions: improbable suggestions are looked at long before probable ones of other
documents.

**Audit.** A random order of all suggestions, the same for the same seed. Its beginning is a random sample of
the list whatever else is decided meanwhile (see `completeness`).
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from unnoted.suggestions.suggestion import Suggestion

HALF = 30.0
"""Labels of a relation with which a model finds half of what more labels would let it find (h above)."""

Array = NDArray[np.float64]


class Order(StrEnum):
    """What decides which suggestion comes next."""

    PROBABILITY = "probability"
    GAIN = "gain"
    DOCUMENT = "document"
    AUDIT = "audit"


def ordered(
    suggestions: Sequence[Suggestion],
    order: Order,
    *,
    labels: Mapping[str, int] | None = None,
    seed: int = 0,
) -> NDArray[np.int64]:
    """Suggestions by their position in the list, those to look at first in front.

    Args:
        suggestions: all of them.
        order: what decides.
        labels: how many labels each relation has, for the order by gain; one that is not there has none.
        seed: of the random order.

    Returns:
        int64 [N]; each position once.

    Example:
        >>> listed = [Suggestion("a", 0, 1, "spouse", 0.4, 0.5), Suggestion("a", 0, 1, "child", 0.6, 0.5),
        ...           Suggestion("b", 0, 1, "spouse", 0.7, 0.5)]
        >>> ordered(listed, Order.PROBABILITY)
        array([2, 1, 0])
        >>> ordered(listed, Order.DOCUMENT)  # half a fact for each decision in a, 0.7 in b
        array([2, 1, 0])
        >>> ordered(listed, Order.GAIN, labels={"spouse": 400, "child": 2})  # one more child teaches more
        array([2, 1, 0])
        >>> sorted(ordered(listed, Order.AUDIT, seed=3).tolist())
        [0, 1, 2]
    """
    keys = _KEYS[order](suggestions, labels or {}, seed)
    return np.lexsort((np.arange(len(suggestions)), *reversed(keys)))


def chances(suggestions: Sequence[Suggestion]) -> Array:
    """The probability that each holds, [N]; the confidence stands in where there is none.

    Example:
        >>> chances([Suggestion("a", 0, 1, "spouse", None, 1.5), Suggestion("a", 1, 0, "spouse", 0.2, 0.4)])
        array([1. , 0.2])
    """
    found = [each.confidence if each.probability is None else each.probability for each in suggestions]
    return np.clip(np.array(found, dtype=np.float64), 0.0, 1.0)


def gains(chance: Array, relation: NDArray[np.int64], labels: Array, half: float = HALF) -> Array:
    """What each decision is expected to bring, in facts, [N].

    Args:
        chance: [N], the probability that a suggestion holds.
        relation: [N], the number of its relation.
        labels: [K], how many labels each relation has.
        half: labels of a relation with which half of its facts are found.

    Example:
        >>> gains(np.array([0.5, 0.5, 1.0]), np.array([0, 1, 1]), np.array([1000.0, 10.0])).round(3)
        array([0.507, 0.551, 1.   ])
    """
    total = labels + np.bincount(relation, chance, len(labels))
    order = np.lexsort((-chance, relation))
    before = np.cumsum(chance[order]) - chance[order]
    sizes = np.bincount(relation, minlength=len(labels))
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    known = np.empty_like(chance)
    known[order] = labels[relation[order]] + before - before[first] if len(chance) else before
    value = total[relation] * half / (known + half) ** 2
    result: Array = chance + value * chance * (1 - chance)
    return result


Keys = tuple[NDArray[np.generic], ...]
"""What is sorted by, the most important first."""


def _labelled(suggestions: Sequence[Suggestion]) -> NDArray[np.bool_]:
    return np.array([each.labelled for each in suggestions], dtype=np.bool_)


def _by_probability(suggestions: Sequence[Suggestion], labels: Mapping[str, int], seed: int) -> Keys:
    chance, labelled = chances(suggestions), _labelled(suggestions)
    return labelled, np.where(labelled, chance, -chance)


def _by_gain(suggestions: Sequence[Suggestion], labels: Mapping[str, int], seed: int) -> Keys:
    chance, labelled = chances(suggestions), _labelled(suggestions)
    numbers, relation = _numbered([each.relation for each in suggestions])
    counts = np.array([labels.get(name, 0) for name in numbers], dtype=np.float64)
    gain = np.zeros(len(chance))
    gain[~labelled] = gains(chance[~labelled], relation[~labelled], counts)
    return labelled, np.where(labelled, chance, -gain)


def _by_document(suggestions: Sequence[Suggestion], labels: Mapping[str, int], seed: int) -> Keys:
    chance, labelled = chances(suggestions), _labelled(suggestions)
    _, document = _numbered([each.document for each in suggestions])
    if not len(chance):
        return (labelled,)
    expected = np.bincount(document, np.where(labelled, 0.0, chance)) / np.bincount(document)
    return -expected[document], document, labelled, np.where(labelled, chance, -chance)


def _audit(suggestions: Sequence[Suggestion], labels: Mapping[str, int], seed: int) -> Keys:
    labelled = _labelled(suggestions)
    return labelled, np.random.default_rng(seed).permutation(len(suggestions))


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The different names in the order of their coming, and the number of each."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(found, dtype=np.int64)


_KEYS: Mapping[Order, Callable[[Sequence[Suggestion], Mapping[str, int], int], Keys]] = {
    Order.PROBABILITY: _by_probability,
    Order.GAIN: _by_gain,
    Order.DOCUMENT: _by_document,
    Order.AUDIT: _audit,
}
