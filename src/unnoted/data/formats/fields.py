"""Taking typed fields out of parsed JSON, with errors that say which field was wrong and how."""

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from unnoted.errors import DefectLog, Kind, fail
from unnoted.io import RepeatedKey
from unnoted.utils import short_repr

T = TypeVar("T")

KEYS_KEPT = 1000
"""Of how many different unknown fields of documents a log keeps the names."""

_TYPE_NAMES = {str: "a string", int: "a whole number", list: "a list", dict: "an object"}


def take(record: Mapping[str, Any], key: str, kind: type[T], document: str | None, place: str = "") -> T:
    """The field `key` of `record`, which must be there and of exactly this type.

    Example:
        >>> take({"sent_id": 3}, "sent_id", int, "Ada", "vertexSet[0][0]")
        3
    """
    try:
        value = record[key]
    except KeyError:
        fail(Kind.MALFORMED, document, _join(place, key), "nothing", _TYPE_NAMES[kind])
    if type(value) is not kind:  # exactly: True is an int to isinstance
        wrong_type(value, kind, document, _join(place, key))
    return value


def expect(value: object, kind: type[T], document: str | None, place: str | None) -> T:
    """`value`, which must be of exactly this type."""
    if type(value) is not kind:
        wrong_type(value, kind, document, place)
    return value


def take_list(
    record: Mapping[str, Any], key: str, kind: type[T], document: str | None, place: str = ""
) -> list[T]:
    """The field `key`, a list of values that are all of one type."""
    values = take(record, key, list, document, place)
    for index, value in enumerate(values):
        if type(value) is not kind:
            wrong_type(value, kind, document, f"{_join(place, key)}[{index}]")
    return values


def wrong_type(value: object, kind: type, document: str | None, place: str | None) -> NoReturn:
    """Fail on a value of the wrong type; an object in which a key stands twice is of none."""
    if isinstance(value, RepeatedKey):
        fail(Kind.MALFORMED, document, place, repr(value), "each key once")
    fail(Kind.MALFORMED, document, place, short_repr(value), _TYPE_NAMES[kind])


def note_unknown_keys(
    record: Mapping[str, Any], known: frozenset[str], log: DefectLog, document: str | None, place: str
) -> None:
    """Log fields that the format does not define: ignored, but not silently."""
    if record.keys() <= known:
        return
    for key in sorted(record.keys() - known):
        if not place and (key in log.ignored or len(log.ignored) < KEYS_KEPT):
            log.ignored[key] += 1
        log.add(Kind.IGNORED_FIELD, document, _join(place, key), short_repr(record[key], 30), "a known field")


def take_identifier(
    record: Mapping[str, Any], document: str | None, place: str, key: str = "id"
) -> str | None:
    """The id of an entity, a string or a whole number; None if it has none.

    Example:
        >>> take_identifier({"id": 7}, None, "entities[0]"), take_identifier({}, None, "entities[0]")
        ('7', None)
    """
    value = record.get(key)
    if value is None:
        return None
    return str(value) if type(value) is int else take(record, key, str, document, place)


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
