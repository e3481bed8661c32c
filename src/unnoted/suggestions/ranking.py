"""The orders in which suggestions are reviewed.

An order is computed once, for all suggestions; a reviewer gets the first one that is not decided yet.
Labelled facts that look wrong come after the suggestions (in the order by document, after those of their
document): most labels hold, however a model scores them.

- **score**: the highest score first. A decision finds a fact with probability p, so n decisions find most
  where p is largest.
- **document**: all suggestions of one document, then those of the next; documents with the most expected
  facts per decision come first. Whoever has read a document decides the rest of it faster.
- **random**: a random permutation, the same for the same seed. Decisions in this order, without a filter, are
  the sample that completeness and label frequency are estimated from (`completeness`).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from unnoted.suggestions.store import Suggestion


class Order(StrEnum):
    """What decides which suggestion comes next."""

    SCORE = "score"
    DOCUMENT = "document"
    RANDOM = "random"


def rank(suggestions: Sequence["Suggestion"], order: Order, *, seed: int = 0) -> NDArray[np.int64]:
    """Suggestions by their position in the list, those to look at first in front.

    Args:
        suggestions: all of them.
        order: what decides.
        seed: of the random order.

    Returns:
        int64 [N]; each position once.

    Example:
        >>> from unnoted.suggestions import Suggestion
        >>> listed = [Suggestion("a", 0, 1, "spouse", 0.4), Suggestion("a", 0, 1, "child", 0.6),
        ...           Suggestion("b", 0, 1, "spouse", 0.7)]
        >>> rank(listed, Order.SCORE)
        array([2, 1, 0])
        >>> rank(listed, Order.DOCUMENT)  # half a fact for each decision in a, 0.7 in b
        array([2, 1, 0])
        >>> sorted(rank(listed, Order.RANDOM, seed=3).tolist())
        [0, 1, 2]
    """
    score = np.array([each.score for each in suggestions], dtype=np.float64)
    labelled = np.array([each.labelled for each in suggestions], dtype=np.bool_)
    by_score = np.where(labelled, score, -score)
    # The last key of `lexsort` is the most important; equals stay in the order of the list.
    if order is Order.SCORE:
        return np.lexsort((by_score, labelled))
    if order is Order.RANDOM:
        return np.lexsort((np.random.default_rng(seed).permutation(len(score)), labelled))
    numbers: dict[str, int] = {}
    document = np.array(
        [numbers.setdefault(each.document, len(numbers)) for each in suggestions], dtype=np.int64
    )
    expected = np.bincount(document, np.where(labelled, 0.0, score)) / np.bincount(document)
    return np.lexsort((by_score, labelled, document, -expected[document]))
