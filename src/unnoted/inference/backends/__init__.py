"""What runs the encoder when facts are looked for: torch, or an exported graph in ONNX Runtime."""

from unnoted.inference.backends.choosing import BACKENDS, choose_backend

__all__ = ["BACKENDS", "choose_backend"]
