"""BRAN: bi-affine scores of pairs of mentions, pooled by log-sum-exp to scores of pairs of entities.

The state of every token of a mention goes through one small network for its part as head and another for its
part as tail, and

    a_ijk = head_i^T W_k tail_j,      f_htk = log sum over tokens i of h's mentions, j of t's of exp a_ijk.

A log-sum-exp over both is one over the tokens of the tail, then one over those of the head. Both run over the
tokens that there are, with the largest value of each group subtracted: no score is too large, and padding
belongs to no group. BRAN's own encoder is the setting `encoder`.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unnoted.models.architectures.base import ModelSizes, register_architecture
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import pad_by_document, pad_entities, pair_cells, segment_logsumexp

SCORES_AT_ONCE = 2**24
"""How many scores of mention tokens (documents x heads x tails x classes) are held at a time. Beyond it,
heads are taken in pieces, and each piece is recomputed in the backward pass."""


class MentionTokens(NamedTuple):
    """The S tokens of mentions, and where they belong; L is the largest number of them in one document.

    Attributes:
        head: [D, L, pair_dim], the tokens as heads; 0 where there is none.
        tail: [D, L, pair_dim], the tokens as tails; 0 where there is none.
        row: int64 [S], the row of each token among the D x L.
        entity: int64 [S], row into the batch's entities.
        neighbour: int64 [N, E], for each entity of the batch the rows of the entities of its document, by
            their slot; any row where there is none.
        pair_cell: int64 [P], where a pair stands among the N x E: at its head's row and its tail's slot.
    """

    head: Tensor
    tail: Tensor
    row: Tensor
    entity: Tensor
    neighbour: Tensor
    pair_cell: Tensor


class MentionPairEncoder(nn.Module):
    """BRAN's pair encoder: the tokens of the mentions of every pair, to be scored by `BiaffineHead`.

    Args:
        hidden_size: of a token's state (d), and of the networks' hidden layer.
        pair_dim: of a token's vector as head and as tail; 128 as published.

    Reference:
        Verga, Strubell, McCallum (2018): Simultaneously self-attending to all mentions for full-abstract
        biological relation extraction. NAACL.
    """

    def __init__(self, hidden_size: int, pair_dim: int) -> None:
        super().__init__()
        self.head_network, self.tail_network = (
            nn.Sequential(nn.Linear(hidden_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, pair_dim))
            for _ in range(2)
        )

    def forward(self, encoded: EncoderOutput, batch: Batch) -> MentionTokens:
        """The tokens, and which of them belong to which pair."""
        states = encoded.states[batch.span_document, batch.span_token]  # [S, d]
        head, tail = (
            pad_by_document(
                network(states), batch.span_document, batch.span_slot, len(batch.lengths), batch.spans
            )
            for network in (self.head_network, self.tail_network)
        )
        entities = torch.arange(batch.entity_document.shape[0], device=batch.device)  # [N]
        return MentionTokens(
            head=head,
            tail=tail,
            row=batch.span_document * batch.spans + batch.span_slot,
            entity=batch.span_entity,
            neighbour=pad_entities(entities, batch).index_select(0, batch.entity_document),
            pair_cell=pair_cells(batch),
        )


class BiaffineHead(nn.Module):
    """Logits of K + 1 classes for each pair of entities, from the vectors of their mentions' tokens.

    All classes start from the same orthogonal matrix, as published.
    """

    def __init__(self, pair_dim: int, num_labels: int) -> None:
        super().__init__()
        start = torch.empty(pair_dim, pair_dim)
        nn.init.orthogonal_(start)
        self.weight = nn.Parameter(start.unsqueeze(1).repeat(1, num_labels, 1))

    def forward(
        self, head: Tensor, tail: Tensor, row: Tensor, entity: Tensor, neighbour: Tensor, pair_cell: Tensor
    ) -> Tensor:
        """Logits [P, K + 1], in float32 at least, of what `MentionPairEncoder` gives."""
        (documents, tokens, _), (entities, slots), classes = head.shape, neighbour.shape, self.weight.shape[1]
        at_once = max(1, SCORES_AT_ONCE // max(1, documents * tokens * classes))
        pieces = []
        for some in torch.split(head, at_once, 1):
            inputs = some, tail, row, entity, entities
            if at_once < tokens and torch.is_grad_enabled():
                pieces.append(checkpoint(self._pool_tails, *inputs, use_reentrant=False))
            else:
                pieces.append(self._pool_tails(*inputs))
        by_tail = torch.cat(pieces, 1).flatten(0, 1)  # [N of the tail * L, K + 1]
        # For each token of a head, and each slot of its document, the row of that entity and this token.
        cell = neighbour.index_select(0, entity) * tokens + (row % max(1, tokens)).unsqueeze(1)  # [S, E]
        logits = by_tail.index_select(0, cell.flatten()).view(len(row), slots, classes)
        logits = segment_logsumexp(logits, entity, entities)  # [N of the head, E, K + 1]
        return logits.flatten(0, 1).index_select(0, pair_cell)

    def _pool_tails(self, head: Tensor, tail: Tensor, row: Tensor, entity: Tensor, entities: int) -> Tensor:
        """Scores of some heads' tokens [D, l, pair_dim] with every entity as tail, [N, l, K + 1]."""
        (documents, heads, pair_dim), classes = head.shape, self.weight.shape[1]
        projected = (head @ self.weight.flatten(1)).view(documents, heads * classes, pair_dim)
        joint = tail @ projected.transpose(1, 2)  # [D, L, l * (K + 1)]
        joint = joint.flatten(0, 1).index_select(0, row)  # [S, l * (K + 1)]
        return segment_logsumexp(joint, entity, entities).view(entities, heads, classes)


@register_architecture("bran", attention=False)
def bran(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Bi-affine scores of mention pairs, pooled by log-sum-exp (Verga et al., 2018)."""
    head = BiaffineHead(sizes.pair_dim, sizes.num_labels)
    return MentionPairEncoder(sizes.hidden_size, sizes.pair_dim), head
