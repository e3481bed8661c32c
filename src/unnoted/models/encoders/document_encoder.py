"""Documents of any length through any transformers encoder: token states, and the rows at mentions."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from unnoted.models.batch import Batch
from unnoted.models.encoders.calls import EncoderRunner, encode_in_calls
from unnoted.models.encoders.crowded_rows import (
    MentionPlaces,
    merge_entity_rows,
    own_entity_rows,
    too_long_for_matrices,
    too_many_rows,
)
from unnoted.models.encoders.encoded import Encoded, EncodedEntities
from unnoted.models.encoders.mention_inputs import mention_inputs
from unnoted.models.encoders.packed_bert import PackedBert, can_pack
from unnoted.models.encoders.pretrained import EncoderError, position_limit
from unnoted.models.encoders.windows import WindowPlan, mention_places, merge_rows, merge_states, plan_windows
from unnoted.models.kernels.attention_dropout import use_fast_attention_dropout
from unnoted.models.kernels.attention_rows import give_rows, last_attention, requested
from unnoted.models.kernels.dropout import use_fast_dropout

WINDOWS_AT_ONCE = 4
"""Long documents go through the encoder in calls of at most so many windows."""

STATES_KEPT = WINDOWS_AT_ONCE * 512 * 12 * 768
"""Tokens x layers x width, as BERT-base has them in one call. Where several calls have more, the activations
of each are recomputed in the backward pass, so that memory does not grow with the length of documents. Small
encoders seldom have more, and are spared the second forward pass."""

UNKNOWN_LAYERS = 24
"""What an encoder is taken to have if its configuration does not say."""


class DocumentEncoder(nn.Module):
    """Wraps a transformers encoder.

    Encoders that use transformers' attention interface (BERT, RoBERTa, ELECTRA, ModernBERT, ...) keep fused
    attention and give the rows at mentions only, with dropout if asked for. Others (DeBERTa, MPNet, ...) are
    run with `output_attentions` and the rows are picked from the last layer's matrix, which in training has
    attention dropout applied. An encoder that gives no attention is refused, unless none is wanted.

    An encoder that has an attribute `takes_mentions`, which is true, is also given what `mention_inputs` says
    of each token. One that has a method `attention_parts`, from its states to queries and keys, is asked for
    these instead of for matrices where a document is too long for them.

    Memory grows with the length of a document and with the number of its mentions, not with their product or
    with a square: where a document has too many mentions for a row each, attention is averaged over each
    entity's mentions as it is made (`EncodedEntities`).

    Args:
        model: the encoder.
        limit: how many tokens it takes at once; by default what its configuration names.
        fast_dropout: whether dropout on a CPU takes the fast way, which rounds its rate to 1/256.
        attention: whether attention rows are wanted.

    Example:
        >>> from transformers import BertConfig, BertModel
        >>> config = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        ...                     intermediate_size=16, max_position_embeddings=16)
        >>> DocumentEncoder(BertModel(config)).limit
        16
    """

    def __init__(
        self,
        model: PreTrainedModel,
        limit: int | None = None,
        fast_dropout: bool = True,
        attention: bool = True,
    ) -> None:
        super().__init__()
        if fast_dropout:
            use_fast_attention_dropout(model)
            use_fast_dropout(model)
        self.model = model
        self.limit = position_limit(model) if limit is None else limit
        self.attention = attention
        self.runner: EncoderRunner | None = None
        """What runs the encoder in torch's place, when facts are looked for; None for torch."""
        self._gives_rows: bool | None = None
        self._last_layers: tuple[GradientCheckpointingLayer, ...] = ()

    @property
    def _has_parts(self) -> bool:
        return hasattr(self.model, "attention_parts")

    @property
    def _heads(self) -> int:
        heads: int = self.model.config.num_attention_heads
        return heads

    def _too_large(self, batch: Batch, width: int) -> bool:
        return too_long_for_matrices(width) or too_many_rows(batch, self._heads)

    @property
    def width(self) -> int:
        """The size of a token's state (d)."""
        size: int = self.model.config.hidden_size
        return size

    def prepare(self) -> None:
        """Find out how this encoder gives attention rows, once. Done at the first forward pass if not before.

        Raises:
            EncoderError: if it gives none, and they are wanted.
        """
        if self._gives_rows is not None:
            return
        attention = last_attention(self.model) if self.attention else None
        self._gives_rows = attention is not None
        if attention is None:
            if self.attention:
                self._use_attention_matrices()
            return
        give_rows(attention)
        # The rows leave the last layer by a side door, which a recomputed layer does not have.
        self._last_layers = tuple(
            layer
            for layer in self.model.modules()
            if isinstance(layer, GradientCheckpointingLayer) and attention in set(layer.modules())
        )

    @torch.no_grad()
    def try_out(self) -> None:
        """Encode two tokens: sizes that torch accepts need not make an encoder that works.

        Raises:
            EncoderError: if the states are not finite numbers, or it is asked for more tokens than it takes.
        """
        tokens = torch.zeros(1, 2, dtype=torch.int64, device=self.model.device)
        output = self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
        if not torch.isfinite(output.last_hidden_state).all():
            raise EncoderError("found states that are not finite, expected finite numbers")
        for name, module in self.model.named_modules():
            table = isinstance(module, nn.Embedding) and name.endswith("position_embeddings")
            if table and self.limit > module.num_embeddings:
                raise EncoderError(
                    f"found a window of {self.limit:,} tokens, expected the encoder's "
                    f"{module.num_embeddings:,} at most"
                )

    def forward(self, batch: Batch) -> Encoded:
        """Encode a batch's documents."""
        self.prepare()
        for layer in self._last_layers:
            layer.gradient_checkpointing = False
        positions = batch.mention_position.new_zeros(len(batch.lengths), batch.mentions)  # [D, Mmax]
        positions[batch.mention_document, batch.mention_slot] = batch.mention_position
        width = max(batch.lengths)
        tokens = {"input_ids": batch.input_ids[:, :width]}
        if getattr(self.model, "takes_mentions", False):
            tokens |= mention_inputs(batch, width)
        if width > self.limit:
            return self._encode_windows(batch, tokens, positions)
        if self.attention and self._has_parts and self._too_large(batch, width):
            return self._encode_by_parts(batch, tokens, width)
        mask = None if min(batch.lengths) == width else batch.attention_mask[:, :width]
        states, rows = self._encode(tokens, mask, positions)
        return Encoded(states, None if rows is None else rows[batch.mention_document, :, batch.mention_slot])

    @property
    def gives_rows(self) -> bool:
        """Whether attention rows come from the attention interface of transformers."""
        self.prepare()
        return bool(self._gives_rows)

    def _encode(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """What `encode` gives, by the runner if there is one and nothing is learnt."""
        if torch.is_grad_enabled() or self.training:
            return self.encode(tokens, attention_mask, positions)
        if self.runner is not None:
            return self.runner(tokens, attention_mask, positions)
        if self.packs:
            return PackedBert.of(self.model, self.attention)(tokens, attention_mask, positions)
        if tokens["input_ids"].device.type != "cpu":
            return self.encode(tokens, attention_mask, positions)
        return encode_in_calls(self.encode, tokens, attention_mask, positions)

    @property
    def packs(self) -> bool:
        """Whether documents can stand in a row without padding."""
        return (self.gives_rows or not self.attention) and can_pack(self.model)

    def encode(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] and, if wanted, the rows at `positions` [B, M] as [B, H, M, T].

        Args:
            tokens: what the encoder is told of each token, [B, T], by the names of its arguments.
            attention_mask: [B, T], 0 at padding; None where there is none.
            positions: [B, M].
        """
        if not self.attention:
            return self.model(**tokens, attention_mask=attention_mask).last_hidden_state, None
        if self._gives_rows:
            with requested(positions) as request:
                states = self.model(**tokens, attention_mask=attention_mask).last_hidden_state
            assert request.rows is not None, "the last attention layer was prepared, but did not run"
            return states, request.rows
        output = self.model(**tokens, attention_mask=attention_mask, output_attentions=True)
        matrix = output.attentions[-1]  # [B, H, T, T]
        index = positions[:, None, :, None].expand(-1, matrix.shape[1], -1, matrix.shape[3])
        return output.last_hidden_state, matrix.gather(2, index)

    def _encode_windows(self, batch: Batch, tokens: dict[str, Tensor], positions: Tensor) -> Encoded:
        plan = plan_windows(batch.lengths, self.limit, batch.device)
        padding = {"input_ids": self.model.config.pad_token_id or 0}
        tokens = {
            name: values[plan.document[:, None], plan.source].masked_fill(
                plan.mask == 0, padding.get(name, 0)
            )
            for name, values in tokens.items()
        }  # [W, L] each
        if self.attention and too_many_rows(batch, self._heads):
            return self._encode_crowded(batch, plan, tokens)
        pieces = self._encode_calls(plan, tokens, mention_places(plan, positions))
        states = merge_states(plan, torch.cat([states for states, _ in pieces]))  # of [W, L, d]
        rows = [rows for _, rows in pieces if rows is not None]
        if not self.attention:
            return Encoded(states)
        mentions = batch.mention_document, batch.mention_position, batch.mention_slot
        return Encoded(states, merge_rows(plan, torch.cat(rows), *mentions))  # of [W, H, Mmax, L]

    def _encode_calls(
        self, plan: WindowPlan, tokens: dict[str, Tensor], places: Tensor
    ) -> list[tuple[Tensor, Tensor | None]]:
        """States [w, L, d] and rows [w, H, M, L] at `places` [W, M] of a few windows after the other."""
        calls = range(0, len(plan.widths), WINDOWS_AT_ONCE)
        recompute = len(calls) > 1 and self._states_in(plan) > STATES_KEPT
        return [self._encode_call(plan, tokens, places, start, recompute) for start in calls]

    def _states_in(self, plan: WindowPlan) -> int:
        """Numbers in the states of all layers, over all windows."""
        layers: int = getattr(self.model.config, "num_hidden_layers", UNKNOWN_LAYERS)
        return len(plan.widths) * plan.width * layers * self.width

    def _encode_crowded(self, batch: Batch, plan: WindowPlan, tokens: dict[str, Tensor]) -> Encoded:
        """Rows in each window are made for the mentions that stand in it, and averaged over entities."""
        places = MentionPlaces.of(plan, batch)
        states, rows = [], []
        for start in range(0, len(plan.widths), WINDOWS_AT_ONCE):
            some = places.within(start, start + WINDOWS_AT_ONCE)
            found, at_places = self._encode_call(plan, tokens, some.table, start, recompute=True)
            assert at_places is not None
            states.append(found)
            rows.append(at_places[some.window - start, :, some.rank])  # [k, H, L]
        attention = merge_entity_rows(plan, places, torch.cat(rows), batch)
        return EncodedEntities(merge_states(plan, torch.cat(states)), attention)

    def _encode_by_parts(self, batch: Batch, tokens: dict[str, Tensor], width: int) -> Encoded:
        """Attention of an encoder that gives its parts: some mentions at a time, averaged over entities."""
        mask = batch.attention_mask[:, :width]
        states = self.model(**tokens, attention_mask=mask).last_hidden_state
        model: Any = self.model
        query, key = model.attention_parts(states)
        return EncodedEntities(states, own_entity_rows(query, key, mask, batch))

    def _encode_call(
        self, plan: WindowPlan, tokens: dict[str, Tensor], places: Tensor, start: int, recompute: bool
    ) -> tuple[Tensor, Tensor | None]:
        call = slice(start, start + WINDOWS_AT_ONCE)
        width = max(plan.widths[call])
        inputs = (
            {name: values[call, :width] for name, values in tokens.items()},
            plan.mask[call, :width],
            places[call].clamp(max=width - 1),
        )
        if recompute and torch.is_grad_enabled():
            states, rows = checkpoint(self._encode, *inputs, use_reentrant=False)
        else:
            states, rows = self._encode(*inputs)
        missing = plan.width - width
        return F.pad(states, (0, 0, 0, missing)), None if rows is None else F.pad(rows, (0, missing))

    def _use_attention_matrices(self) -> None:
        name = type(self.model).__name__
        tokens = torch.zeros(1, 2, dtype=torch.int64, device=self.model.device)
        training = self.model.training
        try:
            if self.model.config._attn_implementation != "eager":
                self.model.set_attn_implementation("eager")
            with torch.no_grad():
                output = self.model.train(False)(
                    input_ids=tokens, attention_mask=torch.ones_like(tokens), output_attentions=True
                )
        except (TypeError, ValueError) as error:
            raise EncoderError(f"encoder {name} cannot give its attention: {error}") from error
        finally:
            self.model.train(training)
        attentions = getattr(output, "attentions", None)
        found = tuple(attentions[-1].shape) if attentions and attentions[-1] is not None else None
        if found is None or len(found) != 4 or found[2:] != (2, 2):
            raise EncoderError(
                f"encoder {name} gives no attention from every token to every other: for two tokens, found "
                f"{'nothing' if found is None else f'shape {found}'}, expected shape (1, heads, 2, 2)"
            )
