"""The encoder of BRAN in the ChemDisGene paper's program: transformer layers, convolutions after each.

With h the states that come into a block, A the attention of several heads with a layer over them, and C_w a
convolution of width w,

    m = norm(h + A(h)),      n = norm(m + W_2 ReLU(W_1 m)),      out = C_1(C_5(C_1(n))).

Nothing is between the convolutions, and nothing is added to what they give. A token comes in as its vector
times the root of the vector's size, plus (0, 1, 0, 1, ...). That is the sinusoidal vector of the first place,
and every token gets it: the program takes it from a document's place in its batch instead of a token's place
in its document, and there is one document in a batch. So the order of words shows in the convolutions alone.

Padding is attended to by nobody and is 0 where the convolution reaches it, so that a document's states do not
depend on what it shares a batch with.

Reference:
    Zhang, Mohan, Torkar, McCallum (2022): A distant supervision corpus for extracting biomedical
    relationships between chemicals, diseases and genes. Its program: github.com/chanzuckerberg/ChemDisGene,
    baseline/src/module/model.py.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutput

from unnoted.models.encoders.convolutional_attention import SelfAttention, check_block_sizes
from unnoted.models.encoders.pretrained import EncoderError

WORD_SCALE = 0.1
"""The vectors of tokens start between minus this and this."""


class TransformerConvolutionsConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """The sizes of a `TransformerConvolutionsEncoder`; those of the program by default.

    Attributes:
        vocab_size: how many tokens there are.
        hidden_size: the size of a token's state.
        intermediate_size: the size between the two layers that follow attention.
        num_hidden_layers: how many blocks there are.
        num_attention_heads: how many heads the attention of each block has.
        convolution_width: how many tokens the middle convolution of a block sees, an odd number.
        hidden_dropout_prob: the share that is dropped in training: of inputs (twice), of attention, and of
            what layers give.
        layer_norm_eps: keeps the normalisation finite.
        max_position_embeddings: how many tokens it takes at once; longer documents are read in windows.
        pad_token_id: the token that fills up short documents.
    """

    model_type = "unnoted-transformer-convolutions"

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


class MultiHeadAttention(SelfAttention):
    """Attention as in a transformer: no ReLU over queries, keys and values, and a layer over the heads.

    Args:
        config: of the encoder.
    """

    def __init__(self, config: TransformerConvolutionsConfig) -> None:
        super().__init__(config)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)
        nn.init.zeros_(self.output.bias)

    def project(self, states: Tensor) -> Tensor:
        """Queries, keys and values side by side, [B, T, 3 d], of states [B, T, d]."""
        projected: Tensor = self.projection(states)
        return projected

    def forward(
        self, states: Tensor, mask: Tensor | None, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] to outputs [B, T, d], and if asked for the weights [B, H, T, T]."""
        attended, weights = super().forward(states, mask, with_weights)
        return self.output(attended), weights


class TransformerBlock(GradientCheckpointingLayer):
    """A transformer layer, normalised after each of its parts, then three convolutions in a row.

    Args:
        config: of the encoder.
    """

    def __init__(self, config: TransformerConvolutionsConfig) -> None:
        super().__init__()
        size, width = config.hidden_size, config.convolution_width
        self.attention = MultiHeadAttention(config)
        self.attention_norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.widen = nn.Linear(size, config.intermediate_size)
        self.narrow = nn.Linear(config.intermediate_size, size)
        self.norm = nn.LayerNorm(size, config.layer_norm_eps)
        self.before = nn.Linear(size, size)  # a convolution of width 1 is a layer over each token
        self.convolve = nn.Conv1d(size, size, width, padding=width // 2)
        self.after = nn.Linear(size, size)
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
        states = self.attention_norm(states + self.dropout(attended))
        inner = self.dropout(self.widen(states).relu())  # [B, T, intermediate]
        states = self.before(self.norm(states + self.dropout(self.narrow(inner))))
        if mask is not None:
            states = states.masked_fill(~mask.unsqueeze(2), 0)
        return self.after(self.convolve(states.transpose(1, 2)).transpose(1, 2)), weights


class TransformerConvolutionsEncoder(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Tokens → transformer layers and convolutions.

    Args:
        config: its sizes.

    Raises:
        EncoderError: if the sizes do not fit each other.

    Example:
        >>> config = TransformerConvolutionsConfig(vocab_size=20, hidden_size=8)
        >>> output = TransformerConvolutionsEncoder(config)(torch.tensor([[3, 4, 5]]), output_attentions=True)
        >>> output.last_hidden_state.shape, output.attentions[-1].shape
        (torch.Size([1, 3, 8]), torch.Size([1, 4, 3, 3]))
    """

    config: TransformerConvolutionsConfig
    config_class = TransformerConvolutionsConfig
    main_input_name = "input_ids"
    supports_gradient_checkpointing = True
    _supports_sdpa = True

    def __init__(self, config: TransformerConvolutionsConfig) -> None:
        super().__init__(config)
        check_block_sizes("transformer-convolutions", config)
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        nn.init.uniform_(self.embedding.weight, -WORD_SCALE, WORD_SCALE)
        # Twice in a row, as the program has it: at p each, that is once at 1 - (1 - p)^2.
        self.dropout = nn.Dropout(1 - (1 - config.hidden_dropout_prob) ** 2)
        self.layers = nn.ModuleList(TransformerBlock(config) for _ in range(config.num_hidden_layers))
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
            EncoderError: if there are more tokens than it takes at once.
        """
        tokens, size = input_ids.shape[1], self.config.hidden_size
        if tokens > self.config.max_position_embeddings:
            raise EncoderError(
                f"found {tokens} tokens, expected at most max_position_embeddings "
                f"({self.config.max_position_embeddings}); DocumentEncoder cuts windows"
            )
        mask = None if attention_mask is None else attention_mask.bool()  # [B, T]
        words = self.embedding(input_ids)  # [B, T, d]
        first_place = torch.arange(size, device=words.device) % 2
        states = self.dropout(words * size**0.5 + first_place)
        attention: Tensor | None = None
        for layer in self.layers:
            states, attention = layer(states, mask, output_attentions and layer is self.layers[-1])
        attentions = (attention,) if output_attentions else None
        return BaseModelOutput(last_hidden_state=states, attentions=attentions)  # type: ignore[arg-type]


AutoConfig.register(TransformerConvolutionsConfig.model_type, TransformerConvolutionsConfig)
AutoModel.register(TransformerConvolutionsConfig, TransformerConvolutionsEncoder)
