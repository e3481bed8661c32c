"""Localized context pooling (ATLOP): a pair sees what both of its entities attend to.

An entity's state is the log-sum-exp of its mentions' states, its attention A the mean of their attention rows
(per head). For a pair (h, t)

    q = mean over heads of A_h * A_t, normalised to sum 1,      c = q S  (S the token states),
    z_h = tanh(W_h [h; c] + b_h),                               z_t = tanh(W_t [t; c] + b_t).

In a document of several windows the mentions of two entities may share none. Their attentions then do not
overlap, q has no mass, and the context is the mean of what either entity attends to: q = mean over heads of
(A_h + A_t) / 2.

Two facts make this cheap for all pairs at once. The products of all pairs of a document are, at each token,
one small matrix product of its entities' attention with itself; nothing of size pairs x heads x tokens is
made. And c is the same for (h, t) and (t, h), so it is computed once for both, while W [h; c] = W_1 h + W_2 c
lets the first part be computed once per entity.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.checkpoint import checkpoint

from unnoted.models.architectures.lean_contexts import EPSILON, lean_contexts
from unnoted.models.architectures.mention_vectors import marker_states
from unnoted.models.architectures.pieces import PAIRS_AT_ONCE, PairsInPieces
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.kernels.segments import segment_logsumexp

PRODUCTS_AT_ONCE = 2**24
"""How many products of attentions (documents x tokens x entities x entities) are held at a time. Beyond it,
tokens are taken in pieces, and each piece is recomputed in the backward pass."""


class SharedContexts(NamedTuple):
    """What the pairs of a batch have in common.

    Attributes:
        head: [E, embedding], the entities' part of the embeddings of heads.
        tail: [E, embedding], of those of tails.
        contexts: [C, d], the contexts of unordered pairs of entities; or, if `projected`, what the embeddings
            have of them, [C, 2 embedding].
        row: int64 [P], the row of each pair's context.
        projected: which of both.
    """

    head: Tensor
    tail: Tensor
    contexts: Tensor
    row: Tensor
    projected: bool = False


class LocalizedContext(PairsInPieces):
    """The pair representation of ATLOP.

    Args:
        width: the size of a token's state (d).
        embedding: the size of the embeddings of head and tail.

    Reference:
        Zhou, Huang, Ma, Huang (2021): Document-level relation extraction with adaptive thresholding and
        localized context pooling.

    Example:
        >>> pairs = LocalizedContext(width=8, embedding=6)
        >>> pairs.head_projection
        Linear(in_features=16, out_features=6, bias=True)
    """

    independent = True

    def __init__(self, width: int, embedding: int) -> None:
        super().__init__()
        self.width = width
        self.head_projection = nn.Linear(2 * width, embedding)
        self.tail_projection = nn.Linear(2 * width, embedding)

    @property
    def _context_weight(self) -> Tensor:
        """The part of both projections that a context is multiplied with, [2 embedding, d]."""
        projections = self.head_projection, self.tail_projection
        return torch.cat([projection.weight[:, self.width :] for projection in projections])

    def shared(self, encoded: Encoded, batch: Batch) -> SharedContexts:
        """The entities' parts of the embeddings, and the contexts."""
        states = entity_states(encoded, batch)  # [E, d]
        head, tail = (
            linear(states, projection.weight[:, : self.width], projection.bias)
            for projection in (self.head_projection, self.tail_projection)
        )
        if not torch.is_grad_enabled() and batch.device.type == "cpu":
            contexts, row = lean_contexts(encoded.states, encoded.entity_rows(batch), batch)  # [C, d], [P]
            if len(contexts) > PAIRS_AT_ONCE:  # of these, projections would take hundreds of megabytes
                return SharedContexts(head, tail, contexts, row)
            return SharedContexts(head, tail, linear(contexts, self._context_weight), row, projected=True)
        contexts = unordered_contexts(encoded.states, entity_attention(encoded, batch))  # [D, U, d]
        return SharedContexts(head, tail, contexts.flatten(0, 1), context_row(batch, contexts.shape[1]))

    def embed(self, shared: SharedContexts, batch: Batch, rows: slice | Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, embedding] each."""
        contexts, row = shared.contexts, shared.row[rows]
        # Project whichever is fewer: the contexts of all entity pairs, or those of the candidate pairs.
        if shared.projected:
            projected = contexts.index_select(0, row)  # [p, 2 embedding]
        elif contexts.shape[0] <= len(row):
            projected = linear(contexts, self._context_weight).index_select(0, row)
        else:
            projected = linear(contexts.index_select(0, row), self._context_weight)
        head_context, tail_context = projected.chunk(2, 1)
        head = shared.head.index_select(0, batch.head[rows])
        tail = shared.tail.index_select(0, batch.tail[rows])
        if torch.is_grad_enabled():
            return torch.tanh(head + head_context), torch.tanh(tail + tail_context)
        return head.add_(head_context).tanh_(), tail.add_(tail_context).tanh_()


def entity_states(encoded: Encoded, batch: Batch) -> Tensor:
    """The log-sum-exp of the states of each entity's mentions, [E, d]."""
    mention_states = marker_states(encoded.states, batch)  # [M, d]
    return segment_logsumexp(mention_states, batch.mention_entity, batch.entity_document.shape[0])


