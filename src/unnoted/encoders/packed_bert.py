"""BERT without padding, when facts are looked for on a CPU: the tokens of several documents in one row.

All that BERT does but attention, it does to each token alone. So documents of any lengths stand one after the
other, [N, d], and only attention goes from document to document. Nothing is padded, nothing is masked, and
matrix products are long enough to be fast. The layers are BERT's own.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import BertModel, PreTrainedModel

from unnoted.kernels.attention_rows import attention_rows

TOKENS_AT_ONCE = 1024
"""How many tokens stand in a row, at least one document: few enough to stay in cache."""


def can_pack(model: PreTrainedModel) -> bool:
    """Whether a model is a BERT that sees all of a document from each of its tokens, on a CPU."""
    config = model.config
    positions = getattr(config, "position_embedding_type", "absolute")
    plain = not (getattr(config, "is_decoder", False) or getattr(config, "add_cross_attention", False))
    return type(model) is BertModel and plain and positions == "absolute" and model.device.type == "cpu"


@torch.no_grad()
def encode_packed(
    model: PreTrainedModel, input_ids: Tensor, attention_mask: Tensor | None, positions: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """The states of a batch's tokens, and the last layer's attention from some of them.

    Args:
        model: one that `can_pack`, in evaluation mode.
        input_ids: [B, T], padded on the right.
        attention_mask: [B, T], 0 at padding; None where there is none.
        positions: [B, M]; None if no rows are wanted.

    Returns:
        States [B, T, d] and rows [B, H, M, T]; 0 at padding.
    """
    batch, width = input_ids.shape
    lengths = [width] * batch if attention_mask is None else attention_mask.sum(1).tolist()
    states, rows = [], []
    for group in groups_of(lengths):
        some = lengths[group]
        found, at_positions = _encode_row(
            model, [ids[:length] for ids, length in zip(input_ids[group], some, strict=True)],
            None if positions is None else positions[group],
        )  # fmt: skip
        states += [pad(each, (0, 0, 0, width - len(each))) for each in torch.split(found, some)]
        rows += [pad(each, (0, width - each.shape[2])) for each in at_positions]
    return torch.stack(states), torch.stack(rows) if rows else None


def groups_of(lengths: Sequence[int], most: int = TOKENS_AT_ONCE) -> Iterator[slice]:
    """Neighbours that stand in a row together.

    Example:
        >>> [(group.start, group.stop) for group in groups_of([600, 400, 300, 2000, 10])]
        [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    start = tokens = 0
    for place, length in enumerate(lengths):
        if place > start and tokens + length > most:
            yield slice(start, place)
            start, tokens = place, 0
        tokens += length
    yield slice(start, len(lengths))


def _encode_row(
    model: PreTrainedModel, documents: list[Tensor], positions: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """States [N, d] of some documents in a row, and rows [H, M, T] of each at its `positions` [B, M]."""
    bert: Any = model  # whose layers have no types
    lengths = [len(ids) for ids in documents]
    place = torch.cat([torch.arange(length) for length in lengths])  # [N]
    ids = torch.cat(documents)
    states: Tensor = bert.embeddings(
        input_ids=ids[None], position_ids=place[None], token_type_ids=torch.zeros_like(ids)[None]
    )[0]
    parts: list[list[Tensor]] = []
    for layer in bert.encoder.layer:
        attention = layer.attention.self
        heads = (-1, attention.num_attention_heads, attention.attention_head_size)
        # Query, key and value of each document, [1, H, T, d / H].
        parts = [
            [each.transpose(0, 1)[None] for each in torch.split(projection(states).view(heads), lengths)]
            for projection in (attention.query, attention.key, attention.value)
        ]
        attended = torch.cat(
            [scaled_dot_product_attention(*qkv)[0].transpose(0, 1) for qkv in zip(*parts, strict=True)]
        )  # [N, H, d / H]
        states = layer.attention.output(attended.flatten(1), states)
        states = layer.output(layer.intermediate(states), states)
    if positions is None:
        return states, []
    chosen = [some.clamp(max=length - 1) for some, length in zip(positions, lengths, strict=True)]
    rows = [
        attention_rows(query, key, some[None])[0]
        for query, key, some in zip(parts[0], parts[1], chosen, strict=True)
    ]
    return states, rows
