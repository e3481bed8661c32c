"""BRAN's encoder: blocks of self-attention and convolutions over words and their positions.

With b the states that come into a block, of h heads, and C_w a convolution of width w,

    q, k, v = ReLU(W b + c)  for each head,          o = the heads' attention, side by side,
    m = norm(o + b),                                 out = norm(m + C_1(ReLU(C_5(ReLU(C_1(m)))))).

Padding is attended to by nobody and is 0 where the width-5 convolution reaches it, so that a document's
states do not depend on what it shares a batch with.

The authors' program, which was read for what the paper leaves open, differs in three places: it adds a ReLU
after the last convolution, it normalises what the convolutions give without adding m, and it multiplies the
inputs by the root of their size. Here it is as the paper has it, and words start at standard deviation 1.

Reference:
    Verga, Strubell, McCallum (2018): Simultaneously self-attending to all mentions for full-abstract
    biological relation extraction.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from unnoted.models.encoders.pretrained import EncoderError
from unnoted.models.encoders.word_embedding import word_embedding

POSITION_SCALE = 0.1
"""The standard deviation that position vectors start with; 1 is that of the words, which count at first."""


class ConvolutionalAttentionConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of a `ConvolutionalAttentionEncoder`; as published for the CTD abstracts by default.

    Attributes:
        vocab_size: how many tokens there are.
        input_size: the size of a word's vector; by default that of a state, to which it is projected if not.
        train_words: whether the words' vectors are learnt, or stay as they are.
        hidden_size: the size of a token's state.
        intermediate_size: the size between the convolutions.
        num_hidden_layers: how many blocks there are.
        num_attention_heads: how many heads the attention of each block has.
        convolution_width: how many tokens the middle convolution of a block sees, an odd number.
        hidden_dropout_prob: the share that is dropped in training: of inputs, attention and residuals.
        layer_norm_eps: keeps the normalisation finite.
        max_position_embeddings: how many tokens it takes at once.
        pad_token_id: the token that fills up short documents.
    """

    model_type = "unnoted-convolutional-attention"

    vocab_size: int = 1000
    input_size: int | None = None
    train_words: bool = True
    hidden_size: int = 128
    intermediate_size: int = 512
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    convolution_width: int = 5
    hidden_dropout_prob: float = 0.05
    layer_norm_eps: float = 1e-5
    max_position_embeddings: int = 1024
    pad_token_id: int = 0


