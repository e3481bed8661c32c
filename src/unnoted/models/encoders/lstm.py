"""A BiLSTM encoder, for work without a pretrained one, and attention over its states.

It learns from a few hundred documents what a transformer without pretraining needs many more for. Pairs may
need attention from every token to every other, which an LSTM does not have; one layer of query and key products
over its states gives it.

Besides the words it can see, at each token, the type of the entity that is mentioned there and the number of
that entity in the document. With learnt initial states, and dropout of whole features, this is the encoder of
DocRED's BiLSTM baseline.

Reference:
    Yao, Ye, Li, Han, Lin, Liu, Liu, Huang, Zhou, Sun (2019): DocRED: a large-scale document-level relation
    extraction dataset.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from unnoted.models.batch import Batch
from unnoted.models.encoders.loading import EncoderError
from unnoted.models.pooling import mentions_at_tokens


class LSTMConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of an `LSTMEncoder`.

    Attributes:
        vocab_size: number of tokens.
        input_size: size of a word vector; by default that of a state.
        train_words: whether word vectors are trained.
        type_size: size of the embedding of the type of the entity mentioned at a token; 0 for none.
        types: number of types; a type of a higher number counts as unknown.
        entity_size: size of the embedding of the number of the entity mentioned at a token; 0 for none.
        entities: number of entities that are told apart; those of a higher number share the last embedding.
        hidden_size: size of a token's state; half of it from each direction.
        num_hidden_layers: number of LSTM layers.
        num_attention_heads: number of attention heads; 0 for an encoder without attention.
        hidden_dropout_prob: dropout of single values of the inputs, between layers and at the end.
        locked_dropout: drop features instead of single values, each at all tokens of a document or at none,
            and only where they enter a layer.
        learnt_start: whether the initial states are learnt, instead of 0.
        max_position_embeddings: number of tokens at once; a recurrence has no limit of its own.
        pad_token_id: the padding token.
    """

    model_type = "unnoted-lstm"

    vocab_size: int = 1000
    input_size: int | None = None
    train_words: bool = True
    type_size: int = 0
    types: int = 0
    entity_size: int = 0
    entities: int = 0
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    hidden_dropout_prob: float = 0.1
    locked_dropout: bool = False
    learnt_start: bool = False
    max_position_embeddings: int = 2**20
    pad_token_id: int = 0


def reverse_order(mask: Tensor) -> Tensor:
    """For each token the one that takes its place when the document is read backwards; its own inverse.

    Padding stays behind the document.

    Args:
        mask: [B, T], 1 at tokens, which come first, and 0 at padding.

    Example:
        >>> reverse_order(torch.tensor([[1, 1, 1, 0]]))
        tensor([[2, 1, 0, 3]])
    """
    position = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return torch.where(mask == 1, mask.sum(1, keepdim=True) - 1 - position, position)


