"""A sample of the unlabelled pairs that favours pairs of types which are often related.

Most pairs of a document are of types that are seldom or never labelled (a number and a number), and a model
soon knows that. Here such pairs are drawn with a smaller chance, and weigh the more: 1 / chance, so that
every sum over pairs keeps its expectation.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unnoted.models.features.dataset import DocumentFeatures
from unnoted.models.features.epoch import Epoch
from unnoted.models.features.systematic import draw_counts
from unnoted.models.features.word_table import Offsets

LEAST = 0.1
"""No pair has a chance below this share of the rate: none is out of reach, and no weight is above
1 / (this × rate)."""

SHRINKAGE = 20.0
"""As many pairs, labelled as often as all pairs are, are added to the pairs of every two types."""


@dataclass(frozen=True, slots=True, eq=False)
class UnlabelledByTypes:
    """Keeps every labelled pair of a document and unlabelled ones by the types of their head and tail.

    The draw depends on the seed, the epoch and the document's index alone, as that of `UnlabelledSample`.

    Args:
        rate: the share of unlabelled pairs to keep where the relative rate is 1, above 0 and at most 1.
        relative: float [T + 1, T + 1], the relative rate by the numbers of the head's and the tail's type,
            0 or more; the chance of a pair is rate × relative, kept within `LEAST` × rate and 1.
        seed: 0 or more.
        epoch: shared with the batch sampler.

    Example:
        >>> UnlabelledByTypes(0.5, np.array([[0.0, 1.0], [4.0, 1.0]])).chances
        array([[0.05, 0.5 ],
               [1.  , 0.5 ]])
    """

    rate: float
    relative: NDArray[np.float64]
    seed: int = 0
    epoch: Epoch = field(default_factory=Epoch)

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ValueError(f"unlabelled rate: found {self.rate}, expected a number above 0 and at most 1")
        shape = self.relative.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"relative rates: found {list(shape)}, expected [types + 1, types + 1]")
        if not (np.isfinite(self.relative).all() and (self.relative >= 0).all()):
            raise ValueError("relative rates: found one that is negative or not finite, expected 0 or more")
        if self.seed < 0:
            raise ValueError(f"seed: found {self.seed}, expected 0 or more")

    @property
    def chances(self) -> NDArray[np.float64]:
        """The chance of an unlabelled pair by the types of head and tail, [T + 1, T + 1]."""
        return np.clip(self.rate * self.relative, LEAST * self.rate, 1.0)

    def draw(self, features: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights."""
        head, tail = pair_types(features)
        chance = self.chances[head, tail]  # [P]
        chance[features.fact_pair] = 1.0
        chance[features.negative_pair] = 1.0
        generator = np.random.default_rng([self.seed, self.epoch.number, features.index])
        unlabelled = np.flatnonzero(chance < 1)
        kept = np.ones(len(chance), dtype=bool)
        kept[unlabelled] = draw_counts(chance[unlabelled], generator) > 0
        rows = np.flatnonzero(kept)
        return rows, (1 / chance[rows]).astype(np.float32)


def pair_types(features: DocumentFeatures) -> tuple[Offsets, Offsets]:
    """The type numbers of head and tail of each candidate pair; an entity has that of its first mention."""
    types = np.zeros(features.entities, dtype=np.int64)
    # Backwards, so that what stands at the end is what the first mention wrote.
    types[features.mention_entity[::-1]] = features.mention_type[::-1]
    return types[features.head], types[features.tail]


def relative_rates(documents: Iterable[DocumentFeatures], types: int) -> NDArray[np.float64]:
    """Relative rates for `UnlabelledByTypes`: the square root of how often pairs of these types are labelled.

    The loss of an unlabelled pair varies with the chance p that it is a fact as √p does, where p is small,
    and a sample varies least where it follows that. The rates are 1 on average over all pairs of the
    documents.

    Args:
        documents: with their labels.
        types: how many types are told apart (T).
    """
    pairs, labelled = np.zeros((2, types + 1, types + 1))
    for document in documents:
        head, tail = pair_types(document)
        facts = np.unique(document.fact_pair)
        np.add.at(pairs, (head, tail), 1)
        np.add.at(labelled, (head[facts], tail[facts]), 1)
    if not labelled.sum():
        return np.ones((types + 1, types + 1))
    overall = labelled.sum() / pairs.sum()
    roots = np.sqrt((labelled + SHRINKAGE * overall) / (pairs + SHRINKAGE))
    rates: NDArray[np.float64] = roots * pairs.sum() / (roots * pairs).sum()
    return rates
