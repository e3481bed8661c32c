"""The documentation says what the program does."""

import json
import re
from pathlib import Path

from unnoted.documents import load_documents
from unnoted.documents.defects import Kind

DOCS = Path(__file__).parents[2] / "docs"


def test_the_jsonl_example_is_read(tmp_path):
    text = (DOCS / "formats.md").read_text("utf-8")
    example = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    path = tmp_path / "example.jsonl"
    path.write_text(json.dumps(example), "utf-8")
    (document,) = load_documents(path, strict=True)
    assert [entity.name for entity in document.entities] == ["Ada Lorne", "Kelm", "Bo"]


def test_every_kind_of_defect_is_listed():
    text = (DOCS / "formats.md").read_text("utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \| (note|defect|error) \| (.+) \|$", text, re.MULTILINE) == [
        (kind.slug, kind.severity, kind.meaning) for kind in Kind
    ]
