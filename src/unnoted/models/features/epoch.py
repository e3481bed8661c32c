"""Which pass over the corpus this is, told once and known to everything that draws at random."""

import torch


class Epoch:
    """A number that the batch sampler and the collator share, also across the processes that load data.

    It lies in shared memory: worker processes that live for several epochs hold a copy of the collator, and
    would otherwise draw every epoch's sample from the first one's seed.

    Example:
        >>> epoch = Epoch()
        >>> epoch.set(3)
        >>> epoch.number
        3
    """

    def __init__(self) -> None:
        self._number = torch.zeros((), dtype=torch.int64)
        self._number.share_memory_()  # type: ignore[no-untyped-call]

    @property
    def number(self) -> int:
        """The current epoch, from 0."""
        return int(self._number)

    def set(self, number: int) -> None:
        """Go to an epoch."""
        if number < 0:
            raise ValueError(f"epoch: found {number}, expected 0 or more")
        self._number.fill_(number)
