"""Docstrings of the Google convention as Markdown."""

import re
import textwrap

SECTIONS = ("Args", "Attributes", "Raises", "Returns", "Yields")
"""Sections that list names with a text each, or hold a text."""

_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}|Examples?):$")
_ITEM = re.compile(r"^(\*{0,2}[\w.]+): (.*)$")


def markdown(docstring: str) -> str:
    r"""A docstring as Markdown: lists for its arguments, a code block for its example.

    Example:
        >>> print(markdown("Add.\n\nArgs:\n    a: one\n        number."))
        Add.
        <BLANKLINE>
        Args:
        <BLANKLINE>
        - `a`: one number.
    """
    blocks, heading, lines = [], None, list[str]()
    for line in [*docstring.strip().splitlines(), None]:
        found = None if line is None else _HEADING.match(line)
        if line is not None and found is None:
            lines.append(line)
            continue
        blocks.append(_block(heading, textwrap.dedent("\n".join(lines)).strip("\n")))
        heading, lines = (found[1] if found else None), []
    return "\n\n".join(block for block in blocks if block)


def summary(docstring: str) -> str:
    r"""The first sentence or line of a docstring.

    Example:
        >>> summary("Adds two\nnumbers.\n\nMore.")
        'Adds two numbers.'
    """
    return " ".join(docstring.strip().split("\n\n")[0].split())


def _block(heading: str | None, text: str) -> str:
    if heading is None:
        return _escaped(text)
    if heading.startswith("Example"):
        return f"```python\n{text}\n```"
    return f"{heading}:\n\n" + "\n".join(_items(text))


def _items(text: str) -> list[str]:
    items = list[str]()
    for line in text.splitlines():
        found = _ITEM.match(line)
        if found:
            items.append(f"- `{found[1]}`: {found[2]}")
        elif items and line.strip():
            items[-1] += f" {line.strip()}"
        elif line.strip():
            items.append(line.strip())
    return items


def _escaped(text: str) -> str:
    """Stars that mean themselves, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("*", "\\*") for part in parts)
