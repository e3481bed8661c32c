"""BRAN's encoder, as the ChemDisGene paper's program has it: transformer layers, convolutions after each.

With h the states that come into a block, A the attention of several heads with a layer over them, and C_w a
convolution of width w,

    m = norm(h + A(h)),      n = norm(m + W_2 ReLU(W_1 m)),      out = C_1(C_5(C_1(n))).

Nothing is between the convolutions, and nothing is added to what they give. A token comes in as its vector
times the root of the vector's size, plus (0, 1, 0, 1, ...). That is the sinusoidal vector of the first position,
and every token gets it: the program takes it from a document's index in its batch instead of a token's position
in its document, and there is one document in a batch. So the order of words shows in the convolutions alone.

Padding is attended to by nobody and is 0 where the convolution reaches it, so that a document's states do not
depend on what it shares a batch with.

Reference:
    Zhang, Mohan, Torkar, McCallum (2022): A distant supervision corpus for extracting biomedical
    relationships between chemicals, diseases and genes. Its program: github.com/chanzuckerberg/ChemDisGene,
    baseline/src/module/model.py. After Verga, Strubell, McCallum (2018): Simultaneously self-attending to all
    mentions for full-abstract biological relation extraction.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from unnoted.models.encoders.loading import EncoderError

INITIAL_RANGE = 0.1
"""Token vectors start between minus this and this."""


class BRANConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of a `BRANEncoder`; those of the program by default.

    Attributes:
        vocab_size: number of tokens.
        hidden_size: size of a token's state.
        intermediate_size: size between the two layers that follow attention.
        num_hidden_layers: number of blocks.
        num_attention_heads: number of attention heads of each block.
        convolution_width: number of tokens that the middle convolution of a block sees, odd.
        hidden_dropout_prob: dropout of inputs (twice), of attention, and of what layers give.
        layer_norm_eps: keeps the normalisation finite.
        max_position_embeddings: number of tokens at once; longer documents are read in windows.
        pad_token_id: the padding token.
    """

    model_type = "unnoted-bran"

    vocab_size: int = 1000
    hidden_size: int = 128
    intermediate_size: int = 2048
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    convolution_width: int = 5
    hidden_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-5
    max_position_embeddings: int = 512
    pad_token_id: int = 0


class SelfAttention(nn.Module):
    """Multi-head attention through transformers' attention interface, so that mentions' rows can be had alone."""

    is_causal = False

    def __init__(self, config: BRANConfig) -> None:
        super().__init__()
        self.config = config
        self.heads = config.num_attention_heads
        self.rate = config.hidden_dropout_prob
        self.projection = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)
        nn.init.zeros_(self.output.bias)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """States [B, T, d] to states [B, T, d]; the mask, bool [B, 1, 1, T], is False at padding."""
        batch, tokens, size = states.shape
        projected = self.projection(states).view(batch, tokens, 3, self.heads, size // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # [B, H, T, d / H] each
        attend = ALL_ATTENTION_FUNCTIONS[self.config._attn_implementation]
        scaling, rate = (size // self.heads) ** -0.5, self.rate if self.training else 0.0
        attended, _ = attend(
            self, query, key, value, mask, scaling=scaling, dropout=rate, is_causal=False
        )  # [B, T, H, d / H]
        output: Tensor = self.output(attended.reshape(batch, tokens, size))
        return output


class BRANBlock(nn.Module):
    """A transformer layer, normalised after each of its parts, then three convolutions in a row."""

    def __init__(self, config: BRANConfig) -> None:
        super().__init__()
        size, width = config.hidden_size, config.convolution_width
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.widen = nn.Linear(size, config.intermediate_size)
        self.narrow = nn.Linear(config.intermediate_size, size)
        self.norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.before = nn.Linear(size, size)  # a convolution of width 1 is a layer over each token
        self.convolve = nn.Conv1d(size, size, width, padding=width // 2)
        self.after = nn.Linear(size, size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """States [B, T, d] to states [B, T, d]; the mask, bool [B, T], is False at padding, None without any."""
        attended = self.attention(states, None if mask is None else mask[:, None, None])
        states = self.attention_norm(states + self.dropout(attended))
        inner = self.dropout(self.widen(states).relu())  # [B, T, intermediate]
        states = self.before(self.norm(states + self.dropout(self.narrow(inner))))
        if mask is not None:
            states = states.masked_fill(~mask.unsqueeze(2), 0)
        convolved: Tensor = self.after(self.convolve(states.transpose(1, 2)).transpose(1, 2))
        return convolved


class BRANEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Tokens → transformer layers and convolutions.

    Raises:
        EncoderError: the sizes of the configuration do not fit each other.
    """

    config: BRANConfig
    config_class = BRANConfig
    main_input_name = "input_ids"
    _supports_sdpa = True

    def __init__(self, config: BRANConfig) -> None:
        super().__init__(config)
        if config.hidden_size % config.num_attention_heads:
            raise EncoderError(
                f"BRAN encoder: hidden_size must be a multiple of num_attention_heads ({config.num_attention_heads}), "
                f"not {config.hidden_size}"
            )
        if config.convolution_width % 2 == 0:
            raise EncoderError(f"BRAN encoder: convolution_width must be odd, not {config.convolution_width}")
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        nn.init.uniform_(self.embedding.weight, -INITIAL_RANGE, INITIAL_RANGE)
        # Twice in a row, as the program has it: at p each, that is once at 1 - (1 - p)^2.
        self.dropout = nn.Dropout(1 - (1 - config.hidden_dropout_prob) ** 2)
        self.layers = nn.ModuleList(BRANBlock(config) for _ in range(config.num_hidden_layers))
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the layers start as they were made."""

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        **others: Any,  # noqa: ANN401
    ) -> BaseModelOutput:
        """States [B, T, d].

        Raises:
            EncoderError: there are more tokens than it takes at once.
        """
        tokens, size = input_ids.shape[1], self.config.hidden_size
        if tokens > self.config.max_position_embeddings:
            raise EncoderError(
                f"{tokens} tokens are more than max_position_embeddings ({self.config.max_position_embeddings}): "
                "DocumentEncoder splits documents into windows"
            )
        mask = None if attention_mask is None else attention_mask.bool()  # [B, T]
        words = self.embedding(input_ids)  # [B, T, d]
        first_position = torch.arange(size, device=words.device) % 2
        states = self.dropout(words * size**0.5 + first_position)
        for layer in self.layers:
            states = layer(states, mask)
        return BaseModelOutput(last_hidden_state=states)


AutoConfig.register(BRANConfig.model_type, BRANConfig)
AutoModel.register(BRANConfig, BRANEncoder)
