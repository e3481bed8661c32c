"""A watch over the loss: a training that has gone wrong stops, and says where."""

import math

import torch
from torch import Tensor


class NotFinite(ValueError):
    """A loss that is not a number, or infinite; names the step and the documents."""


class LossWatch:
    """Holds the loss of every batch until it is looked at.

    Looking makes a GPU wait, so it is done where the program waits anyway: at each report of the loss, and
    before anything is saved.

    Example:
        >>> watch = LossWatch()
        >>> watch.note(torch.tensor(0.5), 1, ("d1", "d2"))
        >>> watch.note(torch.tensor(math.nan), 2, ("d3",))
        >>> watch.look()
        Traceback (most recent call last):
        unnoted.training.watch.NotFinite: step 2: found loss nan, expected a finite number; documents: 'd3'
    """

    def __init__(self) -> None:
        self._losses: list[Tensor] = []
        self._places: list[tuple[int, tuple[str, ...]]] = []

    def note(self, loss: Tensor, step: int, documents: tuple[str, ...]) -> None:
        """Remember the loss of a batch, its step (from 1) and its documents."""
        self._losses.append(loss.detach())
        self._places.append((step, documents))

    def look(self) -> None:
        """Look at all losses since the last time.

        Raises:
            NotFinite: names the first step whose loss is not finite, and the documents of that batch.
        """
        if not self._losses:
            return
        losses, places = torch.stack(self._losses).tolist(), self._places
        self._losses, self._places = [], []
        for loss, (step, documents) in zip(losses, places, strict=True):
            if not math.isfinite(loss):
                titles = ", ".join(map(repr, documents))
                raise NotFinite(
                    f"step {step}: found loss {loss}, expected a finite number; documents: {titles}"
                )
