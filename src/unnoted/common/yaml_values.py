"""YAML as settings need it: plain values only, in bounds, and one located error for everything else.

Left out on purpose: tags, which name types to make; merge keys; numbers in base sixty and dates, which are
texts here (`1:30`, `2024-01-01`). An alias may repeat what stands above it, but not without end.
"""

from collections.abc import Hashable
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]

from unnoted.common.errors import plain, shortened, shown
from unnoted.common.limits import Limits

LONGEST_NUMBER = 1_000
"""Characters; Python itself refuses to read or print numbers beyond some thousand digits."""


DEEPEST = 50
"""How many lists and mappings may lie in each other."""


class YamlError(ValueError):
    """Text that is no YAML as settings need it: says in which line, what was found and what was expected."""


def parse_yaml(text: str) -> object:
    r"""The value of a YAML text.

    Raises:
        YamlError: names the line.

    Example:
        >>> parse_yaml("epochs: 3\ntrain: [a.json, b.json]")
        {'epochs': 3, 'train': ['a.json', 'b.json']}
        >>> parse_yaml("epochs: !!int 3")
        Traceback (most recent call last):
        unnoted.common.yaml_values.YamlError: line 1: found the tag '!!int', expected a plain value
    """
    limits = Limits.current()
    if len(text) > limits.config:
        raise YamlError(f"found {len(text):,} characters, expected {limits.allowance('config')}")
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_aliases(node, limits)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise YamlError(plain(f"{line}{shortened(str(error.problem))}")) from None
    except yaml.reader.ReaderError as error:
        number, letter = text.count("\n", 0, error.position) + 1, text[error.position]
        raise YamlError(f"line {number}: found the character {letter!r}, expected text") from None
    except yaml.YAMLError as error:
        raise YamlError(f"found no YAML ({plain(shortened(' '.join(str(error).split())))})") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses what YAML would take silently, such as a key that stands twice, of which it keeps the last."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        event = self.peek_event()
        if self.depth > DEEPEST:
            _refuse(event.start_mark, f"values more than {DEEPEST} deep in each other", "settings")
        if getattr(event, "tag", None) is not None:
            tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
            _refuse(event.start_mark, f"the tag {shown(tag)}", "a plain value")
        self.depth += 1
        node: yaml.Node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                _refuse(key_node.start_mark, "the merge key '<<'", "keys and values")
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                _refuse(key_node.start_mark, f"{shown(key)} as a key", "a text")
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"found the key {shown(key)} twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_number(self, node: yaml.ScalarNode) -> object:
        if ":" in node.value:
            return self.construct_yaml_str(node)
        if len(node.value) > LONGEST_NUMBER:
            _refuse(node.start_mark, f"a number of {len(node.value):,} characters", "a shorter one")
        is_int = node.tag.endswith(":int")
        try:
            return self.construct_yaml_int(node) if is_int else self.construct_yaml_float(node)
        except ValueError:  # what looks like a number and is none, such as 0x_
            _refuse(node.start_mark, shown(node.value), "a number")


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_str)


def _refuse(mark: yaml.Mark, found: str, expected: str) -> NoReturn:
    raise yaml.MarkedYAMLError(problem=f"found {found}, expected {expected}", problem_mark=mark)


def _check_aliases(node: yaml.Node, limits: Limits) -> None:
    """Refuse an alias within what it names, and aliases that together stand for more values than allowed."""
    sizes: dict[int, int] = {}
    within: set[int] = set()

    def size(part: yaml.Node) -> int:
        if isinstance(part, yaml.ScalarNode):
            return 1
        if id(part) in within:
            _refuse(part.start_mark, "a value that contains itself", "one that ends")
        if id(part) not in sizes:
            within.add(id(part))
            pairs = part.value if isinstance(part, yaml.MappingNode) else [(each,) for each in part.value]
            sizes[id(part)] = 1 + sum(size(each) for pair in pairs for each in pair)
            within.remove(id(part))
        if sizes[id(part)] > limits.config_values:
            found = f"{sizes[id(part)]:,} values, aliases counted as often as they stand"
            _refuse(part.start_mark, found, limits.allowance("config_values"))
        return sizes[id(part)]

    size(node)