def entity_attention(encoded: Encoded, batch: Batch) -> Tensor:
    """What the entities attend to, in slots: [D, entities, H, T]; 0 where there is no entity."""
    attention = encoded.entity_rows(batch)  # [E, H, T]
    documents, slots = len(batch.lengths), len(batch.lengths) * batch.entities
    if slots != len(attention):
        slot = batch.entity_document * batch.entities + batch.entity_slot  # [E]
        attention = attention.new_zeros(slots, *attention.shape[1:]).index_copy(0, slot, attention)
    return attention.view(documents, batch.entities, *attention.shape[1:])


def context_row(batch: Batch, contexts: int) -> Tensor:
    """For each pair, int64 [P], the row of its context among the D x U that `unordered_contexts` gives."""
    head, tail = batch.entity_slot[batch.head], batch.entity_slot[batch.tail]
    return batch.pair_document * contexts + unordered_number(head, tail, batch.entities)


def unordered_number(one: Tensor, other: Tensor, entities: int) -> Tensor:
    """The number of two different entities among the unordered pairs (0, 1), (0, 2), ..., (1, 2), ...

    Example:
        >>> unordered_number(torch.tensor([0, 2, 1]), torch.tensor([1, 0, 2]), entities=3)
        tensor([0, 1, 2])
    """
    low, high = torch.minimum(one, other), torch.maximum(one, other)
    before = low * entities - low * (low + 1) // 2  # pairs whose lower entity comes earlier
    return before + high - low - 1


def unordered_contexts(states: Tensor, attention: Tensor) -> Tensor:
    """The context of every unordered pair of entities.

    Args:
        states: [D, T, d].
        attention: [D, E, H, T].

    Returns:
        [D, U, d], U = E (E - 1) / 2: the pairs (0, 1), (0, 2), ..., (1, 2), ...; in float32 at least.
        Where two attentions do not overlap, the mean of what each entity attends to alone.

    Example:
        >>> states = torch.tensor([[[1.0], [10.0]]])
        >>> attention = torch.tensor([[[[0.5, 0.5]], [[0.0, 1.0]]]])
        >>> unordered_contexts(states, attention).round(decimals=2)
        tensor([[[10.]]])
        >>> apart = torch.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]])
        >>> unordered_contexts(states, apart)
        tensor([[[5.5000]]])
    """
    documents, entities, _, tokens = attention.shape
    first, second = torch.triu_indices(entities, entities, 1, device=states.device).unbind()
    pair = first * entities + second  # [U]
    # Products of probabilities are too small for float16, and this is a small part of the work.
    with torch.autocast(states.device.type, enabled=False):
        states = states.to(attention.dtype)
        by_token = attention.permute(0, 3, 1, 2)  # [D, T, E, H]
        piece = max(1, PRODUCTS_AT_ONCE // max(1, documents * entities * entities))
        total, weight = states.new_zeros(()), states.new_zeros(())
        for start in range(0, tokens, piece):
            inputs = states[:, start : start + piece], by_token[:, start : start + piece], pair
            if piece < tokens and torch.is_grad_enabled():
                summed, mass = checkpoint(_weighted_states, *inputs, use_reentrant=False)
            else:
                summed, mass = _weighted_states(*inputs)
            total, weight = total + summed, weight + mass
        own = attention.mean(2) @ states  # [D, E, d]
        either = (own[:, first] + own[:, second]) / 2  # [D, U, d]
        return torch.where(weight > 0, total / (weight + EPSILON), either)


def _weighted_states(states: Tensor, attention: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
    """The states [D, T, d] summed with each pair's products as weights [D, U, d], and their sum [D, U, 1]."""
    products = attention @ attention.transpose(2, 3) / attention.shape[3]  # [D, T, E, E], mean over heads
    products = products.flatten(2).index_select(2, pair)  # [D, T, U]
    return products.transpose(1, 2) @ states, products.sum(1).unsqueeze(2)
