"""The contexts of the candidate pairs alone, document by document: without a gradient, on a CPU.

`unordered_contexts` makes a context of every two entities, with as many tokens and entities for each document
as the largest has. Of a batch that is half in vain. Here each document has its own sizes, and only what is
asked for is summed.
"""

import torch
from torch import Tensor

from unnoted.models.batch import Batch

EPSILON = 1e-5
"""Keeps the normalisation of q finite where the two attentions do not meet."""

PRODUCTS_AT_ONCE = 2**22
"""How many products of attentions (tokens x entities x entities) are held at a time."""


@torch.no_grad()
def lean_contexts(states: Tensor, attention: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """The context of every unordered pair of entities that is a candidate.

    Args:
        states: [D, T, d].
        attention: [E, H, T], what each entity attends to.
        batch: what they belong to.

    Returns:
        The contexts [U, d], in float32 at least, and for each pair of the batch the row of its context [P].
    """
    slots = max(1, batch.entities)
    head, tail = batch.entity_slot[batch.head], batch.entity_slot[batch.tail]  # [P]
    low, high = torch.minimum(head, tail), torch.maximum(head, tail)
    cell, row = torch.unique((batch.pair_document * slots + low) * slots + high, return_inverse=True)  # [U]
    document, low, high = cell // slots**2, cell // slots % slots, cell % slots
    entities = batch.entity_document.bincount(minlength=len(batch.lengths)).tolist()
    counts = document.bincount(minlength=len(batch.lengths)).tolist()
    contexts = attention.new_empty(len(cell), states.shape[2])
    first_entity = first = 0
    for number, length in enumerate(batch.lengths):
        last_entity, last = first_entity + entities[number], first + counts[number]
        pairs = slice(first, last)
        # Products of probabilities are too small for float16.
        with torch.autocast(states.device.type, enabled=False):
            contexts[pairs] = _contexts(
                states[number, :length].to(attention.dtype),
                attention[first_entity:last_entity, :, :length],
                low[pairs] * entities[number] + high[pairs],
            )
        first_entity, first = last_entity, last
    return contexts, row


def _contexts(states: Tensor, attention: Tensor, pair: Tensor) -> Tensor:
    """Contexts [u, d] of one document: states [T, d], attention [E, H, T], pairs as cells of E x E, [u]."""
    entities, heads, tokens = attention.shape
    by_token = attention.permute(2, 0, 1)  # [T, E, H]
    piece = max(1, PRODUCTS_AT_ONCE // max(1, entities**2))
    total, weight = states.new_zeros(()), states.new_zeros(())
    for start in range(0, tokens, piece):
        some = by_token[start : start + piece].contiguous()
        products = (some @ some.mT).flatten(1).index_select(1, pair)  # [t, u], the sum over heads
        total, weight = total + products.T @ states[start : start + piece], weight + products.sum(0)
    contexts = total / (weight + EPSILON * heads).unsqueeze(1)
    if not bool(weight.all()):  # mentions that share no window: see `localized_context`
        own = attention.mean(1) @ states  # [E, d]
        either = (own[pair // entities] + own[pair % entities]) / 2
        contexts = torch.where(weight.unsqueeze(1) > 0, contexts, either)
    return contexts
