"""Documents of any length through any transformers encoder: token states and the attention of entities."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from unnoted.models.batch import Batch
from unnoted.models.encoders.attention_rows import can_give_rows, hook_rows, last_attention, request_rows
from unnoted.models.encoders.fast_dropout import use_fast_dropout
from unnoted.models.encoders.loading import EncoderError, position_limit
from unnoted.models.encoders.lstm import mention_inputs
from unnoted.models.encoders.packed_bert import PackedBert, can_pack
from unnoted.models.encoders.windows import MentionPositions, merge_attention, merge_states, plan_windows
from unnoted.models.pooling import segment_mean

EncoderRunner: TypeAlias = Callable[[dict[str, Tensor], Tensor | None, Tensor], tuple[Tensor, Tensor | None]]
"""Runs an encoder: has the arguments and results of `DocumentEncoder.encode`."""

WINDOWS_PER_CALL = 4
"""The windows of long documents go through the encoder in calls of at most so many."""

STATES_KEPT = WINDOWS_PER_CALL * 512 * 12 * 768
"""Tokens x layers x width, as BERT-base has them in one call. Where several calls have more, the activations
of each are recomputed in the backward pass, so that memory does not grow with the length of documents."""

MAX_MATRIX_TOKENS = 2048
"""An encoder that gives attention as a whole matrix sees at most so many tokens at once."""

UNKNOWN_LAYERS = 24
"""The number of layers assumed of an encoder whose configuration does not say."""


class EncoderOutput(NamedTuple):
    """What an encoder gives of a batch.

    Attributes:
        states: [D, T, d], the token states; undefined at padding.
        attention: [E, H, T], the attention of each entity: the mean over its mentions of the last layer's
            attention from the opening marker; 0 at padding. None from an encoder without attention.
    """

    states: Tensor
    attention: Tensor | None = None

    @property
    def entity_attention(self) -> Tensor:
        """`attention`, where there is one.

        Raises:
            EncoderError: the encoder was made without attention.
        """
        if self.attention is None:
            raise EncoderError("this encoder gives no attention: DocumentEncoder(..., attention=True) does")
        return self.attention


class DocumentEncoder(nn.Module):
    """Wraps a transformers encoder.

    Encoders that use transformers' attention interface (BERT, RoBERTa, ELECTRA, ModernBERT, ...) keep fused
    attention and give the attention of mentions only. Others (DeBERTa, MPNet, ...) are run with
    `output_attentions`; what they give has attention dropout in training. An encoder that gives no attention is
    refused where attention is wanted.

    Longer documents than the encoder takes are split into windows. Memory grows with the length of a document
    and with the number of its mentions, not with their product or with a square.

    An encoder with a true attribute `takes_mentions` also gets the `mention_inputs` of each token.

    Args:
        model: the encoder.
        attention: whether attention is wanted.

    Attributes:
        limit: the number of tokens that the encoder takes at once.
        runner: runs the encoder in prediction, in place of torch (`Int8Bert`); None for torch.
    """

    def __init__(self, model: PreTrainedModel, attention: bool = True) -> None:
        super().__init__()
        use_fast_dropout(model)
        self.model = model
        self.limit = position_limit(model)
        if attention and not can_give_rows(model):
            self.limit = min(self.limit, MAX_MATRIX_TOKENS)
        self.attention = attention
        self.runner: EncoderRunner | None = None
        self._gives_rows: bool | None = None

    @property
    def width(self) -> int:
        """The size of a token's state (d)."""
        size: int = self.model.config.hidden_size
        return size

    @property
    def can_pack(self) -> bool:
        """Whether documents can be encoded without padding (`PackedBert`)."""
        self.prepare()
        return (bool(self._gives_rows) or not self.attention) and can_pack(self.model)

    def prepare(self) -> None:
        """Find out how this encoder gives attention, once; done in the first forward pass if not before.

        Raises:
            EncoderError: it gives none, and it is wanted.
        """
        if self._gives_rows is not None:
            return
        attention = last_attention(self.model) if self.attention else None
        self._gives_rows = attention is not None
        if attention is not None:
            hook_rows(attention)
        elif self.attention:
            self._use_attention_matrices()

    @torch.no_grad()
    def try_out(self) -> None:
        """Encode two tokens: sizes that torch accepts need not make an encoder that works.

        Raises:
            EncoderError: the states are not finite.
        """
        tokens = torch.zeros(1, 2, dtype=torch.int64, device=self.model.device)
        output = self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
        if not torch.isfinite(output.last_hidden_state).all():
            raise EncoderError("the encoder's states are not finite")

    def forward(self, batch: Batch) -> EncoderOutput:
        """Encode a batch's documents."""
        self.prepare()
        width = max(batch.lengths)
        tokens = {"input_ids": batch.input_ids[:, :width]}
        if getattr(self.model, "takes_mentions", False):
            tokens |= mention_inputs(batch, width)
        if width > self.limit:
            return self._encode_windows(batch, tokens)
        positions = batch.mention_position.new_zeros(len(batch.lengths), batch.mentions)  # [D, m]
        positions[batch.mention_document, batch.mention_slot] = batch.mention_position
        mask = None if min(batch.lengths) == width else batch.attention_mask[:, :width]
        states, rows = self._run(tokens, mask, positions)  # [D, T, d], [D, H, m, T]
        if rows is None:
            return EncoderOutput(states)
        of_mentions = rows[batch.mention_document, :, batch.mention_slot]  # [M, H, T]
        return EncoderOutput(
            states, segment_mean(of_mentions, batch.mention_entity, len(batch.entity_document))
        )

    def _run(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """What `encode` gives; in prediction by the runner, or without padding where that is possible."""
        if torch.is_grad_enabled() or self.training:
            return self.encode(tokens, attention_mask, positions)
        if self.runner is not None:
            return self.runner(tokens, attention_mask, positions)
        if self.can_pack:
            return PackedBert(self.model, self.attention)(tokens, attention_mask, positions)
        return self.encode(tokens, attention_mask, positions)

    def encode(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] and, if wanted, attention [B, H, M, T] from `positions` [B, M].

        Args:
            tokens: the encoder's inputs, [B, T], by the names of its arguments.
            attention_mask: [B, T], 0 at padding; None where there is none.
            positions: [B, M].
        """
        if not self.attention:
            return self.model(**tokens, attention_mask=attention_mask).last_hidden_state, None
        if self._gives_rows:
            with request_rows(positions) as request:
                states = self.model(**tokens, attention_mask=attention_mask).last_hidden_state
            assert request.rows is not None, "the last attention layer was prepared, but did not run"
            return states, request.rows
        output = self.model(**tokens, attention_mask=attention_mask, output_attentions=True)
        matrix = output.attentions[-1]  # [B, H, T, T]
        index = positions[:, None, :, None].expand(-1, matrix.shape[1], -1, matrix.shape[3])
        return output.last_hidden_state, matrix.gather(2, index)

    def _encode_windows(self, batch: Batch, tokens: dict[str, Tensor]) -> EncoderOutput:
        plan = plan_windows(batch.lengths, self.limit, batch.device)
        padding = {"input_ids": self.model.config.pad_token_id or 0}
        tokens = {
            name: values[plan.document[:, None], plan.source].masked_fill(
                plan.mask == 0, padding.get(name, 0)
            )
            for name, values in tokens.items()
        }  # [W, L] each
        positions = MentionPositions.from_plan(plan, batch)
        windows, widest = plan.mask.shape
        layers: int = getattr(self.model.config, "num_hidden_layers", UNKNOWN_LAYERS)
        recompute = windows > WINDOWS_PER_CALL and windows * widest * layers * self.width > STATES_KEPT
        all_states, all_rows = [], []
        for start in range(0, windows, WINDOWS_PER_CALL):
            call = slice(start, start + WINDOWS_PER_CALL)
            width = max(window.width for window in plan.windows[call])
            own_tokens = {name: values[call, :width] for name, values in tokens.items()}
            inputs = own_tokens, plan.mask[call, :width], positions.table[call]
            if recompute and torch.is_grad_enabled():
                states, rows = checkpoint(self._run, *inputs, use_reentrant=False)
            else:
                states, rows = self._run(*inputs)
            all_states.append(pad(states, (0, 0, 0, widest - width)))  # [w, L, d]
            if rows is not None:
                own = (positions.window >= start) & (positions.window < start + WINDOWS_PER_CALL)
                rows = rows[positions.window[own] - start, :, positions.rank[own]]
                all_rows.append(pad(rows, (0, widest - width)))  # [n, H, L]
        states = merge_states(plan, torch.cat(all_states))
        if not self.attention:
            return EncoderOutput(states)
        return EncoderOutput(states, merge_attention(plan, positions, torch.cat(all_rows), batch))

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
            raise EncoderError(f"encoder {name} gives no attention: {error}") from error
        finally:
            self.model.train(training)
        attentions = getattr(output, "attentions", None)
        shape = tuple(attentions[-1].shape) if attentions and attentions[-1] is not None else None
        if shape is None or len(shape) != 4 or shape[2:] != (2, 2):
            raise EncoderError(
                f"encoder {name} gives no attention from every token to every other: for two tokens it gives "
                f"{'nothing' if shape is None else f'shape {shape}'}, not (1, heads, 2, 2)"
            )
