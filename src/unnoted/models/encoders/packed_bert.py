"""BERT without padding, when facts are looked for on a CPU: the tokens of several documents in one row.

All that BERT does but attention, it does to each token alone. So documents of any lengths stand one after the
other, [N, d], and only attention goes from document to document. Nothing is padded, nothing is masked, and
matrix products are long enough to be fast. The layers are BERT's own, or copies of
them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import BertModel, PreTrainedModel

from unnoted.models.kernels.attention_rows import attention_rows

TOKENS_AT_ONCE = 1024
"""How many tokens stand in a row, at least one document: few enough to stay in cache."""


def can_pack(model: PreTrainedModel) -> bool:
    """Whether a model is a BERT that sees all of a document from each of its tokens, on a CPU."""
    config = model.config
    positions = getattr(config, "position_embedding_type", "absolute")
    plain = not (getattr(config, "is_decoder", False) or getattr(config, "add_cross_attention", False))
    return type(model) is BertModel and plain and positions == "absolute" and model.device.type == "cpu"


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """What a layer of BERT does to each token alone.

    Attributes:
        heads: the shape of a projection, (-1, H, d / H).
        project: from states [N, d] to queries, keys and values, [N, d] each.
        mix: from what was attended to and the states before, [N, d] each, to the states after the layer.
    """

    heads: tuple[int, int, int]
    project: Callable[[Tensor], Sequence[Tensor]]
    mix: Callable[[Tensor, Tensor], Tensor]


def packed_layer(layer: Any) -> PackedLayer:  # noqa: ANN401 - transformers' layers have no types
    """A layer as it is."""
    attention = layer.attention.self

    def project(states: Tensor) -> Sequence[Tensor]:
        return attention.query(states), attention.key(states), attention.value(states)

    def mix(attended: Tensor, states: Tensor) -> Tensor:
        states = layer.attention.output(attended, states)
        mixed: Tensor = layer.output(layer.intermediate(states), states)
        return mixed

    return PackedLayer(heads_of(attention), project, mix)


def heads_of(attention: Any) -> tuple[int, int, int]:  # noqa: ANN401
    """The shape of a projection, (-1, H, d / H)."""
    return -1, attention.num_attention_heads, attention.attention_head_size


def stack_of(model: PreTrainedModel) -> Any:  # noqa: ANN401
    """The layers of a BERT, which have no types."""
    return model.encoder


class PackedBert:
    """Runs a BERT over a batch whose documents stand in rows.

    Args:
        model: one that `can_pack`, in evaluation mode.
        layers: those of the model, or copies.
        rows: whether attention rows are wanted.
        multiple: rows are filled up to a multiple of so many tokens.
    """

    def __init__(
        self, model: PreTrainedModel, layers: Sequence[PackedLayer], rows: bool = True, multiple: int = 1
    ) -> None:
        self._embed: Any = model.embeddings
        self._layers = layers
        self._wants_rows = rows
        self._multiple = multiple

    @classmethod
    def of(cls, model: PreTrainedModel, rows: bool = True) -> "PackedBert":
        """With the model's own layers."""
        return cls(model, [packed_layer(layer) for layer in stack_of(model).layer], rows)

    @torch.no_grad()
    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The states of a batch's tokens, and the last layer's attention from some of them.

        Args:
            tokens: `input_ids` [B, T], padded on the right.
            attention_mask: [B, T], 0 at padding; None where there is none.
            positions: [B, M].

        Returns:
            States [B, T, d] and, if they are wanted, rows [B, H, M, T]; 0 at padding.
        """
        input_ids = tokens["input_ids"]
        batch, width = input_ids.shape
        lengths = [width] * batch if attention_mask is None else attention_mask.sum(1).tolist()
        states, rows = [], []
        for group in groups_of(lengths):
            some = lengths[group]
            documents = [ids[:length] for ids, length in zip(input_ids[group], some, strict=True)]
            found, at_positions = self._row(documents, positions[group])
            states += [pad(each, (0, 0, 0, width - len(each))) for each in torch.split(found, some)]
            rows += [pad(each, (0, width - each.shape[2])) for each in at_positions]
        return torch.stack(states), torch.stack(rows) if rows else None

    def _row(self, documents: list[Tensor], positions: Tensor) -> tuple[Tensor, list[Tensor]]:
        """States [N, d] of some documents in a row, and rows [H, M, T] of each at its `positions` [B, M]."""
        tokens = sum(len(ids) for ids in documents)
        filling = torch.zeros(-tokens % self._multiple, dtype=torch.int64)  # a document that nobody asked for
        in_row = [*documents, filling] if len(filling) else documents
        lengths = [len(each) for each in in_row]
        ids = torch.cat(in_row)  # [N]
        place = torch.cat([*(torch.arange(len(each)) for each in documents), filling])
        states: Tensor = self._embed(
            input_ids=ids[None], position_ids=place[None], token_type_ids=torch.zeros_like(ids)[None]
        )[0]
        parts: list[list[Tensor]] = []
        for layer in self._layers:
            # Query, key and value of each document, [1, H, T, d / H].
            parts = [
                [each.transpose(0, 1)[None] for each in torch.split(part.reshape(layer.heads), lengths)]
                for part in layer.project(states)
            ]
            attended = torch.cat(
                [scaled_dot_product_attention(*qkv)[0].transpose(0, 1) for qkv in zip(*parts, strict=True)]
            )  # [N, H, d / H]
            states = layer.mix(attended.flatten(1), states)
        if not self._wants_rows:
            return states[:tokens], []
        rows = [
            attention_rows(query, key, some[None].clamp(max=len(ids) - 1))[0]
            for ids, query, key, some in zip(documents, *parts[:2], positions, strict=False)
        ]
        return states[:tokens], rows


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
