"""What runs the encoder when facts are extracted: torch, torch with 8-bit products, or ONNX Runtime."""

from importlib.util import find_spec
from pathlib import Path

import torch

from unnoted.inference.onnx import EXPORT, OnnxEncoder
from unnoted.models.encoders.packed_bert import Int8Bert
from unnoted.models.encoders.packed_bert import supports_int8 as cpu_supports_int8
from unnoted.models.model import ModelError, RelationModel
from unnoted.utils import lookup

BACKENDS = ("torch", "int8", "onnx")
"""What runs the encoder, by name."""

MIN_INT8_WIDTH = 256
"""Encoders whose states are narrower gain nothing from 8 bits."""


def choose_backend(model: RelationModel, path: str | Path, name: str | None = None) -> None:
    """Let a loaded model run its encoder by a backend.

    Args:
        model: on its device.
        path: what it was loaded from.
        name: one of `BACKENDS`; by default the fastest. On a CPU that is `onnx` for a folder that `unnoted
            export` wrote, where ONNX Runtime is installed, and else `int8` where the CPU has instructions for it
            and the encoder is a BERT of some width.

    Raises:
        ModelError: the folder has no export, or one of another model.
        ValueError: there is no such backend, its package is not installed, or it cannot run this model.
    """
    folder, on_cpu = Path(path), model.device.type == "cpu"
    fits_int8 = model.dtype == torch.float32 and model.encoder.can_pack and cpu_supports_int8()
    if name is None:
        if on_cpu and (folder / EXPORT).is_file() and find_spec("onnxruntime"):
            name = "onnx"
        else:
            wide = model.encoder.width >= MIN_INT8_WIDTH
            name = "int8" if on_cpu and wide and fits_int8 else "torch"
    lookup("backend", name, dict.fromkeys(BACKENDS))
    if name == "onnx":
        if not folder.is_dir():
            raise ModelError(f"{path}: backend 'onnx' needs a folder that `unnoted export` wrote")
        if not on_cpu:
            raise ValueError(f"backend 'onnx' runs on the CPU only, not on {model.device.type}")
        model.encoder.runner = OnnxEncoder.open(folder)
    if name == "int8":
        if not fits_int8:
            raise ValueError(
                "backend 'int8' needs a BERT encoder in torch.float32 on a CPU with VNNI instructions: this is "
                f"{model.encoder.model.config.model_type} in {model.dtype} on {model.device.type}"
            )
        model.encoder.runner = Int8Bert(model.encoder.model, model.encoder.attention)
