"""Which documents share a batch, and which pairs of a document are scored in training."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

from unnoted.models.features import DocumentFeatures, FeatureSet

BATCHES_PER_POOL = 50
"""Batches whose documents are sorted together. More mean less padding, fewer a better mix of documents."""

Rows: TypeAlias = NDArray[np.int64]
"""Some of a document's candidate pairs, by their rows."""

MIN_UNLABELLED = 20
"""The number of unlabelled pairs that `RatioPairSampler` takes at least from a document."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The largest size of a batch. A document beyond a limit is a batch by itself: none is left out.

    Args:
        documents: number of documents.
        tokens: number of tokens, padding included; None for no limit.
        pairs: number of candidate pairs; None for no limit.
    """

    documents: int = 4
    tokens: int | None = None
    pairs: int | None = None

    def __post_init__(self) -> None:
        for name in ("documents", "tokens", "pairs"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise ValueError(f"a batch cannot have at most {limit} {name}: use 1 or more")


def sort_batches(features: FeatureSet, limits: BatchLimits) -> list[list[int]]:
    """Batches for prediction, longest documents first: one that does not fit into memory fails at once."""
    tokens, pairs = features.token_counts.tolist(), features.pair_counts.tolist()
    batches: list[list[int]] = []
    longest = total = 0  # tokens of the longest document, and pairs, of the last batch
    for document in sorted(range(len(tokens)), key=tokens.__getitem__, reverse=True):
        total += pairs[document]
        fits = bool(batches) and len(batches[-1]) < limits.documents
        fits = fits and (limits.tokens is None or (len(batches[-1]) + 1) * longest <= limits.tokens)
        if fits and (limits.pairs is None or total <= limits.pairs):
            batches[-1].append(document)
        else:
            batches.append([document])
            longest, total = tokens[document], pairs[document]
    return batches


class PairSampler(Protocol):
    """Chooses the pairs of a document that are scored in an epoch.

    The draw may depend on the epoch, so that a resumed run sees the same pairs; `ShuffledBatches` sets it.
    """

    epoch: int

    def sample(self, features: DocumentFeatures) -> tuple[Rows, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights.

        Every pair with a fact or an explicit negative is among them.
        """
        ...


class ShuffledBatches(Sampler[list[int]]):
    """Batches for training: every document once an epoch, in an order that depends on seed and epoch only.

    Documents are shuffled, split into pools, sorted by length within each pool and split into batches; then the
    batches are shuffled. Without `like_length` they are shuffled and split. An incomplete batch comes last.

    Args:
        features: the corpus.
        documents: the number of documents of a batch.
        seed: 0 or more.
        like_length: whether the documents of a batch have similar lengths, which spares a quarter of padding.
        pair_sampler: is set to the same epoch.
        process: which of the processes that share each batch this one is.
        processes: how many there are; one may have no document of an incomplete batch.
    """

    drop_last = False

    def __init__(
        self,
        features: FeatureSet,
        documents: int = 4,
        seed: int = 0,
        *,
        like_length: bool = True,
        pair_sampler: PairSampler | None = None,
        process: int = 0,
        processes: int = 1,
    ) -> None:
        _check_seed(seed)
        self._part = slice(process, None, processes)  # of like lengths, since those of a batch are sorted
        self.batch_size = documents  # accelerate reads it
        self.seed = seed
        self.epoch = 0
        self.like_length = like_length
        self._pair_sampler = pair_sampler
        self._tokens: list[int] = features.token_counts.tolist()

    def set_epoch(self, epoch: int) -> None:
        """Go to an epoch; accelerate calls this."""
        self.epoch = epoch
        if self._pair_sampler is not None:
            self._pair_sampler.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        return (batch[self._part] for batch in self.of_epoch(self.epoch))

    def __len__(self) -> int:
        return -(-len(self._tokens) // self.batch_size)

    def of_epoch(self, epoch: int) -> list[list[int]]:
        """The batches of any epoch, in order, of all processes."""
        generator = np.random.default_rng([self.seed, epoch])
        order: list[int] = generator.permutation(len(self._tokens)).tolist()
        if not self.like_length:
            return self._split(order)
        size = BATCHES_PER_POOL * self.batch_size
        pools = [order[start : start + size] for start in range(0, len(order), size)]
        batches = [
            batch for pool in pools for batch in self._split(sorted(pool, key=self._tokens.__getitem__))
        ]
        shuffled = [batches[i] for i in generator.permutation(len(batches))]
        return sorted(shuffled, key=lambda batch: len(batch) < self.batch_size)

    def _split(self, order: list[int]) -> list[list[int]]:
        return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]


class UniformPairSampler:
    """Keeps all labelled pairs of a document and a random share of the unlabelled ones.

    Most of the head's cost is in unlabelled pairs. Each one that is kept weighs as many as it stands for, so
    that every sum over pairs keeps its expectation. The draw depends on seed, epoch and document index only.

    Args:
        rate: the share of unlabelled pairs, above 0 and at most 1; at least one pair is kept.
        seed: 0 or more.
    """

    def __init__(self, rate: float, seed: int = 0) -> None:
        if not 0 < rate <= 1:
            raise ValueError(
                f"the sampling rate of unlabelled pairs must be above 0 and at most 1, not {rate}"
            )
        _check_seed(seed)
        self.rate, self.seed, self.epoch = rate, seed, 0

    def sample(self, features: DocumentFeatures) -> tuple[Rows, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights."""
        decided, unlabelled = _split_pairs(features)
        kept = max(1, round(self.rate * len(unlabelled))) if len(unlabelled) else 0
        weights = np.zeros(len(features.head), dtype=np.float32)
        weights[decided] = 1
        weights[_choose(unlabelled, kept, self.seed, self.epoch, features)] = len(unlabelled) / max(kept, 1)
        rows = np.flatnonzero(weights)
        return rows, weights[rows]


class RatioPairSampler:
    """Keeps all labelled pairs of a document and a number of unlabelled ones for each, all with weight 1.

    Labelled pairs then have a larger share than in the documents. The draw depends on seed, epoch and document
    index only.

    Args:
        ratio: unlabelled pairs for each labelled one, above 0; at least `MIN_UNLABELLED`, where there are enough.
        seed: 0 or more.

    Reference:
        Zeng, Xu, Chang, Li (2020): Double graph based reasoning for document-level relation extraction; the
        ratio of 4, and the minimum, are those of their program.
    """

    def __init__(self, ratio: float, seed: int = 0) -> None:
        if not 0 < ratio < np.inf:
            raise ValueError(f"the number of unlabelled pairs per labelled pair must be above 0, not {ratio}")
        _check_seed(seed)
        self.ratio, self.seed, self.epoch = ratio, seed, 0

    def sample(self, features: DocumentFeatures) -> tuple[Rows, NDArray[np.float32]]:
        """The rows of the pairs to keep, ascending, and their weights, which are 1."""
        decided, unlabelled = _split_pairs(features)
        wanted = max(MIN_UNLABELLED, int(self.ratio * len(np.unique(features.fact_pair))))
        chosen = _choose(unlabelled, min(wanted, len(unlabelled)), self.seed, self.epoch, features)
        rows = np.sort(np.concatenate([decided, chosen]))
        return rows, np.ones(len(rows), dtype=np.float32)


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise ValueError(f"the seed must be 0 or more, not {seed}")


def _split_pairs(features: DocumentFeatures) -> tuple[Rows, Rows]:
    """The rows of the pairs with a fact or an explicit negative, and of the others."""
    decided = np.zeros(len(features.head), dtype=bool)
    decided[features.fact_pair] = True
    decided[features.negative_pair] = True
    return np.flatnonzero(decided), np.flatnonzero(~decided)


def _choose(rows: Rows, number: int, seed: int, epoch: int, features: DocumentFeatures) -> Rows:
    """Some of the rows, without repetition."""
    generator = np.random.default_rng([seed, epoch, features.index])
    chosen: Rows = generator.choice(rows, number, replace=False, shuffle=False)
    return chosen
