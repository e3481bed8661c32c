"""Cohen's kappa as its definition reads: agreement beyond what two independent raters would have."""

from fractions import Fraction


def kappa(first, second):
    """From two lists of answers about the same things; None where chance alone agrees always."""
    size = len(first)
    if not size:
        return None
    observed = Fraction(sum(a == b for a, b in zip(first, second, strict=True)), size)
    chance = sum(
        Fraction(first.count(answer), size) * Fraction(second.count(answer), size)
        for answer in set(first) | set(second)
    )
    return None if chance == 1 else (observed - chance) / (1 - chance)
