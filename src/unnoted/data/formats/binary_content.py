"""Files that are no text, read by other libraries: whatever these raise is one located error."""

from collections.abc import Iterator
from contextlib import contextmanager

from unnoted.errors import DataError, Kind, fail
from unnoted.utils import describe_error


@contextmanager
def readable(expected: str) -> Iterator[None]:
    """Turn everything that a library raises over a file into an error that says what was expected.

    Keep to the other library's call what stands within: a mistake of ours would be blamed on the file.

    Example:
        >>> with readable("a Parquet file"):
        ...     {}["schema"]
        Traceback (most recent call last):
        unnoted.errors.DataError: : found damaged content (KeyError: 'schema'), expected a Parquet file
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        fail(Kind.UNREADABLE, None, None, f"damaged content ({describe_error(error)})", expected)
