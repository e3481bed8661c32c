"""`unnoted export`: a model with its encoder as an ONNX graph."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import Model, handle_errors, print_text

Folder = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="The folder to write; it must be new.")]
Int8 = Annotated[bool, typer.Option("--int8", help="Round the encoder's matrix products to 8 bits.")]


@handle_errors
def export(model: Model, to: Folder, int8: Int8 = False) -> None:
    """Export a trained model's encoder to ONNX.

    FOLDER is the whole model, for `unnoted predict`, `serve` and `Extractor.from_pretrained`, which then run the
    encoder in ONNX Runtime. It pays for encoders other than BERT.
    """
    from unnoted.inference.onnx import export_onnx  # loads torch

    difference = export_onnx(model, to, int8=int8)
    kind = "8-bit ONNX encoder" if int8 else "ONNX encoder"
    print_text(f"{kind} written to {to}; its results differ from torch's by {difference:.2g} at most")
