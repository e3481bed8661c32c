"""A saved model with its encoder as an ONNX graph beside it, in a folder of its own."""

import shutil
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from unnoted.inference.backends.onnx_encoder import EXPORT, GRAPH, OnnxEncoder
from unnoted.inference.backends.onnx_graph import Encoding, example, quiet_exporters, write_graph
from unnoted.io import check_output, content_digest, write_json
from unnoted.models.encoders import DocumentEncoder
from unnoted.models.model import ModelError, RelationModel

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
"""What an export needs; to use one, the last is enough."""

MOST_APART = 1e-4
"""How far states and rows may lie from torch's."""

TRIED = ((3, 21, 5), (1, 9, 2), (2, 64, 11))
"""Documents, tokens and mentions of the batches that an export is tried on."""

WEIGHTS_ALONE = ("MatMul", "Gemm")
"""The operations that are quantised, where one side is a weight."""

BESIDE = ("settings.yaml", "record.json", "environment.json", "priors.json")
"""What a training left beside its model, and `unnoted inspect` reads."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export came to.

    Attributes:
        folder: the model, with its encoder as a graph.
        difference: how far its states and rows lie from torch's at most, on random tokens.
        fused: whether attention is one operation a layer.
    """

    folder: Path
    difference: float
    fused: bool


def export_onnx(path: str | Path, to: Path, *, int8: bool = False) -> Exported:
    """Export a saved model's encoder to ONNX.

    The new folder is the whole model, and can be used wherever a model can. Beside it are the graph and what
    it was made from, with checksums: if the weights beside it change, it is refused.

    Args:
        path: a folder that `save_pretrained` wrote, or the name of one on the hub.
        to: the folder to write, which is not there yet.
        int8: round the weights of the encoder's matrix products to 8 bits, and what they are multiplied with
            at the time (dynamic quantisation).

    Raises:
        ModelError: the model cannot be used, or its encoder cannot be exported.
        ValueError: a package is missing, or there is something at `to`.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ValueError(f"{missing[0]}: found no such package, expected it: pip install 'unnoted[onnx]'")
    check_output(to, [Path(path)])
    if to.exists():
        raise ValueError(f"{to}: found a file or folder, expected none: an export is written to a new folder")
    model = RelationModel.from_pretrained(path, dtype=torch.float32)
    if getattr(model.encoder.model, "takes_mentions", False):
        kind = model.encoder.model.config.model_type
        raise ModelError(f"{path}: found the encoder {kind!r}, expected one that takes tokens alone")
    to.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=to.parent, prefix=".unnoted-export-") as scratch:
        staged, graph = Path(scratch) / "model", Path(scratch) / "model" / GRAPH
        model.save_pretrained(staged)
        difference, fused = _tried_graph(model.encoder, graph)
        if int8:
            _quantise(graph)
            difference = _difference(model.encoder, graph)
        for name in BESIDE:
            if (Path(path) / name).is_file():
                shutil.copyfile(Path(path) / name, staged / name)
        names = [GRAPH, "config.json", *(file.name for file in staged.glob("model*.safetensors"))]
        noted = {
            "exported_from": str(path),
            "backend": "onnx",
            "int8": int8,
            "difference": difference,
            "software": {name: version(name) for name in ("unnoted", "torch", *PACKAGES)},
            "files": {name: content_digest(staged / name) for name in names},
        }
        write_json(staged / EXPORT, noted)
        staged.rename(to)
    return Exported(to, difference, fused)


def _tried_graph(encoder: DocumentEncoder, graph: Path) -> tuple[float, bool]:
    """Write the graph whose results are those of torch: with fused attention if that is one."""
    reason = ""
    for fused in (True, False) if encoder.gives_rows else (False,):
        try:
            write_graph(encoder, graph, fused)
            difference = _difference(encoder, graph)
        except Exception as error:  # whatever the exporter of torch has to say
            reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            continue
        if difference <= MOST_APART:
            return difference, fused
        reason = f"its results differ by {difference:.2g}"
    kind = encoder.model.config.model_type
    raise ModelError(
        f"found the encoder {kind!r}, which cannot be exported ({reason}), expected one that can"
    )


@torch.no_grad()
def _difference(encoder: DocumentEncoder, graph: Path) -> float:
    """How far the graph's states and rows lie from torch's at most."""
    exported, encoding = OnnxEncoder(graph, "", threads=1), Encoding(encoder)
    apart = [0.0]
    for sizes in TRIED:
        ids, mask, positions = example(tuple(min(size, encoder.limit) for size in sizes))  # type: ignore[arg-type]
        found, expected = exported({"input_ids": ids}, mask, positions), encoding(ids, mask, positions)
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            assert one is not None
            real = mask.bool() if number == 0 else ...  # what stands at padding is not defined
            apart.append(float((one - other)[real].abs().max()))
    return max(apart)


def _quantise(graph: Path) -> None:
    """Round the weights of a graph's products to 8 bits, in place."""
    quantization: Any = import_module("onnxruntime.quantization")
    rounded = graph.with_suffix(".int8")
    with quiet_exporters():
        quantization.quantize_dynamic(
            graph, rounded, list(WEIGHTS_ALONE), per_channel=True, weight_type=quantization.QuantType.QInt8
        )
    rounded.replace(graph)