class BiLSTMLayer(nn.Module):
    """One LSTM reads the documents forwards, another one backwards.

    Over padded documents rather than torch's packed ones: for documents of different lengths those are several
    times slower on a CPU.
    """

    def __init__(self, input_size: int, size: int, learnt_start: bool = False) -> None:
        super().__init__()
        self.forwards = nn.LSTM(input_size, size // 2, batch_first=True)
        self.backwards = nn.LSTM(input_size, size // 2, batch_first=True)
        # For each direction, the hidden state and the cell state.
        self.start = nn.Parameter(torch.zeros(2, 2, size // 2)) if learnt_start else None

    def forward(self, states: Tensor, order: Tensor) -> Tensor:
        """States [B, T, input] to states [B, T, d]; `order` [B, T] is what `reverse_order` gives."""
        index = order.unsqueeze(2)  # [B, T, 1]
        ahead, _ = self.forwards(states, self._start(0, len(states)))
        back, _ = self.backwards(states.gather(1, index.expand_as(states)), self._start(1, len(states)))
        return torch.cat([ahead, back.gather(1, index.expand_as(back))], 2)

    def _start(self, direction: int, documents: int) -> tuple[Tensor, Tensor] | None:
        """Initial hidden state and cell state, [1, B, d / 2] each; None where they are 0."""
        if self.start is None:
            return None
        hidden, cell = self.start[direction, :, None, None].expand(-1, -1, documents, -1).contiguous()
        return hidden, cell


class LockedDropout(nn.Module):
    """Dropout of features: one that is dropped is dropped at all tokens of the document."""

    def __init__(self, dropout: nn.Dropout) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, states: Tensor) -> Tensor:
        """States [B, T, d], in training with some features of each document set to 0, the others scaled."""
        if not self.training:
            return states
        kept: Tensor = self.dropout(states.new_ones(states.shape[0], 1, states.shape[2]))  # [B, 1, d]
        return states * kept


class FixedEmbedding(nn.Embedding):
    """An embedding that is never trained: a buffer, because loading a model unfreezes every parameter."""

    def __init__(self, rows: int, size: int, padding_idx: int) -> None:
        super().__init__(rows, size, padding_idx)
        weight = self.weight.detach()
        del self.weight
        self.register_buffer("weight", weight)


class LSTMEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Tokens → states of a BiLSTM, and attention from each to every other.

    Raises:
        EncoderError: the sizes of the configuration do not fit each other.
    """

    config: LSTMConfig
    config_class = LSTMConfig
    main_input_name = "input_ids"

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        if config.hidden_size % 2:
            raise EncoderError(f"LSTM encoder: hidden_size must be even, not {config.hidden_size}")
        for width, rows in (("type_size", "types"), ("entity_size", "entities")):
            if getattr(config, width) > 0 and getattr(config, rows) < 1:
                raise EncoderError(f"LSTM encoder: {width} above 0 needs {rows} of 1 or more")
        size = config.hidden_size
        word_size = size if config.input_size is None else config.input_size
        embedding = nn.Embedding if config.train_words else FixedEmbedding
        self.embedding = embedding(config.vocab_size, word_size, config.pad_token_id)
        self.type_embedding = _mention_embedding(config.types, config.type_size)
        self.entity_embedding = _mention_embedding(config.entities, config.entity_size)
        dropout = nn.Dropout(config.hidden_dropout_prob)
        self.dropout = LockedDropout(dropout) if config.locked_dropout else dropout
        inputs = word_size + config.type_size + config.entity_size
        self.layers = nn.ModuleList(
            BiLSTMLayer(size if layer else inputs, size, config.learnt_start)
            for layer in range(config.num_hidden_layers)
        )
        if config.num_attention_heads > 0:
            self.query = nn.Linear(size, size)
            self.key = nn.Linear(size, size)
        self.post_init()  # type: ignore[no-untyped-call]

    @property
    def takes_mentions(self) -> bool:
        """Whether it takes what `mention_inputs` gives."""
        return self.type_embedding is not None or self.entity_embedding is not None

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the layers start as torch makes them."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        mention_types: Tensor | None = None,
        mention_entities: Tensor | None = None,
        output_attentions: bool = False,
        **others: Any,  # noqa: ANN401
    ) -> BaseModelOutput:
        """States [B, T, d], and if asked for attention [B, H, T, T]; padding is not attended to.

        Args:
            input_ids: int64 [B, T].
            attention_mask: int64 [B, T], 1 at tokens and 0 at padding, which comes last.
            mention_types: int64 [B, T], the number of the type of the mention at a token; 0 for none.
            mention_entities: int64 [B, T], the number, from 1, of the entity mentioned there; 0 for none.
            output_attentions: whether to give attention.
            others: ignored arguments of transformers.
        """
        if output_attentions and self.config.num_attention_heads == 0:
            raise EncoderError("an LSTM encoder with 0 attention heads gives no attention")
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self._embed(input_ids, mention_types, mention_entities)  # [B, T, inputs]
        order = reverse_order(mask)
        for layer in self.layers:
            states = layer(self.dropout(states), order)  # [B, T, d]
        if not self.config.locked_dropout:
            states = self.dropout(states)
        attentions = (self._attend(states, mask),) if output_attentions else None
        return BaseModelOutput(last_hidden_state=states, attentions=attentions)  # type: ignore[arg-type]

    def _embed(self, tokens: Tensor, types: Tensor | None, entities: Tensor | None) -> Tensor:
        parts: list[Tensor] = [self.embedding(tokens)]
        if self.type_embedding is not None:
            types = torch.zeros_like(tokens) if types is None else types
            parts.append(self.type_embedding(types.where(types <= self.config.types, 0)))
        if self.entity_embedding is not None:
            entities = torch.zeros_like(tokens) if entities is None else entities
            parts.append(self.entity_embedding(entities.clamp(max=self.config.entities)))
        return torch.cat(parts, 2) if len(parts) > 1 else parts[0]

    def _attend(self, states: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, size = states.shape
        heads = self.config.num_attention_heads
        query, key = (
            layer(states).view(batch, tokens, heads, size // heads).transpose(1, 2)
            for layer in (self.query, self.key)
        )  # [B, H, T, d / H] each
        products = query @ key.transpose(2, 3) / query.shape[3] ** 0.5  # [B, H, T, T]
        attention: Tensor = products.masked_fill(mask[:, None, None] == 0, -torch.inf).softmax(3)
        return attention


def _mention_embedding(rows: int, size: int) -> nn.Embedding | None:
    # Row 0 stays 0: what is no mention, or of an unknown type, adds nothing.
    return nn.Embedding(rows + 1, size, padding_idx=0) if size > 0 else None


def mention_inputs(batch: Batch, width: int) -> dict[str, Tensor]:
    """The type and the entity that each token belongs to, by the names of `LSTMEncoder`'s arguments.

    Returns:
        `mention_types`, int64 [D, T], the number of the type; 0 outside mentions and for unknown types.
        `mention_entities`, int64 [D, T], the entity's index in its document plus 1; 0 outside mentions.
    """
    mention = mentions_at_tokens(batch, width)
    entity = batch.entity_slot[batch.mention_entity] + 1
    # The row -1 is the last: the 0 that is appended.
    return {
        "mention_types": pad(batch.mention_type, (0, 1))[mention],
        "mention_entities": pad(entity, (0, 1))[mention],
    }


AutoConfig.register(LSTMConfig.model_type, LSTMConfig)
AutoModel.register(LSTMConfig, LSTMEncoder)
