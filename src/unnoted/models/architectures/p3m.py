"""P3M: ATLOP's pairs, scored by cosines between a pair and every relation.

    x = normalised(dropout(bilinear(z_h, z_t))),      f_k = x · normalised(e_k),

with a learnt embedding e_k of every relation and of the threshold class.
"""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from unnoted.models.architectures.atlop import ATLOPPairEncoder
from unnoted.models.architectures.base import ModelSizes, register_architecture
from unnoted.models.architectures.heads import GroupedBilinear


class CosineHead(nn.Module):
    """Logits of K + 1 classes for each pair, cosines between -1 and 1.

    Args:
        pair_dim: of the embeddings of head and tail, and of a pair and a relation.
        num_labels: how many logits a pair gets (K + 1, the threshold class first).
        block_size: of the grouped bilinear that joins head and tail.
        dropout: of the embedding of a pair, in training.

    Reference:
        Wang, Pan, Zhang, Wu, Hu (2024): A positive-unlabeled metric learning framework for document-level
        relation extraction with incomplete labeling. AAAI.
    """

    def __init__(self, pair_dim: int, num_labels: int, block_size: int = 64, *, dropout: float = 0.2) -> None:
        super().__init__()
        self.bilinear = GroupedBilinear(pair_dim, pair_dim, block_size)
        self.dropout = nn.Dropout(dropout)
        self.relations = nn.Parameter(torch.randn(num_labels, pair_dim))

    def forward(self, head: Tensor, tail: Tensor) -> Tensor:
        """Logits [P, K + 1] of embeddings [P, pair_dim] each, in float32 at least."""
        return self.cosines(self.view(self.bilinear(head, tail)))

    def view(self, pairs: Tensor) -> Tensor:
        """Directions [P, pair_dim] of what the bilinear gives; in training, others every time."""
        return normalize(self.dropout(pairs), dim=1)

    def cosines(self, directions: Tensor) -> Tensor:
        """Cosines [P, K + 1] of directions [P, pair_dim] of length 1 with every class."""
        dtype = torch.promote_types(directions.dtype, torch.float32)
        with torch.autocast(directions.device.type, enabled=False):
            return directions.to(dtype) @ normalize(self.relations.to(dtype), dim=1).t()

    def mix_with_threshold_class(self, directions: Tensor, share: Tensor) -> Tensor:
        """Directions between pairs [F, pair_dim] and the threshold class; `share` [F] is of the pair."""
        share = share.unsqueeze(1)
        return normalize(share * directions + (1 - share) * normalize(self.relations[:1], dim=1), dim=1)


@register_architecture("p3m", cosines=True)
def p3m(
    sizes: ModelSizes, pair_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
) -> tuple[nn.Module, nn.Module]:
    """ATLOP's pairs, scored by cosines with relation embeddings (Wang et al., 2024)."""
    head = CosineHead(sizes.pair_dim, sizes.num_labels, sizes.block_size, dropout=pair_dropout)
    return ATLOPPairEncoder(sizes.hidden_size, sizes.pair_dim), head
