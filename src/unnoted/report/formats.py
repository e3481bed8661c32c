"""How figures are written: per cent with one decimal, counts with thousands set apart."""


def percent(share: float) -> str:
    """A share in per cent, without the sign.

    Example:
        >>> percent(0.6127), percent(1.0)
        ('61.3', '100.0')
    """
    return f"{100 * share:.1f}"


def count(number: int) -> str:
    """A count.

    Example:
        >>> count(1234567)
        '1,234,567'
    """
    return f"{number:,}"


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A count of something.

    Example:
        >>> counted(1, "fact"), counted(2, "fact"), counted(0, "entity", "entities")
        ('1 fact', '2 facts', '0 entities')
    """
    return f"{count(number)} {thing if number == 1 else things or thing + 's'}"


def points(share: float, other: float) -> float:
    """How many points one share lies above another, as the two are written, so that readers can check it.

    Example:
        >>> percent(0.6146), percent(0.4554), points(0.6146, 0.4554)
        ('61.5', '45.5', 16.0)
    """
    return round(float(percent(share)) - float(percent(other)), 1)


def signed(difference: float, digits: int = 1) -> str:
    """A difference with its sign.

    Example:
        >>> signed(1.5), signed(-1.5), signed(0.0), signed(-0.004, digits=2)
        ('+1.5', '−1.5', '0.0', '0.00')
    """
    rounded = round(difference, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"
