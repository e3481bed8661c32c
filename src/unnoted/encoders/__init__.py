"""Token states of whole documents, and the attention rows at their mentions."""

from unnoted.encoders.document_encoder import DocumentEncoder, Encoded
from unnoted.encoders.loading import EncoderError, build_encoder, load_encoder

__all__ = ["DocumentEncoder", "Encoded", "EncoderError", "build_encoder", "load_encoder"]
