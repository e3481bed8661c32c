"""An exported encoder in ONNX Runtime, in the place of torch's."""

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unnoted.common.checksums import CHECKSUMS
from unnoted.common.errors import shown
from unnoted.common.foreign import foreign, read_json
from unnoted.common.text_inputs import content_digest
from unnoted.saved import ModelError

EXPORT = "export.json"
"""What a folder was exported from, and how: the checksums of what it belongs to."""

GRAPH = "encoder.onnx"
"""The exported encoder."""

REMEDY = "run unnoted export again"


class OnnxEncoder:
    """Runs an exported encoder; one may be used from several threads at once.

    Args:
        graph: the file.
        digest: the SHA-256 of its content, which says what results were made by.
        threads: how many ONNX Runtime may use; by default as many as torch does.

    Raises:
        ValueError: ONNX Runtime is not installed.
    """

    def __init__(self, graph: Path, digest: str, threads: int | None = None) -> None:
        try:
            onnxruntime: Any = import_module("onnxruntime")
        except ImportError:
            raise ValueError(
                "onnxruntime: found no such package, expected it: pip install 'unnoted[onnx]'"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads() if threads is None else threads
        # Torch works in between: threads that spin while they wait would take its cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self.digest = digest
        with foreign(graph, "no usable graph", "one that unnoted export wrote", ModelError):
            self._session: Any = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )

    @classmethod
    def open(cls, folder: Path) -> "OnnxEncoder":
        """The encoder of a folder that `export_onnx` wrote.

        Raises:
            ModelError: there is none, it was changed, or the model beside it is another one than it was made
                from.
        """
        path = folder / EXPORT
        if not path.is_file():
            raise ModelError(
                f"{folder}: found no {EXPORT}, expected a folder written by `unnoted export MODEL --onnx "
                "--to FOLDER`"
            )
        noted = read_json(path, ModelError)
        files = noted.get("files") if isinstance(noted, dict) else None
        if not isinstance(files, dict) or not isinstance(files.get(GRAPH), str):
            raise ModelError(f"{path}: found {shown(noted)}, expected what unnoted export wrote; {REMEDY}")
        for name, digest in files.items():
            _check(folder / name, digest)
        return cls(folder / GRAPH, files[GRAPH])

    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] and, if the model uses them, rows [B, H, M, T] at `positions` [B, M]."""
        ids = tokens["input_ids"]
        mask = torch.ones_like(ids) if attention_mask is None else attention_mask
        given = {"input_ids": ids, "attention_mask": mask, "positions": positions}
        wanted = {each.name for each in self._session.get_inputs()}
        feed = {name: tensor.contiguous().numpy() for name, tensor in given.items() if name in wanted}
        states, *rows = (torch.from_numpy(found) for found in self._session.run(None, feed))
        return states, rows[0] if rows else None


def _check(file: Path, digest: object) -> None:
    """Hold a file against what was noted when the export was made."""
    if file.name == GRAPH or not (file.parent / CHECKSUMS).is_file():
        found: object = content_digest(file) if file.is_file() else None
    else:  # the model's own files have been held against their checksums when it was loaded
        noted = read_json(file.parent / CHECKSUMS, ModelError)
        entry = noted.get("files", {}).get(file.name, {}) if isinstance(noted, dict) else {}
        found = entry.get("sha256")
    if found != digest:
        raise ModelError(
            f"{file}: found SHA-256 {str(found)[:12]}..., expected {str(digest)[:12]}... as {EXPORT} says: "
            f"the export is of another model; {REMEDY}"
        )
