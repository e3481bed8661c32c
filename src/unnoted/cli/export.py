"""`unnoted export`: a model whose encoder runs elsewhere than in torch."""

from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import handle_errors, print_text


@handle_errors
def export(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A trained model: its folder, or its name on the hub.")
    ],
    to: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="The folder to write; it must not be there yet.")
    ],
    onnx: Annotated[bool, typer.Option("--onnx", help="Export the encoder to ONNX.")] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="Round the weights of its matrix products to 8 bits: faster.")
    ] = False,
) -> None:
    """Export a trained model, so that `unnoted predict` runs its encoder in ONNX Runtime.

    FOLDER is a whole model, with the graph beside it. It needs the extra `onnx`.
    """
    if not onnx:
        raise ValueError("found no form to export to, expected --onnx")
    from unnoted.inference.onnx import export_onnx

    exported = export_onnx(model, to, int8=int8)
    kind = "8-bit " if int8 else ""
    print_text(
        f"{kind}ONNX encoder written to {to}; at most {exported.difference:.1g} from torch on random tokens"
    )
