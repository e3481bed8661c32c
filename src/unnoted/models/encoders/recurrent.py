"""A small recurrent encoder, for work without a pretrained one: two-way LSTM states, and attention over them.

It learns from a few hundred documents what a transformer without pretraining needs many more for: which words
stand near each other. Pairs may need attention from every token to every other, which an LSTM does not have;
one layer of query and key products over its states gives it.

Besides the words it can be told, at each token, the type of the entity that is mentioned there and the number
of that entity in the document, which is the same at all its mentions. With start states that are learnt, and
dropout of whole features of its inputs, this is the encoder of DocRED's BiLSTM.

Reference:
    Yao, Ye, Li, Han, Lin, Liu, Liu, Huang, Zhou, Sun (2019): DocRED: a large-scale document-level relation
    extraction dataset.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from unnoted.models.encoders.pretrained import EncoderError
from unnoted.models.encoders.word_embedding import word_embedding


class RecurrentConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of a `RecurrentEncoder`.

    Attributes:
        vocab_size: how many tokens there are.
        input_size: the size of a word's vector; by default that of a state.
        train_words: whether the words' vectors are learnt, or stay as they are.
        type_size: the size of the embedding of the type of the entity mentioned at a token; 0 for none.
        types: how many types there are; a type of a higher number counts as unknown.
        entity_size: the size of the embedding of the number of the entity mentioned at a token; 0 for none.
        entities: how many entities are told apart; those of a higher number all share the last embedding.
        hidden_size: the size of a token's state; half of it comes from each direction.
        num_hidden_layers: how many LSTM layers there are.
        num_attention_heads: how many ways of attending there are; 0 for an encoder without attention.
        hidden_dropout_prob: the share that is dropped in training: of single values of the inputs, between
            layers and at the end.
        locked_dropout: drop features instead of single values, each at all tokens of a document or at none,
            and only where they enter a layer; nothing of what the last layer gives.
        learnt_start: the LSTMs begin each document with states that are learnt, instead of 0.
        max_position_embeddings: how many tokens it takes at once; a recurrence has no limit of its own.
        pad_token_id: the token that fills up short documents.
    """

    model_type = "unnoted-recurrent"

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


def reversed_order(mask: Tensor) -> Tensor:
    """For each token of a document the one that takes its place when the document is read backwards.

    Padding stays behind the document, where it can not reach it. The order is its own inverse.

    Args:
        mask: [B, T], 1 at tokens, which come first, and 0 at padding.

    Example:
        >>> reversed_order(torch.tensor([[1, 1, 1, 0]]))
        tensor([[2, 1, 0, 3]])
    """
    place = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return torch.where(mask == 1, mask.sum(1, keepdim=True) - 1 - place, place)


