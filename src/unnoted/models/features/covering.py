"""Batches that cover rare relations: documents with a rare relation come more often, and weigh the less.

Half of an epoch's places go to documents in equal parts. The other half goes to relations in equal parts, and
the part of a relation, in equal parts, to the documents that are labelled with it. A document's expected
number of visits follows, and the weight of its pairs is 1 / that number. So every sum over the pairs of an
epoch keeps its expectation, while the labels of a rare relation are met several times an epoch, each time
with a part of their weight.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from unnoted.models.features.batches import BatchLimits, ShuffledBatches
from unnoted.models.features.dataset import FeatureSet
from unnoted.models.features.epoch import Epoch
from unnoted.models.features.systematic import draw_counts
from unnoted.models.features.word_table import Offsets

TO_RELATIONS = 0.5
"""The share of an epoch's places that goes to relations. The rest bounds the weight of a pair: it is at most
1 / (1 − this)."""


def expected_visits(labelled: list[set[int]]) -> NDArray[np.float64]:
    """How often each document is to be met in an epoch, on average; as often as there are documents, in all.

    Args:
        labelled: the relations that each document is labelled with.

    Example:
        >>> expected_visits([{0}, {0}, {0, 1}, set()])  # relation 1 has one document, relation 0 three
        array([0.83333333, 0.83333333, 1.83333333, 0.5       ])
    """
    holders = Counter(relation for relations in labelled for relation in relations)
    if not holders:
        return np.ones(len(labelled))
    places = TO_RELATIONS * len(labelled) / len(holders)  # of each relation
    shared = [sum(places / holders[relation] for relation in relations) for relations in labelled]
    return 1 - TO_RELATIONS + np.array(shared)


class CoveringBatches(ShuffledBatches):
    """Batches for training in which documents with rare relations come more often.

    As `ShuffledBatches`, an epoch has as many places as there are documents, its batches are of like length,
    and seed and epoch alone decide. Documents that come several times are kept apart where that can be.

    Args:
        features: the corpus.
        limits: how large a batch may be.
        seed: 0 or more.
        epoch: shared with whatever else draws at random.

    Attributes:
        document_weights: float32 [D], what the pairs of each document weigh: 1 / its expected visits.
    """

    def __init__(
        self,
        features: FeatureSet,
        limits: BatchLimits | None = None,
        seed: int = 0,
        epoch: Epoch | None = None,
    ) -> None:
        super().__init__(features, limits, seed, epoch)
        self._visits = expected_visits([set(document.fact_relation.tolist()) for document in features])
        self.document_weights = (1 / self._visits).astype(np.float32)

    def _order(self, generator: np.random.Generator) -> Offsets:
        """The documents of an epoch: all that come, shuffled, then all that come again, and so on."""
        counts = draw_counts(self._visits, generator)
        rounds = [np.flatnonzero(counts > before) for before in range(counts.max(initial=0))]
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(generator.permutation(documents) for documents in rounds)])

    def _by_length(self, pool: Offsets) -> list[int]:
        """Those that are met for the first time in a pool by length, then those for the second time, ..."""
        met: Counter[int] = Counter()
        places: list[tuple[int, int, int]] = []
        for document in pool.tolist():
            places.append((met[document], self._tokens[document], document))
            met[document] += 1
        return [document for *_, document in sorted(places)]
