"""Scores only some of the unlabelled pairs in training: most of the head's cost is in them.

The unlabelled part of a risk is a mean over unlabelled pairs. A uniform sample of them, each weighted by how
many it stands for, leaves that mean unbiased, and the weights of a document add up to its number of pairs.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unnoted.features.dataset import DocumentFeatures
from unnoted.features.epoch import Epoch
from unnoted.features.word_table import Offsets


@dataclass(frozen=True, slots=True)
class UnlabelledSample:
    """Keeps every labelled pair of a document and a random share of its unlabelled ones.

    The draw depends on the seed, the epoch and the document's index alone, so that a resumed training sees
    the same pairs, whatever shares a batch.

    Args:
        rate: the share of unlabelled pairs to keep, above 0 and at most 1; at least one pair is kept.
        seed: 0 or more.
        epoch: shared with the batch sampler.
    """

    rate: float
    seed: int = 0
    epoch: Epoch = field(default_factory=Epoch)

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ValueError(f"unlabelled rate: found {self.rate}, expected a number above 0 and at most 1")
        if self.seed < 0:
            raise ValueError(f"seed: found {self.seed}, expected 0 or more")

    def draw(self, features: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights."""
        labelled = np.zeros(len(features.head), dtype=bool)
        labelled[features.fact_pair] = True
        unlabelled = np.flatnonzero(~labelled)
        kept = max(1, round(self.rate * len(unlabelled))) if len(unlabelled) else 0
        generator = np.random.default_rng([self.seed, self.epoch.number, features.index])
        chosen = generator.choice(unlabelled, kept, replace=False, shuffle=False)
        weights = np.zeros(len(features.head), dtype=np.float32)
        weights[labelled] = 1
        weights[chosen] = len(unlabelled) / max(kept, 1)
        rows = np.flatnonzero(weights)
        return rows, weights[rows]
