"""Token states of whole documents, and the attention rows at their mentions."""

from unnoted.encoders.convolutional_attention import (
    ConvolutionalAttentionConfig,
    ConvolutionalAttentionEncoder,
)
from unnoted.encoders.document_encoder import DocumentEncoder
from unnoted.encoders.encoded import Encoded
from unnoted.encoders.making import ENCODER_KINDS, make_encoder
from unnoted.encoders.pretrained import EncoderError, build_encoder, load_encoder
from unnoted.encoders.recurrent import RecurrentConfig, RecurrentEncoder
from unnoted.encoders.transformer_convolutions import (
    TransformerConvolutionsConfig,
    TransformerConvolutionsEncoder,
)

__all__ = [
    "ENCODER_KINDS",
    "ConvolutionalAttentionConfig",
    "ConvolutionalAttentionEncoder",
    "DocumentEncoder",
    "Encoded",
    "EncoderError",
    "RecurrentConfig",
    "RecurrentEncoder",
    "TransformerConvolutionsConfig",
    "TransformerConvolutionsEncoder",
    "build_encoder",
    "load_encoder",
    "make_encoder",
]
