"""How well probabilities keep their word: of the facts said to be 70 % probable, are 70 % true?"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

BINS = 15
"""Into how many parts facts are divided by their probability, each with as many facts."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Facts of similar probability.

    Attributes:
        probability: their mean probability.
        share: the share of them that is true.
        facts: how many they are.
    """

    probability: float
    share: float
    facts: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """Facts by their probability, the least probable first.

    Attributes:
        bins: parts with equally many facts, but for one.
    """

    bins: tuple[ReliabilityBin, ...]

    @classmethod
    def of(cls, probability: ArrayLike, correct: ArrayLike, bins: int = BINS) -> "Reliability":
        """Divide facts into bins.

        Args:
            probability: of each fact.
            correct: whether each is true.
            bins: how many parts; fewer where there are fewer facts.

        Example:
            >>> found = Reliability.of([0.1, 0.3, 0.7, 0.9], [False, False, True, True], bins=2)
            >>> [(round(part.probability, 3), part.share, part.facts) for part in found.bins]
            [(0.2, 0.0, 2), (0.8, 1.0, 2)]
            >>> round(found.error, 3)
            0.2
        """
        said, true = np.asarray(probability, dtype=np.float64), np.asarray(correct, dtype=bool)
        order = np.argsort(said, kind="stable")
        parts = [part for part in np.array_split(order, bins) if len(part)]
        return cls(
            tuple(
                ReliabilityBin(float(said[part].mean()), float(true[part].mean()), len(part))
                for part in parts
            )
        )

    @property
    def facts(self) -> int:
        """How many facts there are."""
        return sum(part.facts for part in self.bins)

    @property
    def error(self) -> float:
        """The calibration error: the mean over facts of |mean probability − share true| of their bin."""
        return sum(part.facts * abs(part.probability - part.share) for part in self.bins) / max(self.facts, 1)

    @property
    def mean(self) -> float:
        """The mean probability: the share that is expected to be true."""
        return sum(part.facts * part.probability for part in self.bins) / max(self.facts, 1)

    @property
    def share(self) -> float:
        """The share that is true."""
        return sum(part.facts * part.share for part in self.bins) / max(self.facts, 1)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "error": self.error,
            "mean_probability": self.mean,
            "share_true": self.share,
            "facts": self.facts,
            "bins": [asdict(part) for part in self.bins],
        }
