"""Numbers in words and tables: counts, percentages, signed differences, durations."""


def count(number: int) -> str:
    """A count with its thousands set apart.

    Example:
        >>> count(1234567)
        '1,234,567'
    """
    return f"{number:,}"


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A count of something, in the singular for one.

    Args:
        number: how many there are.
        thing: the noun for one.
        things: the plural, if it is not `thing` with an s.

    Example:
        >>> counted(1, "fact"), counted(2000, "fact"), counted(0, "entity", "entities")
        ('1 fact', '2,000 facts', '0 entities')
    """
    return f"{count(number)} {thing if number == 1 else things or thing + 's'}"


def percent(share: float) -> str:
    """A share as a percentage with one decimal, without the sign.

    Example:
        >>> percent(0.6127), percent(1.0)
        ('61.3', '100.0')
    """
    return f"{100 * share:.1f}"


def signed(difference: float, digits: int = 1) -> str:
    """A difference with its sign.

    Example:
        >>> signed(1.5), signed(-1.5), signed(0.0), signed(-0.004, digits=2)
        ('+1.5', '−1.5', '0.0', '0.00')
    """
    rounded = round(difference, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def duration(seconds: float) -> str:
    """A time span, in the two largest units that matter.

    Example:
        >>> duration(7.4), duration(192), duration(7500)
        ('7 s', '3 min 12 s', '2 h 05 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
