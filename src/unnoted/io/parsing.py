"""JSON and YAML: strict, located, and as a stream."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

import yaml  # type: ignore[import-untyped]

from unnoted.errors import DataError, DefectKind
from unnoted.io.inputs import Limits
from unnoted.utils import describe_error, short_repr, shorten, strip_control

ENCODABLE = "characters that UTF-8 can hold"
BLANKS = " \t\r\n"
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """Stands for a JSON object in which a key stands twice: it is no dictionary, so that no model accepts it."""

    key: str

    def __repr__(self) -> str:
        return f"the key {short_repr(self.key)} twice in one object"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object] | RepeatedKey:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            return RepeatedKey(key)
        made[key] = value
    return made


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)


def parse_json(text: str, place: str | None = None) -> object:
    """Parse a JSON value; an object in which a key stands twice is a `RepeatedKey`.

    Args:
        text: a line, or the content of a whole file.
        place: which line; None for a file, which then may hold nothing that cannot be written again.
    """
    try:
        value = _DECODER.decode(text)
        if place is None and "\\u" in text:  # the only way to half a surrogate pair
            json.dumps(value, ensure_ascii=False, default=repr).encode()
    except RecursionError:
        raise DataError("JSON nested too deeply", "a JSON object", place=place) from None
    except UnicodeEncodeError as error:
        raise DataError(short_repr(error.object[error.start]), ENCODABLE, place=place) from None
    except ValueError as error:
        raise DataError(f"{short_repr(text)} ({_reason(error)})", "a JSON object", place=place) from None
    return value


def _reason(error: ValueError) -> str:
    """What is wrong, where Python says how to allow it instead."""
    return "a number of thousands of digits" if "integer string conversion" in str(error) else str(error)


def read_array(
    stream: TextIO, limits: Limits | None = None, start: str = ""
) -> Iterator[tuple[int, int, object]]:
    r"""The elements of one JSON array, one held at a time; `start` was taken from the stream already.

    Yields:
        The number of an element from 0, the line that it begins at, and its value.

    Example:
        >>> import io
        >>> list(read_array(io.StringIO('[{"a": 1},\n {"a": 2}]')))
        [(0, 1, {'a': 1}), (1, 2, {'a': 2})]
    """
    limits = limits or Limits.current()
    text, line, index = start, 1, 0

    def read_more() -> bool:
        """Read as much again, so that nothing is parsed often."""
        nonlocal text
        limits.check("document", len(text), f"characters or more in document {index + 1}")
        most = max(CHUNK, limits.document - len(text) + 1)  # never far beyond the limit
        chunk = stream.read(min(max(CHUNK, len(text)), most))
        text += chunk
        return bool(chunk)

    def take(length: int) -> None:
        nonlocal text, line
        line += text.count("\n", 0, length)
        text = text[length:]

    def next_character() -> str:
        """The next character that is not blank, which stays; empty at the end of the file."""
        blanks = 0
        while True:
            length = len(text) - len(text.lstrip(BLANKS))
            blanks += length
            limits.check("document", blanks, f"blanks or more before document {index + 1}")
            take(length)
            if text or not read_more():
                return text[:1]

    def element() -> object:
        while True:
            try:
                value, end = _DECODER.raw_decode(text)
            except json.JSONDecodeError as error:
                # A token that is cut by the end of what was read fails within its last characters.
                unterminated = error.msg.startswith("Unterminated")
                cut = unterminated or error.pos >= len(text) - 16
                if cut and read_more():
                    continue
                if unterminated or error.pos >= len(text.rstrip()):
                    refuse(f"the end of the file in document {index + 1}", "the rest of the document and ']'")
                near = short_repr(text[max(0, error.pos - 20) : error.pos + 20])
                refuse(f"broken JSON in document {index + 1} near {near} ({error.msg})", "valid JSON")
            except RecursionError:
                refuse(f"JSON nested too deeply in document {index + 1}", "a document")
            except ValueError as error:
                refuse(f"{_reason(error)} in document {index + 1}", "a document")
            if end < len(text) or not read_more():  # at the end, a number may go on
                limits.check("document", end, f"characters in document {index + 1}")
                take(end)
                return value

    def refuse(found: str, expected: str) -> NoReturn:
        raise DataError(found, expected, kind=DefectKind.UNREADABLE)

    if (first := next_character()) != "[":
        refuse(f"{short_repr(first)} at the start", "a JSON list of documents, '['")
    take(1)
    separator = next_character()
    while separator != "]":
        next_character()
        begin = line
        yield index, begin, element()
        index += 1
        separator = next_character()
        if separator not in ("]", ","):
            problem = short_repr(separator) if separator else "the end of the file"
            refuse(f"{problem} after document {index}", "',' or ']'")
        take(separator == ",")
    take(1)
    if trailing := next_character():
        refuse(f"{short_repr(trailing)} after the list", "the end of the file")


def read_json(path: Path, error: type[ValueError]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The content of a JSON file; a failure raises the given type of error, which names the file."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError, MemoryError) as problem:
        raise error(f"{path}: no readable JSON ({describe_error(problem)})") from problem


CONFIG_CHARACTERS = 100_000


class YamlError(ValueError):
    """Text that is no YAML of plain values; names the line."""


def parse_yaml(text: str) -> object:
    r"""The value of a YAML text of mappings, lists and plain values, without tags and aliases.

    Example:
        >>> parse_yaml("epochs: 3\ntrain: [a.json, b.json]")
        {'epochs': 3, 'train': ['a.json', 'b.json']}
        >>> parse_yaml("epochs: 3\nepochs: 4")
        Traceback (most recent call last):
        unnoted.io.parsing.YamlError: line 2: the key 'epochs' stands twice
    """
    if len(text) > CONFIG_CHARACTERS:
        raise YamlError(f"line 1: {len(text):,} characters are more than {CONFIG_CHARACTERS:,}")
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise YamlError(strip_control(f"line {line}: {shorten(str(error.problem))}")) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(f"line {line}: the character {text[error.position]!r} is not allowed") from None
    except RecursionError:
        raise YamlError("line 1: values are nested too deeply") from None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses what YAML would take silently, such as a key that stands twice; dates are texts."""

    yaml_implicit_resolvers: Mapping[str, Any] = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise _problem("tags and aliases are not allowed", event)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise _problem(f"the key {short_repr(key.value)} stands twice", key)
                seen.add((key.tag, key.value))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        try:
            if len(node.value) > 1000 and node.tag.endswith((":int", ":float")):
                raise ValueError("Python cannot print it")
            return super().construct_object(node, deep)
        except ValueError:  # what looks like a number and is none, or one of thousands of digits
            raise _problem(f"{short_repr(node.value)} is not a number", node) from None


def _problem(problem: str, where: yaml.Node | yaml.Event) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=where.start_mark)
