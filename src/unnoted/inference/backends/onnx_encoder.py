"""An exported encoder in ONNX Runtime, in the place of torch's."""

from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from unnoted.io import CHECKSUMS, content_digest, read_json
from unnoted.models.encoders.calls import encode_in_calls
from unnoted.models.saved import ModelError
from unnoted.utils import short_repr, wrap_errors

EXPORT = "export.json"
"""What a folder was exported from, and how: the checksums of what it belongs to."""

GRAPH = "encoder.onnx"
"""The exported encoder."""

REMEDY = "run unnoted export again"


UNUSED_FUSIONS = ("SkipLayerNormFusion",)
"""Optimisations of ONNX Runtime that are switched off: one operation for sum and norm took five times as long
as the two that it replaces."""


class OnnxEncoder:
    """Runs an exported encoder; one may be used from several threads at once.

    Args:
        graph: the file.
        digest: the SHA-256 of its content, which says what results were made by.
        threads: how many ONNX Runtime may use; by default as many as torch does in the thread that asks.

    Raises:
        ValueError: ONNX Runtime is not installed.
    """

    def __init__(self, graph: Path, digest: str, threads: int | None = None) -> None:
        try:
            self._onnxruntime: Any = import_module("onnxruntime")
        except ImportError:
            raise ValueError(
                "onnxruntime: found no such package, expected it: pip install 'unnoted[onnx]'"
            ) from None
        self.digest = digest
        self._graph, self._threads, self._lock = graph, threads, Lock()
        self._sessions: dict[int, Any] = {}
        self._session()  # a graph that cannot be used is refused at once

    def _session(self) -> Any:  # noqa: ANN401 - of a package that is not always there
        """The graph, ready to run on as many threads as torch has here: one beside other batches."""
        threads = torch.get_num_threads() if self._threads is None else self._threads
        with self._lock:
            if threads not in self._sessions:
                self._sessions[threads] = self._opened(threads)
            return self._sessions[threads]

    def _opened(self, threads: int) -> Any:  # noqa: ANN401
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Torch works in between: threads that spin while they wait would take its cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        with wrap_errors(self._graph, "no usable graph", "one that unnoted export wrote", ModelError):
            return self._onnxruntime.InferenceSession(
                str(self._graph), options, providers=["CPUExecutionProvider"],
                disabled_optimizers=list(UNUSED_FUSIONS),
            )  # fmt: skip

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
            raise ModelError(
                f"{path}: found {short_repr(noted)}, expected what unnoted export wrote; {REMEDY}"
            )
        for name, digest in files.items():
            _check(folder / name, digest)
        return cls(folder / GRAPH, files[GRAPH])

    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] and, if the model uses them, rows [B, H, M, T] at `positions` [B, M]."""
        return encode_in_calls(self._run, tokens, attention_mask, positions)

    def _run(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        ids = tokens["input_ids"]
        mask = torch.ones_like(ids) if attention_mask is None else attention_mask
        given = {"input_ids": ids, "attention_mask": mask, "positions": positions}
        session = self._session()
        wanted = {each.name for each in session.get_inputs()}
        feed = {name: tensor.contiguous().numpy() for name, tensor in given.items() if name in wanted}
        states, *rows = (torch.from_numpy(found) for found in session.run(None, feed))
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
