"""Backends by name, and which one a model's folder gets."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from unnoted.common.lookup import lookup
from unnoted.extraction.backends.onnx_encoder import EXPORT, OnnxEncoder
from unnoted.model import ModelError, RelationModel


def _torch(model: RelationModel, folder: Path) -> None:
    """Nothing: a model is torch's as it is loaded."""


def _onnx(model: RelationModel, folder: Path) -> None:
    if model.device.type != "cpu":
        raise ValueError(f"backend: found 'onnx' on {model.device.type}, expected cpu")
    model.encoder.runner = OnnxEncoder.open(folder)


BACKENDS: dict[str, Callable[[RelationModel, Path], None]] = {"torch": _torch, "onnx": _onnx}
"""What runs the encoder, by name."""


def choose_backend(model: RelationModel, path: str | Path, name: str | None = None) -> str:
    """Let a loaded model run its encoder by a backend.

    Args:
        model: on its device.
        path: what it was loaded from.
        name: one of `BACKENDS`; by default `onnx` for a folder that `unnoted export` wrote, on a CPU and
            where ONNX Runtime is installed, else `torch`.

    Returns:
        The name of the backend.

    Raises:
        ModelError: the folder has no export, or one of another model.
        ValueError: there is no such backend, or its package is not installed.
    """
    folder = Path(path)
    if name is None:
        exported = (folder / EXPORT).is_file() and model.device.type == "cpu"
        name = "onnx" if exported and find_spec("onnxruntime") else "torch"
    use = lookup("backend", name, BACKENDS)
    if name == "onnx" and not folder.is_dir():
        raise ModelError(f"{path}: found a model on the hub, expected a folder written by unnoted export")
    use(model, folder)
    return name
