"""Numbers too small to be normal are taken for 0 while a model is trained on a CPU.

A CPU computes with denormal numbers (below 1e-38) up to a hundred times slower. Gradients that vanish
on their way through a document are full of them: steps of a BiLSTM by cross-entropy took 5 to 9 seconds each
instead of 0.4.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Flush denormal numbers to 0 in this thread, where the CPU can.

    Example:
        >>> with flushed_denormals():
        ...     float(torch.full((), 1e-30) * 1e-10)
        0.0
    """
    before = _are_flushed()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def _are_flushed() -> bool:
    return float(torch.full((), 1e-30) * 1e-10) == 0
