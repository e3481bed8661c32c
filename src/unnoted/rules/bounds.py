"""Between which bounds a share may be that was counted in documents.

Pairs of one document stand or fall together: a hundred pairs of one document say less than a hundred pairs
of a hundred. The variance of a share is therefore taken over documents, and n pairs count as fewer.
"""

import math
from dataclasses import dataclass

ONE_SIDED = 1.645
"""Standard deviations below which a normal variable lies with 5 %."""


@dataclass(slots=True)
class DocumentShare:
    """A share of pairs, with what its variance over documents needs.

    Example:
        >>> alone, together = DocumentShare(), DocumentShare()
        >>> for _ in range(10):
        ...     alone.add(1, 1)
        >>> together.add(10, 10)
        >>> alone.share, together.share, round(alone.low(), 2), round(together.low(), 2)
        (1.0, 1.0, 0.79, 0.27)
    """

    pairs: int = 0
    hits: float = 0.0
    documents: int = 0
    _pairs_squared: int = 0
    _hits_squared: float = 0.0
    _product: float = 0.0

    def add(self, pairs: int, hits: float) -> None:
        """Count one document."""
        self.pairs += pairs
        self.hits += hits
        self.documents += 1
        self._pairs_squared += pairs * pairs
        self._hits_squared += hits * hits
        self._product += pairs * hits

    @property
    def share(self) -> float:
        """Hits among pairs."""
        return self.hits / self.pairs if self.pairs else 0.0

    @property
    def variance(self) -> float:
        """Of the share over documents, as that of a ratio: sum (hits - share pairs)^2 / pairs^2."""
        residuals = self._hits_squared - 2 * self.share * self._product + self.share**2 * self._pairs_squared
        return max(residuals, 0.0) / self.pairs**2 if self.pairs else 0.0

    @property
    def equal_documents(self) -> float:
        """How many documents with equally many pairs would say as much: pairs^2 / sum of their squares."""
        return self.pairs**2 / self._pairs_squared if self.pairs else 0.0

    @property
    def effective_pairs(self) -> float:
        """How many independent pairs would say as much.

        Where all pairs agree, their variance says nothing: a document then counts as if its pairs were one.
        """
        if not self.pairs:
            return 0.0
        independent = self.share * (1 - self.share) / self.pairs
        if independent <= 0:
            return self.equal_documents
        return self.pairs / max(1.0, self.variance / independent)

    def low(self, deviations: float = ONE_SIDED) -> float:
        """The lower end of Wilson's interval, of as many pairs as are effective."""
        return wilson_low(self.share, self.effective_pairs, deviations)

    def high(self, deviations: float = ONE_SIDED) -> float:
        """Its upper end; with `low` a 90 % interval."""
        return 1 - wilson_low(1 - self.share, self.effective_pairs, deviations)


def wilson_low(share: float, pairs: float, deviations: float = ONE_SIDED) -> float:
    """The lower end of Wilson's interval for a share.

    Example:
        >>> round(wilson_low(0.5, 10), 3), wilson_low(1.0, 0)
        (0.269, 0.0)
    """
    if pairs <= 0:
        return 0.0
    square = deviations**2 / pairs
    spread = deviations * math.sqrt(share * (1 - share) / pairs + square / (4 * pairs))
    return max(0.0, (share + square / 2 - spread) / (1 + square))
