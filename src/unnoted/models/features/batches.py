"""Which documents go into a batch together: documents of like length, so that little is padded, or any.

Of the tokens of random batches of 4 documents of DocRED, a quarter is padding. They also weigh pairs
differently: a loss is a mean over the pairs of its batch, so that a pair weighs more in a batch of short
documents, which have few.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from torch.utils.data import Sampler

from unnoted.models.features.dataset import FeatureSet
from unnoted.models.features.epoch import Epoch
from unnoted.models.features.word_table import Offsets

BATCHES_A_POOL = 50
"""Batches whose documents are sorted together. More pad less, fewer mix documents better."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How large a batch may be. A document beyond a limit makes a batch by itself: none is left out.

    Args:
        documents: the most documents.
        tokens: the most tokens, padding included; None for no limit.
        pairs: the most candidate pairs; None for no limit.
    """

    documents: int = 4
    tokens: int | None = None
    pairs: int | None = None

    def __post_init__(self) -> None:
        for name in ("documents", "tokens", "pairs"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise ValueError(f"most {name} in a batch: found {limit}, expected 1 or more")

    @property
    def uniform(self) -> bool:
        """Whether all batches but one have the same number of documents."""
        return self.tokens is None and self.pairs is None

    def cut(self, order: Sequence[int], tokens: Sequence[int], pairs: Sequence[int]) -> list[list[int]]:
        """Cut documents in this order into batches; `tokens` and `pairs` are those of all documents.

        Example:
            >>> BatchLimits(documents=2).cut([2, 0, 1], tokens=[5, 6, 7], pairs=[0, 0, 0])
            [[2, 0], [1]]
            >>> BatchLimits(documents=2, tokens=13).cut([2, 0, 1], tokens=[5, 6, 7], pairs=[0, 0, 0])
            [[2], [0, 1]]
        """
        batches: list[list[int]] = []
        batch: list[int] = []
        longest = paired = 0
        for document in order:
            longest, paired = max(longest, tokens[document]), paired + pairs[document]
            if batch and self._exceeded(len(batch) + 1, longest, paired):
                batches.append(batch)
                batch, longest, paired = [], tokens[document], pairs[document]
            batch.append(document)
        return [*batches, batch] if batch else batches

    def _exceeded(self, documents: int, longest: int, pairs: int) -> bool:
        return (
            documents > self.documents
            or (self.tokens is not None and documents * longest > self.tokens)
            or (self.pairs is not None and pairs > self.pairs)
        )


class _Batches(Sampler[list[int]], ABC):
    """What both orders of batches have in common."""

    def __init__(self, features: FeatureSet, limits: BatchLimits) -> None:
        self.limits = limits
        self._tokens: list[int] = features.token_counts.tolist()
        self._pairs: list[int] = features.pair_counts.tolist()

    @abstractmethod
    def current(self) -> list[list[int]]:
        """The batches of the current epoch, in order."""

    def __iter__(self) -> Iterator[list[int]]:
        # Copies: accelerate fills up the last batch in place.
        return (list(batch) for batch in self.current())

    def __len__(self) -> int:
        return len(self.current())

    @property
    def batch_size(self) -> int | None:
        """Documents a batch; None where batches differ, which accelerate then treats as such."""
        return self.limits.documents if self.limits.uniform else None

    @property
    def drop_last(self) -> bool:
        """Whether an incomplete batch is left out; accelerate asks."""
        return False

    @property
    def padding_waste(self) -> float:
        """The share of padding among the tokens of the current epoch's batches."""
        batches = [[self._tokens[document] for document in batch] for batch in self.current()]
        padded = sum(len(lengths) * max(lengths) for lengths in batches)
        return 1 - sum(map(sum, batches)) / padded if padded else 0.0


class ShuffledBatches(_Batches):
    """Batches for training: every document once an epoch, in an order that seed and epoch alone decide.

    Documents are shuffled, cut into pools, sorted by length within each pool and cut into batches; then the
    batches are shuffled. Without `like_length`, they are shuffled and cut into batches. An incomplete batch
    comes last, where `accelerate` expects it.

    Under a limit on tokens or pairs the number of batches differs a little between epochs; `of_epoch` tells
    it for any of them.

    Args:
        features: the corpus.
        limits: how large a batch may be.
        seed: 0 or more.
        epoch: shared with whatever else draws at random.
        like_length: whether the documents of a batch are of like length.
    """

    def __init__(
        self,
        features: FeatureSet,
        limits: BatchLimits | None = None,
        seed: int = 0,
        epoch: Epoch | None = None,
        *,
        like_length: bool = True,
    ) -> None:
        super().__init__(features, limits or BatchLimits())
        if seed < 0:
            raise ValueError(f"seed: found {seed}, expected 0 or more")
        self.seed = seed
        self.epoch = epoch or Epoch()
        self.like_length = like_length
        self._made: tuple[int, list[list[int]]] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Go to an epoch; `Trainer` and accelerate call this."""
        self.epoch.set(epoch)

    def current(self) -> list[list[int]]:
        """The batches of the current epoch, in order."""
        number = self.epoch.number
        if self._made is None or self._made[0] != number:
            self._made = number, self.of_epoch(number)
        return self._made[1]

    def of_epoch(self, epoch: int) -> list[list[int]]:
        """The batches of any epoch, in order."""
        generator = np.random.default_rng([self.seed, epoch])
        order = generator.permutation(len(self._tokens))
        if not self.like_length:
            return self.limits.cut(order.tolist(), self._tokens, self._pairs)
        size = BATCHES_A_POOL * self.limits.documents
        batches = [
            batch
            for start in range(0, len(order), size)
            for batch in self.limits.cut(
                self._by_length(order[start : start + size]), self._tokens, self._pairs
            )
        ]
        shuffled = [batches[i] for i in generator.permutation(len(batches))]
        # A short batch before the last one would be dropped by accelerate where several processes train.
        return sorted(shuffled, key=self._is_short)

    def _is_short(self, batch: list[int]) -> bool:
        return self.limits.uniform and len(batch) < self.limits.documents

    def _by_length(self, pool: Offsets) -> list[int]:
        return sorted(pool.tolist(), key=self._tokens.__getitem__)


class SortedBatches(_Batches):
    """Batches for scoring: longest documents first, so that a batch too large for the memory fails at once.

    Args:
        features: the corpus.
        limits: how large a batch may be.
    """

    def __init__(self, features: FeatureSet, limits: BatchLimits | None = None) -> None:
        super().__init__(features, limits or BatchLimits())
        order = sorted(range(len(self._tokens)), key=self._tokens.__getitem__, reverse=True)
        self._sorted = self.limits.cut(order, self._tokens, self._pairs)

    def current(self) -> list[list[int]]:
        """The batches, in order."""
        return self._sorted
