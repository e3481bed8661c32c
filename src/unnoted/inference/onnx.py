"""The encoder as an ONNX graph: export, verify, quantise, and run it in ONNX Runtime.

What is exported is one call of the encoder: token states and the attention rows at mentions, for any length and
any batch. Windows, pairs and scores stay in torch. Whether the graph is the same function is tried, not assumed.
"""

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from unnoted.io import check_checksums, content_digest, new_folder, write_checksums
from unnoted.models.encoders import DocumentEncoder
from unnoted.models.model import ModelError, RelationModel
from unnoted.utils import describe_error, require_extra, wrap_errors

GRAPH = "encoder.onnx"
"""The exported encoder."""

EXPORT = "export.json"
"""The checksums of the graph and of what it was made from."""

MAX_DIFFERENCE = 1e-4
"""How far states and rows may lie from torch's."""

TRIED = ((3, 21, 5), (1, 9, 2), (2, 64, 11))
"""Documents, tokens and mentions of the batches that an export is tried on; the first is exported with."""

BESIDE = ("config.yaml", "record.json", "environment.json", "priors.json")
"""What a training run left beside its model, which `unnoted info` reads."""

# Fusing sum and norm takes five times as long as the two operations that it replaces.
DISABLED_OPTIMIZERS = ["SkipLayerNormFusion"]


def export_onnx(path: str | Path, to: Path, *, int8: bool = False) -> float:
    """Export a saved model's encoder to ONNX.

    The new folder is the whole model, and can be used wherever a model can. Beside it are the graph and
    checksums of what it was made from: if the weights beside it change, it is refused.

    Args:
        path: a folder that `save_pretrained` wrote, or the name of one on the hub.
        to: the folder to write, which is not there yet.
        int8: round the weights of the encoder's matrix products to 8 bits, and what they are multiplied with
            at the time (dynamic quantisation).

    Returns:
        How far the graph's states and rows lie from torch's at most, on random tokens.

    Raises:
        ModelError: the model cannot be used, or its encoder cannot be exported.
        ValueError: a package is missing, or there is something at `to`.
    """
    for package in ("onnx", "onnxscript", "onnxruntime"):
        require_extra(package, "onnx")
    if to.exists():
        raise ValueError(f"{to} exists: an export is written to a new folder")
    model = RelationModel.from_pretrained(path, dtype=torch.float32)
    kind = model.encoder.model.config.model_type
    if getattr(model.encoder.model, "takes_mentions", False):
        raise ModelError(f"{path}: the encoder {kind!r} takes more than tokens and cannot be exported")
    to.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(to) as folder:
        model.save_pretrained(folder)
        graph = folder / GRAPH
        try:
            write_graph(model.encoder, graph)
            difference = max_difference(model.encoder, graph)
        except Exception as error:  # whatever torch's exporter raises
            reason = describe_error(error)
            raise ModelError(f"{path}: the encoder {kind!r} cannot be exported ({reason})") from error
        if not difference <= MAX_DIFFERENCE:
            raise ModelError(
                f"{path}: the encoder {kind!r} cannot be exported: its results differ by {difference:.2g}"
            )
        if int8:
            _quantise(graph)
            difference = max_difference(model.encoder, graph)
        for name in BESIDE:
            if (Path(path) / name).is_file():
                shutil.copyfile(Path(path) / name, folder / name)
        weights = [file.name for file in folder.glob("model*.safetensors")]
        write_checksums(folder, [GRAPH, "config.json", *weights], EXPORT)
    return difference


class _EncoderCall(nn.Module):
    """One call of an encoder as a module of tensors."""

    def __init__(self, encoder: DocumentEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, positions: Tensor) -> tuple[Tensor, ...]:
        """States [B, T, d] and, if wanted, rows [B, H, M, T]."""
        states, rows = self.encoder.encode({"input_ids": input_ids}, attention_mask, positions)
        return (states,) if rows is None else (states, rows)


