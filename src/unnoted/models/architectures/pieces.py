"""Pairs a few thousand at a time, for documents that have hundreds of thousands of them.

500 entities make 249,500 pairs: their embeddings alone take gigabytes, their scores 100 MB. So what all pairs
share is computed once, and what each pair has for itself is made, scored and given up, piece by piece.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded

PAIRS_AT_ONCE = 2**15
"""Batches with more pairs than this are scored in pieces of so many; in training each piece is recomputed in
the backward pass. Products of another size may differ in their last digits: no ordinary batch has so many."""


class PairsInPieces(nn.Module, ABC):
    """A pair representation that can be made for some pairs at a time."""

    independent: ClassVar[bool] = False
    """Whether a pair is represented alike whichever other pairs are candidates."""

    @abstractmethod
    def shared(self, encoded: Encoded, batch: Batch) -> Any:  # noqa: ANN401 - each has its own
        """What the pairs have in common, computed once."""

    @abstractmethod
    def embed(self, shared: Any, batch: Batch, rows: slice | Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        """What represents some of the pairs, with a row for each."""

    def forward(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, ...]:
        """What represents every pair, with a row for each."""
        return self.embed(self.shared(encoded, batch), batch, slice(None))


def pair_scores(pairs: nn.Module, scores: nn.Module, encoded: Encoded, batch: Batch) -> Tensor:
    """The scores of every pair of a batch, [P, K + 1]: `scores(*pairs(encoded, batch))`, in pieces."""
    if batch.pairs <= PAIRS_AT_ONCE or not isinstance(pairs, PairsInPieces):
        whole: Tensor = scores(*pairs(encoded, batch))
        return whole
    shared = pairs.shared(encoded, batch)

    def piece(start: int) -> Tensor:
        scored: Tensor = scores(*pairs.embed(shared, batch, slice(start, start + PAIRS_AT_ONCE)))
        return scored

    starts = range(0, batch.pairs, PAIRS_AT_ONCE)
    if torch.is_grad_enabled():
        return torch.cat([checkpoint(piece, start, use_reentrant=False) for start in starts])
    return torch.cat([piece(start) for start in starts])
