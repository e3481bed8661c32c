"""Cosine scores (P3M): a pair and every relation are directions, and a score is how near they are.

    x = normalised(dropout(bilinear(z_h, z_t))),      s_k = x · normalised(e_k),

with a learnt embedding e_k of every relation and of the none class.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from unnoted.models.scores.grouped_bilinear import GroupedBilinear


class CosineScores(nn.Module):
    """Scores of K + 1 classes for each pair, between −1 and 1.

    Args:
        embedding: the size of the embeddings of head and tail, and of a pair and a relation.
        classes: how many scores a pair gets (K + 1, the none class first).
        block: the size of a block of the grouped bilinear that joins head and tail.
        dropout: of the embedding of a pair, in training.

    Reference:
        Wang, Pan, Zhang, Wu, Hu (2024): A positive-unlabeled metric learning framework for document-level
        relation extraction with incomplete labeling.

    Example:
        >>> scores = CosineScores(embedding=8, classes=3, block=4).eval()
        >>> scores(torch.ones(5, 8), torch.ones(5, 8)).shape
        torch.Size([5, 3])
    """

    def __init__(self, embedding: int, classes: int, block: int = 64, *, dropout: float = 0.2) -> None:
        super().__init__()
        self.bilinear = GroupedBilinear(embedding, embedding, block)
        self.dropout = nn.Dropout(dropout)
        self.relations = nn.Parameter(torch.randn(classes, embedding))

    def forward(self, head: Tensor, tail: Tensor) -> Tensor:
        """Scores [P, K + 1] of embeddings [P, embedding] each, in float32 at least."""
        return self.cosines(self.view(self.bilinear(head, tail)))

    def view(self, pairs: Tensor) -> Tensor:
        """Directions [P, embedding] of what the bilinear gives; in training, others every time."""
        return normalize(self.dropout(pairs), dim=1)

    def cosines(self, directions: Tensor) -> Tensor:
        """Cosines [P, K + 1] of directions [P, embedding] of length 1 with every class."""
        dtype = torch.promote_types(directions.dtype, torch.float32)
        with torch.autocast(directions.device.type, enabled=False):
            return directions.to(dtype) @ normalize(self.relations.to(dtype), dim=1).t()

    def towards_none(self, directions: Tensor, share: Tensor) -> Tensor:
        """Directions between those of pairs [F, embedding] and the none class; `share` [F] is of the pair."""
        share = share.unsqueeze(1)
        return normalize(share * directions + (1 - share) * normalize(self.relations[:1], dim=1), dim=1)
