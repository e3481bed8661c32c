"""Token states of whole documents, and the attention rows at their mentions."""

from unnoted.encoders.document_encoder import DocumentEncoder, Encoded
from unnoted.encoders.loading import EncoderError, build_encoder, load_encoder
from unnoted.encoders.recurrent import RecurrentConfig, RecurrentEncoder

__all__ = [
    "DocumentEncoder",
    "Encoded",
    "EncoderError",
    "RecurrentConfig",
    "RecurrentEncoder",
    "build_encoder",
    "load_encoder",
]
