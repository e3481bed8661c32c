"""Writing records one at a time, as JSON lines or as one JSON list."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unnoted.common.files import write_text

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


def write_lines(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one record a line; returns how many."""
    count = 0
    with write_text(Path(path)) as stream:
        for record in records:
            stream.write(_ENCODER.encode(record) + "\n")
            count += 1
    return count


def write_list(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON list, a record a line, without holding it in memory; returns how many."""
    count = 0
    with write_text(Path(path)) as stream:
        stream.write("[")
        for record in records:
            stream.write((",\n" if count else "") + _ENCODER.encode(record))
            count += 1
        stream.write("]\n")
    return count
