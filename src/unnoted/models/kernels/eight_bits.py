"""Matrix products of 8-bit whole numbers, on CPUs that have instructions for them: about three times as fast.

Weights are rounded once, each output with a scale of its own. What they are multiplied with is rounded as it
comes, each token with a scale of its own: what is found in a document does not depend on the documents beside
it. Products are summed in 32 bits, exactly.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

LARGEST = 127
"""The largest whole number of 8 bits with a sign."""

SMALLEST_SCALE = 1e-30
"""So that a row of zeros has a scale."""


def has_eight_bits() -> bool:
    """Whether this CPU multiplies 8-bit numbers in one instruction (VNNI), and torch knows how."""
    capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    vnni = any(capabilities.get(name, False) for name in ("avx512_vnni", "avx_vnni", "amx_int8"))
    return vnni and hasattr(torch.ops.onednn, "qlinear_pointwise")


class Rounded(NamedTuple):
    """Rows of whole numbers.

    Attributes:
        values: uint8 [N, n], 128 more than the number.
        scale: float32 [N, 1], what 1 stands for.
    """

    values: Tensor
    scale: Tensor


def round_rows(rows: Tensor) -> Rounded:
    """Rows [N, n] as whole numbers from -127 to 127.

    Example:
        >>> values, scale = round_rows(torch.tensor([[1.0, -2.0, 0.0]]))
        >>> [value - 128 for value in values[0].tolist()], round(scale.item(), 4)
        ([64, -127, 0], 0.0157)
    """
    largest = torch.maximum(rows.amax(1, keepdim=True), rows.amin(1, keepdim=True).neg_())
    scale = largest.div_(LARGEST).clamp_(min=SMALLEST_SCALE)
    numbers = (rows / scale).round_().to(torch.int8)
    # Torch converts to int8 several times as fast as to uint8; the other sign bit adds 128.
    return Rounded(numbers.view(torch.uint8) ^ 128, scale)


class EightBitLinear:
    """Linear layers over the same rows, side by side, their weights rounded to 8 bits.

    Args:
        layers: with biases; their outputs follow one another.

    Example:
        >>> layer = nn.Linear(64, 32)
        >>> rows = torch.randn(5, 64)
        >>> bool((EightBitLinear(layer)(round_rows(rows)) - layer(rows)).abs().max() < 0.1)
        True
    """

    def __init__(self, *layers: nn.Linear) -> None:
        weight = torch.cat([layer.weight.detach() for layer in layers])  # [n_out, n]
        self._bias = torch.cat([layer.bias.detach() for layer in layers])
        self._scale = weight.abs().amax(1).div_(LARGEST).clamp_(min=SMALLEST_SCALE)
        numbers = (weight / self._scale[:, None]).round_().to(torch.int8)
        self._weight = torch.ops.onednn.qlinear_prepack(numbers, None)
        self._zero = torch.zeros(len(numbers), dtype=torch.int32)

    def __call__(self, rows: Rounded) -> Tensor:
        """What the layers give, [N, n_out]."""
        products = torch.ops.onednn.qlinear_pointwise(
            rows.values, 1.0, 128, self._weight, self._scale, self._zero, None,
            1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        return torch.addcmul(self._bias, products, rows.scale)
