"""ATLOP: localized context pooling, where a pair sees what both of its entities attend to.

An entity's state is the log-sum-exp of its mentions' states, its attention A the mean of their attention rows
(per head). For a pair (h, t)

    q = mean over heads of A_h * A_t, normalised to sum 1,      c = q S  (S the token states),
    z_h = tanh(W_h [h; c] + b_h),                               z_t = tanh(W_t [t; c] + b_t),

scored by a grouped bilinear. In a document of several windows the mentions of two entities may share none.
Their attentions then do not overlap, q has no mass, and the context is the mean of what either entity attends
to: q = mean over heads of (A_h + A_t) / 2.

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

from unnoted.models.architectures.base import ModelSizes, PairEncoder, register_architecture
from unnoted.models.architectures.heads import GroupedBilinear
from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.models.pooling import count_entities, pool_entities

EPSILON = 1e-5
"""Keeps the normalisation of q finite where the two attentions hardly overlap."""

PRODUCTS_AT_ONCE = 2**24
"""How many products of attentions (tokens x entities x entities) are held at a time. Beyond it, tokens are
taken in pieces, and each piece is recomputed in the backward pass."""


class PairContexts(NamedTuple):
    """The contexts of the unordered pairs of entities of every document, C in all.

    Attributes:
        values: [C, d], by document; in each (0, 1), (0, 2), ..., (1, 2), ...; with (0, 0), (1, 1), ... among
            them if `diagonal`.
        start: int64 [D], the row of each document's first.
        entities: int64 [D], how many entities each document has.
        diagonal: whether each entity has a context with itself.
    """

    values: Tensor
    start: Tensor
    entities: Tensor
    diagonal: bool

    def rows(self, document: Tensor, one: Tensor, other: Tensor) -> Tensor:
        """The rows of the contexts of two entities, given by document and index in the document."""
        low, high = torch.minimum(one, other), torch.maximum(one, other)
        own = int(self.diagonal)
        before = (
            low * self.entities[document] - low * (low + 1 - 2 * own) // 2
        )  # pairs with a lower entity first
        return self.start[document] + before + high - low - 1 + own


def pool_contexts(encoded: EncoderOutput, batch: Batch, *, diagonal: bool = False) -> PairContexts:
    """The context of every unordered pair of entities, in float32 at least."""
    attention = encoded.entity_attention  # [N, H, T]
    values, first = [attention.new_empty(0, encoded.states.shape[2])], 0
    # Products of probabilities are too small for float16, and this is a small part of the work.
    with torch.autocast(attention.device.type, enabled=False):
        states = encoded.states.to(attention.dtype)
        for document, (length, count) in enumerate(zip(batch.lengths, batch.entity_counts, strict=True)):
            own = attention[first : first + count, :, :length]  # [E, H, t]
            values.append(_document_contexts(states[document, :length], own, diagonal))
            first += count
    entities = count_entities(batch)
    contexts = entities * (entities - 1 + 2 * int(diagonal)) // 2
    return PairContexts(torch.cat(values), contexts.cumsum(0) - contexts, entities, diagonal)


def _document_contexts(states: Tensor, attention: Tensor, diagonal: bool) -> Tensor:
    """The contexts of one document, [C, d], of states [T, d] and attention [E, H, T]."""
    entities, heads, tokens = attention.shape
    first, second = torch.triu_indices(entities, entities, 1 - int(diagonal), device=states.device).unbind()
    pair = first * entities + second  # [C]
    by_token = attention.permute(2, 0, 1)  # [T, E, H]
    step = max(1, PRODUCTS_AT_ONCE // max(1, entities**2))
    total, weight = states.new_zeros(len(pair), states.shape[1]), states.new_zeros(len(pair))
    for start in range(0, tokens, step):
        inputs = states[start : start + step], by_token[start : start + step], pair
        if step < tokens and torch.is_grad_enabled():
            summed, mass = checkpoint(_sum_products, *inputs, use_reentrant=False)
        else:
            summed, mass = _sum_products(*inputs)
        total, weight = total + summed, weight + mass
    contexts = total / (weight + EPSILON * heads).unsqueeze(1)
    # Only a CPU may look: another device would have to be waited for.
    if attention.device.type == "cpu" and bool(weight.all()):
        return contexts
    own = attention.mean(1) @ states  # [E, d]
    return torch.where(weight.unsqueeze(1) > 0, contexts, (own[first] + own[second]) / 2)


def _sum_products(states: Tensor, attention: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
    """The states [t, d] summed with each pair's products as weights, [C, d], and the weights' sum [C]."""
    some = attention.contiguous()  # [t, E, H]
    products = (some @ some.mT).flatten(1).index_select(1, pair)  # [t, C]
    return products.T @ states, products.sum(0)


class SharedContexts(NamedTuple):
    """What the pairs of a batch have in common.

    Attributes:
        head: [N, pair_dim], the entities' part of the embeddings of heads.
        tail: [N, pair_dim], of those of tails.
        contexts: [C, d]; or, if `projected`, what the embeddings have of them, [C, 2 pair_dim].
        row: int64 [P], the row of each pair's context.
        projected: which of both.
    """

    head: Tensor
    tail: Tensor
    contexts: Tensor
    row: Tensor
    projected: bool


class ATLOPPairEncoder(PairEncoder):
    """ATLOP's pair encoder: embeddings of head and tail with the localized context of the pair.

    Args:
        hidden_size: of a token's state (d).
        pair_dim: of the embeddings of head and tail.

    Reference:
        Zhou, Huang, Ma, Huang (2021): Document-level relation extraction with adaptive thresholding and
        localized context pooling. AAAI.
    """

    pairs_are_independent = True

    def __init__(self, hidden_size: int, pair_dim: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.head_projection = nn.Linear(2 * hidden_size, pair_dim)
        self.tail_projection = nn.Linear(2 * hidden_size, pair_dim)

    @property
    def _context_weight(self) -> Tensor:
        """The part of both projections that a context is multiplied with, [2 pair_dim, d]."""
        projections = self.head_projection, self.tail_projection
        return torch.cat([projection.weight[:, self.hidden_size :] for projection in projections])

    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> SharedContexts:
        """The entities' parts of the embeddings, and the contexts."""
        states = pool_entities(encoded.states, batch)  # [N, d]
        head, tail = (
            linear(states, projection.weight[:, : self.hidden_size], projection.bias)
            for projection in (self.head_projection, self.tail_projection)
        )
        contexts = pool_contexts(encoded, batch)
        row = contexts.rows(batch.pair_document, batch.entity_slot[batch.head], batch.entity_slot[batch.tail])
        # Project whichever is fewer: the contexts of all entity pairs, or those of the candidate pairs.
        if len(contexts.values) > min(batch.pairs, self.pairs_at_once):
            return SharedContexts(head, tail, contexts.values, row, projected=False)
        return SharedContexts(head, tail, linear(contexts.values, self._context_weight), row, projected=True)

    def encode_pairs(
        self, shared: SharedContexts, batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, pair_dim] each."""
        context = shared.contexts.index_select(0, shared.row[rows])
        if not shared.projected:
            context = linear(context, self._context_weight)
        head_context, tail_context = context.chunk(2, 1)
        head = shared.head.index_select(0, batch.head[rows])
        tail = shared.tail.index_select(0, batch.tail[rows])
        return torch.tanh(head + head_context), torch.tanh(tail + tail_context)


@register_architecture("atlop")
def atlop(sizes: ModelSizes) -> tuple[nn.Module, nn.Module]:
    """Localized context pooling, scored by a grouped bilinear (Zhou et al., 2021)."""
    head = GroupedBilinear(sizes.pair_dim, sizes.num_labels, sizes.block_size)
    return ATLOPPairEncoder(sizes.hidden_size, sizes.pair_dim), head
