"""Scores only some of the unlabelled pairs in training: most of the head's cost is in them.

The unlabelled part of a loss is a mean over unlabelled pairs. A uniform sample of them, each weighted by how
many it stands for, leaves that mean unbiased, and the weights of a document add up to its number of pairs:
`UnlabelledSample`. Another sample has so many unlabelled pairs for each labelled one, as GAIN draws them, and
no weights. Labelled pairs then have a larger share than they have in the documents: `UnlabelledPerLabelled`.

A pair with a known negative is always kept, as a labelled one is: what was decided is not left to chance.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unnoted.models.features.dataset import DocumentFeatures
from unnoted.models.features.epoch import Epoch
from unnoted.models.features.word_table import Offsets

FEWEST = 20
"""As many unlabelled pairs are drawn from a document with few labels, or with none."""


class PairSample(Protocol):
    """Which pairs of a document are scored in an epoch."""

    def draw(self, features: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights.

        Every pair that is labelled, or has a known negative, is among them.
        """
        ...


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
        _check_seed(self.seed)

    def draw(self, features: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights."""
        decided, unlabelled = _split(features)
        kept = max(1, round(self.rate * len(unlabelled))) if len(unlabelled) else 0
        chosen = _choose(unlabelled, kept, self.seed, self.epoch, features)
        weights = np.zeros(len(features.head), dtype=np.float32)
        weights[decided] = 1
        weights[chosen] = len(unlabelled) / max(kept, 1)
        rows = np.flatnonzero(weights)
        return rows, weights[rows]


@dataclass(frozen=True, slots=True)
class UnlabelledPerLabelled:
    """Keeps every labelled pair of a document and a few unlabelled ones for each, all with weight 1.

    The draw depends on the seed, the epoch and the document's index alone, as that of `UnlabelledSample`.

    Args:
        ratio: how many unlabelled pairs for each labelled one, above 0; at least `FEWEST` in a document, and
            all of them where there are not so many.
        seed: 0 or more.
        epoch: shared with the batch sampler.

    Reference:
        Zeng, Xu, Chang, Li (2020): Double graph based reasoning for document-level relation extraction; the
        ratio of 4, and the least number, are those of their program.
    """

    ratio: float
    seed: int = 0
    epoch: Epoch = field(default_factory=Epoch)

    def __post_init__(self) -> None:
        if not 0 < self.ratio < np.inf:
            raise ValueError(f"unlabelled per labelled: found {self.ratio}, expected a number above 0")
        _check_seed(self.seed)

    def draw(self, features: DocumentFeatures) -> tuple[Offsets, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights, which are 1."""
        decided, unlabelled = _split(features)
        wanted = max(FEWEST, int(self.ratio * len(np.unique(features.fact_pair))))
        chosen = _choose(unlabelled, min(wanted, len(unlabelled)), self.seed, self.epoch, features)
        rows = np.sort(np.concatenate([decided, chosen]))
        return rows, np.ones(len(rows), dtype=np.float32)


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise ValueError(f"seed: found {seed}, expected 0 or more")


def _split(features: DocumentFeatures) -> tuple[Offsets, Offsets]:
    """The rows of the pairs of a document that somebody decided about, and of the others."""
    decided = np.zeros(len(features.head), dtype=bool)
    decided[features.fact_pair] = True
    decided[features.negative_pair] = True
    return np.flatnonzero(decided), np.flatnonzero(~decided)


def _choose(rows: Offsets, number: int, seed: int, epoch: Epoch, features: DocumentFeatures) -> Offsets:
    """Some of the rows, without one twice."""
    generator = np.random.default_rng([seed, epoch.number, features.index])
    chosen: Offsets = generator.choice(rows, number, replace=False, shuffle=False)
    return chosen
