"""What runs the encoder when facts are extracted: torch, torch with 8-bit products, or ONNX Runtime."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import torch

from unnoted.inference.onnx import EXPORT, OnnxEncoder
from unnoted.models.encoders.packed_bert import Int8Bert
from unnoted.models.encoders.packed_bert import supports_int8 as cpu_supports_int8
from unnoted.models.model import ModelError, RelationModel
from unnoted.utils import lookup

MIN_INT8_WIDTH = 256
"""Encoders whose states are narrower gain nothing from 8 bits."""


def _use_torch(model: RelationModel, folder: Path) -> None:
    """A model is torch's as it is loaded."""


def _use_onnx(model: RelationModel, folder: Path) -> None:
    if model.device.type != "cpu":
        raise ValueError(f"backend 'onnx' runs on the CPU only, not on {model.device.type}")
    model.encoder.runner = OnnxEncoder.open(folder)


def _use_int8(model: RelationModel, folder: Path) -> None:
    if not supports_int8(model):
        raise ValueError(
            "backend 'int8' needs a BERT encoder in torch.float32 on a CPU with VNNI instructions: this is "
            f"{model.encoder.model.config.model_type} in {model.dtype} on {model.device.type}"
        )
    model.encoder.runner = Int8Bert(model.encoder.model, model.encoder.attention)


BACKENDS: dict[str, Callable[[RelationModel, Path], None]] = {
    "torch": _use_torch,
    "int8": _use_int8,
    "onnx": _use_onnx,
}
"""What runs the encoder, by name."""


def choose_backend(model: RelationModel, path: str | Path, name: str | None = None) -> str:
    """Let a loaded model run its encoder by a backend.

    Args:
        model: on its device.
        path: what it was loaded from.
        name: one of `BACKENDS`; by default the fastest (`fastest_backend`).

    Returns:
        The name of the backend.

    Raises:
        ModelError: the folder has no export, or one of another model.
        ValueError: there is no such backend, its package is not installed, or it cannot run this model.
    """
    folder = Path(path)
    if name is None:
        name = fastest_backend(model, folder)
    use = lookup("backend", name, BACKENDS)
    if name == "onnx" and not folder.is_dir():
        raise ModelError(f"{path}: backend 'onnx' needs a folder that `unnoted export` wrote")
    use(model, folder)
    return name


def fastest_backend(model: RelationModel, folder: Path) -> str:
    """The backend that extracts facts fastest.

    On a CPU that is `onnx` for a folder that `unnoted export` wrote, where ONNX Runtime is installed, and else
    `int8` where the CPU has instructions for it and the encoder is a BERT of some width.
    """
    if model.device.type != "cpu":
        return "torch"
    if (folder / EXPORT).is_file() and find_spec("onnxruntime"):
        return "onnx"
    return "int8" if model.encoder.width >= MIN_INT8_WIDTH and supports_int8(model) else "torch"


def supports_int8(model: RelationModel) -> bool:
    """Whether a model's encoder can run with 8-bit matrix products here."""
    return model.dtype == torch.float32 and model.encoder.can_pack and cpu_supports_int8()
