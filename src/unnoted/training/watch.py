"""A watch over the risk: a training that has gone wrong stops, and says where."""

import math

import torch
from torch import Tensor


class NotFinite(ValueError):
    """A risk that is not a number, or infinite; names the step and the documents."""


class RiskWatch:
    """Holds the risk of every batch until it is looked at.

    Looking makes a GPU wait, so it is done where the program waits anyway: at each report of the risk, and
    before anything is saved.

    Example:
        >>> watch = RiskWatch()
        >>> watch.note(torch.tensor(0.5), 1, ("d1", "d2"))
        >>> watch.note(torch.tensor(math.nan), 2, ("d3",))
        >>> watch.look()
        Traceback (most recent call last):
        unnoted.training.watch.NotFinite: step 2: found risk nan, expected a finite number; documents: 'd3'
    """

    def __init__(self) -> None:
        self._risks: list[Tensor] = []
        self._places: list[tuple[int, tuple[str, ...]]] = []

    def note(self, risk: Tensor, step: int, documents: tuple[str, ...]) -> None:
        """Remember the risk of a batch, its step (from 1) and its documents."""
        self._risks.append(risk.detach())
        self._places.append((step, documents))

    def look(self) -> None:
        """Look at all risks since the last time.

        Raises:
            NotFinite: names the first step whose risk is not finite, and the documents of that batch.
        """
        if not self._risks:
            return
        risks, places = torch.stack(self._risks).tolist(), self._places
        self._risks, self._places = [], []
        for risk, (step, documents) in zip(risks, places, strict=True):
            if not math.isfinite(risk):
                titles = ", ".join(map(repr, documents))
                raise NotFinite(
                    f"step {step}: found risk {risk}, expected a finite number; documents: {titles}"
                )
