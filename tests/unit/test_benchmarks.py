"""The grid of the real-data results loads, and tables are written between their markers."""

from itertools import islice
from pathlib import Path

import pytest
from benchmarks import large_corpus, report, train
from tests.unit.experiments.factories import make_record, make_scored

from unnoted.data import load_documents
from unnoted.io import write_lines

GRID = train.read_grid(Path("/data"), Path("/runs"))


def test_every_run_loads_and_no_two_are_equal(tmp_path):
    settings = {name: train.settings_of(GRID, name, tmp_path)[0] for name in GRID["runs"]}
    made = {Path(f"/runs/{name}.jsonl") for name in GRID["made"]}
    for each in settings.values():
        assert each.test and {path for path in each.train if path.parts[1] == "runs"} <= made
    assert len({each.model_dump_json() for each in settings.values()}) == len(settings)
    assert train.select_runs(GRID, ["docred-best*"]) == [
        "docred-best", "docred-best-rules", "docred-best-sample"
    ]  # fmt: skip
    with pytest.raises(ValueError, match="nothing"):
        train.select_runs(GRID, ["nothing"])


def test_tables_are_written_between_their_markers(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: docred -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(report, "PAGES", [page])
    records = {"docred-best": [make_record(test=make_scored(number)) for number in (30, 40)]}
    assert report.write_tables(report.all_tables(records, {"docred-best": "`best`"}, {}, {})) == ["docred"]
    text = page.read_text()
    assert "| `best` | 43.75 ± 8.84 |" in text and "old" not in text
    assert text.startswith("before\n") and text.endswith("after\n")


@pytest.mark.parametrize("shape", list(large_corpus.SHAPES))
def test_large_corpora_have_documents_without_defects(shape, tmp_path):
    generate, _ = large_corpus.SHAPES[shape]
    write_lines(tmp_path / "documents.jsonl", islice(generate(), 10))
    corpus = load_documents(tmp_path / "documents.jsonl", strict=True)
    assert len(corpus) == 10
    assert any(document.facts for document in corpus)
