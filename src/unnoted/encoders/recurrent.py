"""A small recurrent encoder, for work without a pretrained one: two-way LSTM states, and attention over them.

It learns from a few hundred documents what a transformer without pretraining needs many more for: which words
stand near each other. Pairs need attention from every token to every other, which an LSTM does not have; one
layer of query and key products over its states gives it.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput


class RecurrentConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of a `RecurrentEncoder`.

    Attributes:
        vocab_size: how many tokens there are.
        hidden_size: the size of a token's state; half of it comes from each direction.
        num_hidden_layers: how many LSTM layers there are.
        num_attention_heads: how many ways of attending there are.
        hidden_dropout_prob: the share of states that is dropped in training, between layers and at the end.
        max_position_embeddings: how many tokens it takes at once; a recurrence has no limit of its own.
        pad_token_id: the token that fills up short documents.
    """

    model_type = "unnoted-recurrent"

    vocab_size: int = 1000
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    hidden_dropout_prob: float = 0.1
    max_position_embeddings: int = 4096
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
    those take a way without fused steps, which is several times slower on a processor.

    Args:
        size: of a state, coming in and going out; half of it from each direction.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.ahead = nn.LSTM(size, size // 2, batch_first=True)
        self.back = nn.LSTM(size, size // 2, batch_first=True)

    def forward(self, states: Tensor, backwards: Tensor) -> Tensor:
        """States [B, T, d] to states [B, T, d]; `backwards` is what `reversed_order` gives."""
        order = backwards.unsqueeze(2)  # [B, T, 1]
        ahead, _ = self.ahead(states)
        back, _ = self.back(states.gather(1, order.expand_as(states)))
        return torch.cat([ahead, back.gather(1, order.expand_as(back))], 2)


class RecurrentEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Tokens → states of a two-way LSTM, and attention from each to every other.

    Args:
        config: its sizes.

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
        size = config.hidden_size
        self.embedding = nn.Embedding(config.vocab_size, size, config.pad_token_id)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layers = nn.ModuleList(TwoWayLSTM(size) for _ in range(config.num_hidden_layers))
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the layers start as torch makes them."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        **others: Any,  # noqa: ANN401
    ) -> BaseModelOutput:
        """States [B, T, d], and if asked for attention [B, heads, T, T]; padding is not attended to."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        states = self.dropout(self.embedding(input_ids))  # [B, T, d]
        backwards = reversed_order(mask)
        for layer in self.layers:
            states = self.dropout(layer(states, backwards))
        attentions = (self._attend(states, mask),) if output_attentions else None
        return BaseModelOutput(last_hidden_state=states, attentions=attentions)  # type: ignore[arg-type]

    def _attend(self, states: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, size = states.shape
        heads = self.config.num_attention_heads
        query, key = (
            layer(states).view(batch, tokens, heads, size // heads).transpose(1, 2)  # [B, H, T, d / H]
            for layer in (self.query, self.key)
        )
        products = query @ key.transpose(2, 3) / (size // heads) ** 0.5  # [B, H, T, T]
        attention: Tensor = products.masked_fill(mask[:, None, None] == 0, -torch.inf).softmax(3)
        return attention


AutoConfig.register(RecurrentConfig.model_type, RecurrentConfig)
AutoModel.register(RecurrentConfig, RecurrentEncoder)
