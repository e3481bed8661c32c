"""Token states of whole documents, and the attention of entities."""

from unnoted.models.encoders.bran import BRANConfig, BRANEncoder
from unnoted.models.encoders.document_encoder import DocumentEncoder, EncoderOutput
from unnoted.models.encoders.from_scratch import ENCODER_KINDS, make_encoder
from unnoted.models.encoders.loading import EncoderError, build_encoder, load_encoder
from unnoted.models.encoders.lstm import LSTMConfig, LSTMEncoder

__all__ = [
    "ENCODER_KINDS",
    "BRANConfig",
    "BRANEncoder",
    "DocumentEncoder",
    "EncoderError",
    "EncoderOutput",
    "LSTMConfig",
    "LSTMEncoder",
    "build_encoder",
    "load_encoder",
    "make_encoder",
]
