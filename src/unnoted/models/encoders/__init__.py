"""Token states of whole documents, and the attention rows at their mentions."""

from unnoted.models.encoders.convolutional_attention import (
    ConvolutionalAttentionConfig,
    ConvolutionalAttentionEncoder,
)
from unnoted.models.encoders.document_encoder import DocumentEncoder
from unnoted.models.encoders.encoded import Encoded
from unnoted.models.encoders.making import ENCODER_KINDS, make_encoder
from unnoted.models.encoders.pretrained import EncoderError, build_encoder, load_encoder
from unnoted.models.encoders.recurrent import RecurrentConfig, RecurrentEncoder
from unnoted.models.encoders.transformer_convolutions import (
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