def attention_with_weights(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **options: Any,  # noqa: ANN401 - the signature that transformers prescribes
) -> tuple[Tensor, Tensor]:
    """Plain attention as transformers calls it: outputs [B, T, H, d], and the weights [B, H, T, T].

    Example:
        >>> values = torch.eye(2).reshape(1, 1, 2, 2)
        >>> output, _ = attention_with_weights(nn.Identity(), values, values, values, None, scaling=0.0)
        >>> output.squeeze()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    products = query @ key.transpose(2, 3) * scaling  # [B, H, T, T]
    if attention_mask is not None:
        products = products.masked_fill(~attention_mask, torch.finfo(products.dtype).min)
    weights = products.softmax(3)
    return (drop(weights, dropout) @ value).transpose(1, 2), weights


class SelfAttention(nn.Module):
    """Every token attends to every other; the heads' outputs stand side by side.

    It uses transformers' attention interface, so that attention is fused where nobody asks for its weights,
    and the rows at mentions can be had alone.

    Args:
        config: of the encoder; has `hidden_size`, `num_attention_heads` and `hidden_dropout_prob`.
    """

    is_causal = False

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__()
        self.config = config
        self.heads = config.num_attention_heads
        self.rate = config.hidden_dropout_prob
        self.projection = nn.Linear(config.hidden_size, 3 * config.hidden_size)

    def project(self, states: Tensor) -> Tensor:
        """Queries, keys and values side by side, [B, T, 3 d], of states [B, T, d]."""
        projected: Tensor = self.projection(states).relu()
        return projected

    def forward(
        self, states: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] to outputs [B, T, d], and if asked for the weights [B, H, T, T]."""
        batch, tokens, size = states.shape
        projected = self.project(states).view(batch, tokens, 3, self.heads, size // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # [B, H, T, d / H] each
        attend: Callable[..., tuple[Tensor, Tensor | None]] = attention_with_weights
        if not with_weights:
            attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, attend)
        output, weights = attend(
            self,
            query,
            key,
            value,
            mask,
            scaling=(size // self.heads) ** -0.5,
            dropout=self.rate if self.training else 0.0,
            is_causal=False,
        )
        return output.reshape(batch, tokens, size), weights


class Convolutions(nn.Module):
    """Three convolutions in a row, of width 1, of the given width and of width 1.

    Args:
        size: of a state, coming in and going out.
        inner: the size in between.
        width: how many tokens the middle one sees.

    Example:
        >>> Convolutions(size=4, inner=8, width=5)(torch.zeros(1, 3, 4), None).shape
        torch.Size([1, 3, 4])
    """

    def __init__(self, size: int, inner: int, width: int) -> None:
        super().__init__()
        self.widen = nn.Linear(size, inner)
        self.convolve = nn.Conv1d(inner, inner, width, padding=width // 2)
        self.narrow = nn.Linear(inner, size)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """States [B, T, d] to states [B, T, d]; `mask` [B, T, 1] is False at padding."""
        inner = self.widen(states).relu()  # [B, T, inner]
        if mask is not None:
            inner = inner.masked_fill(~mask, 0)
        inner = self.convolve(inner.transpose(1, 2)).relu().transpose(1, 2)
        narrowed: Tensor = self.narrow(inner)
        return narrowed


class Block(GradientCheckpointingLayer):
    """Self-attention, then convolutions; both are added to what came in, and normalised.

    Args:
        config: of the encoder.
    """

    def __init__(self, config: ConvolutionalAttentionConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.convolutions = Convolutions(size, config.intermediate_size, config.convolution_width)
        self.norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, states: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] to states [B, T, d], and if asked for the attention [B, H, T, T].

        Args:
            states: [B, T, d].
            mask: bool [B, T], False at padding; None where there is none.
            with_weights: whether to give the attention.
        """
        attended, weights = self.attention(
            states, None if mask is None else mask[:, None, None], with_weights
        )
        states = self.attention_norm(attended + self.dropout(states))
        convolved = self.convolutions(states, None if mask is None else mask.unsqueeze(2))
        return self.norm(states + convolved), weights


class ConvolutionalAttentionEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Words and positions → blocks of attention and convolutions.

    Args:
        config: its sizes.

    Raises:
        EncoderError: if the sizes do not fit each other.

    Example:
        >>> config = ConvolutionalAttentionConfig(vocab_size=20, hidden_size=8)
        >>> encoder = ConvolutionalAttentionEncoder(config)
        >>> output = encoder(torch.tensor([[3, 4, 5]]), output_attentions=True)
        >>> output.last_hidden_state.shape, output.attentions[-1].shape
        (torch.Size([1, 3, 8]), torch.Size([1, 4, 3, 3]))
    """

    config: ConvolutionalAttentionConfig
    config_class = ConvolutionalAttentionConfig
    main_input_name = "input_ids"
    supports_gradient_checkpointing = True
    _supports_sdpa = True

    def __init__(self, config: ConvolutionalAttentionConfig) -> None:
        super().__init__(config)
        check_block_sizes("convolutional-attention", config)
        size = config.hidden_size
        word_size = size if config.input_size is None else config.input_size
        self.embedding = word_embedding(config.vocab_size, word_size, config.pad_token_id, config.train_words)
        self.projection = (
            nn.Identity() if word_size == size else nn.Sequential(nn.Linear(word_size, size), nn.ReLU())
        )
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        nn.init.normal_(self.position_embeddings.weight, std=POSITION_SCALE)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the layers start as they were made."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        **others: Any,  # noqa: ANN401
    ) -> BaseModelOutput:
        """States [B, T, d], and if asked for the attention [B, heads, T, T] of the last block alone.

        Raises:
            EncoderError: if there are more tokens than positions.
        """
        tokens = input_ids.shape[1]
        if tokens > self.config.max_position_embeddings:
            raise EncoderError(
                f"found {tokens} tokens, expected at most max_position_embeddings "
                f"({self.config.max_position_embeddings}); DocumentEncoder cuts windows"
            )
        mask = None if attention_mask is None else attention_mask.bool()  # [B, T]
        positions = self.position_embeddings.weight[:tokens]
        states = self.dropout(self.projection(self.embedding(input_ids)) + positions)  # [B, T, d]
        attention: Tensor | None = None
        for layer in self.layers:
            states, attention = layer(states, mask, output_attentions and layer is self.layers[-1])
        attentions = (attention,) if output_attentions else None
        return BaseModelOutput(last_hidden_state=states, attentions=attentions)  # type: ignore[arg-type]


def check_block_sizes(kind: str, config: PreTrainedConfig) -> None:
    """Refuse sizes of blocks of attention and convolutions that do not fit each other.

    Args:
        kind: the name of the encoder.
        config: has `hidden_size`, `num_attention_heads` and `convolution_width`.

    Raises:
        EncoderError: names both numbers.
    """
    if config.hidden_size % config.num_attention_heads:
        raise EncoderError(
            f"{kind} encoder: found hidden_size {config.hidden_size}, expected a multiple of "
            f"num_attention_heads ({config.num_attention_heads})"
        )
    if config.convolution_width % 2 == 0:
        raise EncoderError(
            f"{kind} encoder: found convolution_width {config.convolution_width}, expected an odd one"
        )


AutoConfig.register(ConvolutionalAttentionConfig.model_type, ConvolutionalAttentionConfig)
AutoModel.register(ConvolutionalAttentionConfig, ConvolutionalAttentionEncoder)