def write_graph(encoder: DocumentEncoder, path: Path) -> None:
    """Write an encoder, in float32 and in evaluation mode, as an ONNX graph."""
    encoder.prepare()
    documents, length, mentions = (torch.export.Dim(name) for name in ("documents", "length", "mentions"))
    with torch.no_grad(), _quiet_exporters():
        torch.onnx.export(
            _EncoderCall(encoder),
            random_batch(*TRIED[0]),
            path,
            input_names=["input_ids", "attention_mask", "positions"],
            output_names=["states", "rows"] if encoder.attention else ["states"],
            dynamic_shapes=(
                {0: documents, 1: length},
                {0: documents, 1: length},
                {0: documents, 1: mentions},
            ),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


@torch.no_grad()
def max_difference(encoder: DocumentEncoder, graph: Path) -> float:
    """How far the graph's states and rows lie from torch's at most."""
    exported, call = OnnxEncoder(graph, "", threads=1), _EncoderCall(encoder)
    differences = [0.0]
    for documents, length, mentions in TRIED:
        ids, mask, positions = random_batch(documents, min(length, encoder.limit), mentions)
        outputs = exported({"input_ids": ids}, mask, positions), call(ids, mask, positions)
        for number, (one, other) in enumerate(zip(*outputs, strict=False)):
            assert one is not None
            real = mask.bool() if number == 0 else ...  # states at padding are not defined
            differences.append(float((one - other)[real].abs().max()))
    return max(differences)


def random_batch(
    documents: int, length: int, mentions: int, tokens: int = 50
) -> tuple[Tensor, Tensor, Tensor]:
    """Token ids, mask and mention positions of some documents, of which all but the first are shorter.

    Example:
        >>> ids, mask, positions = random_batch(2, 8, 3)
        >>> ids.shape, mask.sum(1).tolist(), positions.shape
        (torch.Size([2, 8]), [8, 6], torch.Size([2, 3]))
    """
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(tokens, (documents, length), generator=random)
    mask = torch.ones_like(ids)
    mask[1:, length - max(1, length // 4) :] = 0
    positions = torch.randint(max(1, length // 2), (documents, mentions), generator=random)
    return ids, mask, positions


def _quantise(graph: Path) -> None:
    """Round the weights of a graph's products to 8 bits, in place."""
    quantization: Any = require_extra("onnxruntime.quantization", "onnx")
    rounded = graph.with_suffix(".int8")
    with _quiet_exporters():
        quantization.quantize_dynamic(
            graph, rounded, ["MatMul", "Gemm"], per_channel=True, weight_type=quantization.QuantType.QInt8
        )
    rounded.replace(graph)


@contextmanager
def _quiet_exporters() -> Iterator[None]:
    """Silence what exporters say of packages that nobody needs."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


class OnnxEncoder:
    """Runs an exported encoder; one may be used from several threads at once.

    Args:
        graph: the file.
        digest: the SHA-256 of its content, which says what results were computed by.
        threads: how many ONNX Runtime may use; by default as many as torch does in the thread that asks.

    Raises:
        MissingExtra: ONNX Runtime is not installed.
        ModelError: the graph cannot be used.
    """

    def __init__(self, graph: Path, digest: str, threads: int | None = None) -> None:
        self._onnxruntime: Any = require_extra("onnxruntime", "onnx")
        self.digest = digest
        self._graph, self._threads, self._lock = graph, threads, Lock()
        self._sessions: dict[int, Any] = {}  # by number of threads
        self._session()  # a graph that cannot be used is refused at once

    @classmethod
    def open(cls, folder: Path) -> "OnnxEncoder":
        """The encoder of a folder that `export_onnx` wrote.

        Raises:
            ModelError: there is none, it was changed, or it was made from another model than the one beside it.
        """
        if GRAPH not in check_checksums(folder, ModelError, EXPORT):
            raise ModelError(f"{folder}: there is no {EXPORT}: `unnoted export MODEL --to FOLDER` writes one")
        return cls(folder / GRAPH, content_digest(folder / GRAPH))

    def __call__(
        self, tokens: dict[str, Tensor], attention_mask: Tensor | None, positions: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """States [B, T, d] and, if the model uses them, attention rows [B, H, M, T] at `positions` [B, M]."""
        ids = tokens["input_ids"]
        mask = torch.ones_like(ids) if attention_mask is None else attention_mask
        values = {"input_ids": ids, "attention_mask": mask, "positions": positions}
        session = self._session()
        names = {each.name for each in session.get_inputs()}
        feed = {name: tensor.contiguous().numpy() for name, tensor in values.items() if name in names}
        states, *rows = (torch.from_numpy(output) for output in session.run(None, feed))
        return states, rows[0] if rows else None

    def _session(self) -> Any:  # noqa: ANN401 - of a package that is not always installed
        """A session on as many threads as torch has here: one beside other batches."""
        threads = torch.get_num_threads() if self._threads is None else self._threads
        with self._lock:
            if threads not in self._sessions:
                self._sessions[threads] = self._open_session(threads)
            return self._sessions[threads]

    def _open_session(self, threads: int) -> Any:  # noqa: ANN401
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Torch computes in between: threads that spin while they wait would take its cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        with wrap_errors(self._graph, "no usable graph", "one that unnoted export wrote", ModelError):
            return self._onnxruntime.InferenceSession(
                str(self._graph), options, providers=["CPUExecutionProvider"],
                disabled_optimizers=DISABLED_OPTIMIZERS,
            )  # fmt: skip
