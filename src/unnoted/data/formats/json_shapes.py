"""What the JSON of a file looks like from its first characters, which may end in the middle of a value."""

import re
from collections.abc import Mapping

PAGE = "docs/guides/annotation-tools.md"
"""The page that tells how data of other tools is brought in."""

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)

LINES = "`jq -c '.[]' FILE` makes one document per line of it"

LOOKS = {
    frozenset({"label", "annotator"}): "Label Studio's JSON-MIN export, which has no relations: export JSON",
    frozenset({"h_idx", "t_idx"}): "DocRED predictions, which `unnoted evaluate --predictions` reads",
    frozenset({"tokenized_text", "ner"}): "training data of GLiNER",
    frozenset({"paragraphs"}): "JSON of spaCy 2: `spacy convert` makes a .spacy file of it",
    frozenset({"doc_key", "sentences"}): "DyGIE or SciERC data",
    frozenset({"entities", "text"}): f"unnoted's own form, but in a list: {LINES}",
    frozenset({"entities", "sentences"}): f"unnoted's own form, but in a list: {LINES}",
    frozenset({"document", "tokens"}): "CoNLL-U or similar, as JSON",
}
"""What else a list of objects with certain keys may be."""


def first_fields(start: str) -> Mapping[str, str]:
    """The keys of the first object, each with the first two characters of its value, blanks aside.

    Of a list, that is its first element; there is none where that is no object.

    Example:
        >>> first_fields('[{"id": 1, "data": {"text": "Ada'), first_fields('{"tokens": ["Ada", ')
        ({'id': '1', 'data': '{"'}, {'tokens': '["'})
        >>> first_fields("[1, 2]")
        {}
    """
    fields: dict[str, str] = {}
    depth = 0
    key, last = None, ""
    for number, match in enumerate(_PARTS.finditer(start)):
        part = match[0]
        if number == 0 and part == "[":
            continue
        if number <= 1 and depth == 0 and part != "{":
            break
        if depth == 1 and part == ":":
            key = last[1:-1]
            fields.setdefault(key, "")
        elif key is not None and len(fields[key]) < 2 and part != ",":
            fields[key] += part[0]
        if depth == 1 and part == ",":
            key = None
        depth += (part in ("{", "[")) - (part in ("}", "]"))
        last = part
        if depth == 0:
            break
    return fields


def described(start: str) -> str:
    """What a JSON list that is in no known format looks like."""
    fields = first_fields(start)
    keys = ", ".join(list(fields)[:6]) or "no key"
    known = next((looks for keys, looks in LOOKS.items() if keys <= fields.keys()), None)
    return f"a JSON list of objects with {keys}" + (f" ({known})" if known else "")
