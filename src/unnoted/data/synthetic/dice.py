"""The random choices of one document."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from unnoted.data.synthetic.vocabulary import CHANCES

T = TypeVar("T")


class Dice(Random):
    """A random source with the few choices that the generator makes.

    Example:
        >>> dice = Dice("a string seeds it alike in every process and on every machine")
        >>> dice.below(10), dice.pick("abc"), dice.chance("opener")
        (0, 'b', False)
    """

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1."""
        return int(self.random() * bound)

    def pick(self, things: Sequence[T]) -> T:
        """One of some things."""
        return things[int(self.random() * len(things))]

    def chance(self, what: str) -> bool:
        """Whether something happens, as often as `vocabulary.yaml` says."""
        return self.random() < CHANCES[what]