class TwoWayLSTM(nn.Module):
    """One LSTM reads the documents, another reads them backwards.

    Two directions over padded documents rather than torch's packed ones: for documents of different lengths
    those take a way without fused steps, which is several times slower on a CPU.

    Args:
        input_size: of a state coming in.
        size: of a state going out; half of it from each direction.
        learnt_start: whether the states before the first token are learnt; they are 0 at first.
    """

    def __init__(self, input_size: int, size: int, learnt_start: bool = False) -> None:
        super().__init__()
        self.ahead = nn.LSTM(input_size, size // 2, batch_first=True)
        self.back = nn.LSTM(input_size, size // 2, batch_first=True)
        # Of each direction, the hidden state and the cell state.
        self.start = nn.Parameter(torch.zeros(2, 2, size // 2)) if learnt_start else None

    def forward(self, states: Tensor, backwards: Tensor) -> Tensor:
        """States [B, T, input] to states [B, T, d]; `backwards` is what `reversed_order` gives."""
        order = backwards.unsqueeze(2)  # [B, T, 1]
        ahead, _ = self.ahead(states, self._start(0, len(states)))
        back, _ = self.back(states.gather(1, order.expand_as(states)), self._start(1, len(states)))
        return torch.cat([ahead, back.gather(1, order.expand_as(back))], 2)

    def _start(self, direction: int, documents: int) -> tuple[Tensor, Tensor] | None:
        """Hidden state and cell state before the first token, [1, B, d / 2] each; None where they are 0."""
        if self.start is None:
            return None
        hidden, cell = self.start[direction, :, None, None].expand(-1, -1, documents, -1).contiguous()
        return hidden, cell


class LockedDropout(nn.Module):
    """Dropout of features: what is dropped of a document is dropped at all its tokens.

    Args:
        dropout: draws what is dropped.

    Example:
        >>> LockedDropout(nn.Dropout(1.0))(torch.ones(1, 2, 3)).sum()
        tensor(0.)
    """

    def __init__(self, dropout: nn.Dropout) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, states: Tensor) -> Tensor:
        """States [B, T, d], in training with some features of each document set to 0, the others scaled."""
        if not self.training:
            return states
        kept: Tensor = self.dropout(states.new_ones(states.shape[0], 1, states.shape[2]))  # [B, 1, d]
        return states * kept


class RecurrentEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Tokens → states of a two-way LSTM, and attention from each to every other.

    Args:
        config: its sizes.

    Raises:
        EncoderError: if the sizes do not fit each other.

    Example:
        >>> encoder = RecurrentEncoder(RecurrentConfig(vocab_size=20, hidden_size=8, num_attention_heads=2))
        >>> output = encoder(torch.tensor([[3, 4, 5]]), output_attentions=True)
        >>> output.last_hidden_state.shape, output.attentions[-1].shape
        (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    config: RecurrentConfig
    config_class = RecurrentConfig
    main_input_name = "input_ids"

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(config)
        _check_sizes(config)
        size = config.hidden_size
        word_size = size if config.input_size is None else config.input_size
        self.embedding = word_embedding(config.vocab_size, word_size, config.pad_token_id, config.train_words)
        self.type_embedding = _mention_embedding(config.types, config.type_size)
        self.entity_embedding = _mention_embedding(config.entities, config.entity_size)
        dropout = nn.Dropout(config.hidden_dropout_prob)
        self.dropout = LockedDropout(dropout) if config.locked_dropout else dropout
        inputs = word_size + config.type_size + config.entity_size
        self.layers = nn.ModuleList(
            TwoWayLSTM(size if layer else inputs, size, config.learnt_start)
            for layer in range(config.num_hidden_layers)
        )
        if config.num_attention_heads > 0:
            self.query = nn.Linear(size, size)
            self.key = nn.Linear(size, size)
        self.post_init()  # type: ignore[no-untyped-call]

    @property
    def takes_mentions(self) -> bool:
        """Whether it wants to be told what is mentioned at each token."""
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
        """States [B, T, d], and if asked for attention [B, heads, T, T]; padding is not attended to.

        Args:
            input_ids: int64 [B, T].
            attention_mask: int64 [B, T], 1 at tokens and 0 at padding, which comes last.
            mention_types: int64 [B, T], the number of the type of what is mentioned at a token; 0 for none.
            mention_entities: int64 [B, T], the number, from 1, of the entity mentioned there; 0 for none.
            output_attentions: whether to give attention.
            others: what transformers gives to some encoders, and is of no use here.

        Raises:
            EncoderError: if attention is asked for and the encoder was made without.
        """
        if output_attentions and self.config.num_attention_heads == 0:
            raise EncoderError("found a recurrent encoder of 0 attention heads, expected some for attention")
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self._embed(input_ids, mention_types, mention_entities)  # [B, T, inputs]
        backwards = reversed_order(mask)
        for layer in self.layers:
            states = layer(self.dropout(states), backwards)  # [B, T, d]
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

    def attention_parts(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """What attends and what is attended to, [B, heads, T, d / heads] each, from the states [B, T, d].

        For documents so long that attention from every token to every other would not fit: who has these can
        make the rows that are wanted.
        """
        batch, tokens, size = states.shape
        heads = self.config.num_attention_heads
        query, key = (
            layer(states).view(batch, tokens, heads, size // heads).transpose(1, 2)
            for layer in (self.query, self.key)
        )
        return query, key

    def _attend(self, states: Tensor, mask: Tensor) -> Tensor:
        query, key = self.attention_parts(states)
        products = query @ key.transpose(2, 3) / query.shape[3] ** 0.5  # [B, H, T, T]
        attention: Tensor = products.masked_fill(mask[:, None, None] == 0, -torch.inf).softmax(3)
        return attention


def _mention_embedding(rows: int, size: int) -> nn.Embedding | None:
    # Row 0 stays 0: what is no mention, or of an unknown type, adds nothing.
    return nn.Embedding(rows + 1, size, padding_idx=0) if size > 0 else None


def _check_sizes(config: RecurrentConfig) -> None:
    if config.hidden_size % 2:
        raise EncoderError(f"recurrent encoder: found hidden_size {config.hidden_size}, expected an even one")
    for width, rows in (("type_size", "types"), ("entity_size", "entities")):
        if getattr(config, width) > 0 and getattr(config, rows) < 1:
            raise EncoderError(
                f"recurrent encoder: found {width} {getattr(config, width)} with {rows} "
                f"{getattr(config, rows)}, expected at least 1 of them"
            )


AutoConfig.register(RecurrentConfig.model_type, RecurrentConfig)
AutoModel.register(RecurrentConfig, RecurrentEncoder)
