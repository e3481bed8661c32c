"""The grid file of the real-data results: every run has settings that load, every table has its rows."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import results
from tests.unit.experiments.making_tables import MadeUpPool

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.experiments.paper import table_named

GRID = results.read_grid(Path("shared"), Path("runs"))


def test_every_run_loads_and_no_two_are_equal(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "fingerprint", lambda settings: SimpleNamespace(address="teacher"))
    settings = results.settings_of(GRID, list(GRID["runs"]), tmp_path)
    assert all(each.test and runs[-1].seed == 66 for runs in settings.values() for each in runs)
    known = {f"runs/{name}.jsonl" for name in GRID["made"]}
    first = [runs[0] for runs in settings.values()]
    assert {str(path) for each in first for path in each.train if path.parts[0] == "runs"} <= known
    assert settings["distil-student"][0].teacher == tmp_path / "teacher"
    assert len({each.model_dump_json() for each in first}) == len(settings)


@pytest.mark.parametrize("name", GRID["tables"])
def test_every_table_has_its_rows(name):
    table = table_named(GRID["tables"][name].get("table", name))
    assert [table.row(row).name for row in GRID["tables"][name]["rows"]]


def test_a_run_from_the_grid_is_performed_and_shown(tmp_path, monkeypatch, capsys):
    data = {"of": [str(tmp_path / "all.jsonl")], "shares": [0.5, 0.5], "part": 0}
    write_documents(tmp_path / "all.jsonl", generate_documents(4))
    run = {"train": str(tmp_path / "runs" / "half.jsonl"), "test": data["of"], "encoder": "recurrent"}
    grid = {"config": "small", "made": {"half": data}, "runs": {"mine": run | {"seeds": [65, 66]}}}
    monkeypatch.setattr(
        results, "LocalPool", lambda jobs: MadeUpPool(lambda settings: 30 + 10 * (settings.seed == 66))
    )
    monkeypatch.setattr(results, "curve", lambda record: ["1.0 / 2.0 / 3.0"])
    results.run_all(grid, ["mine"], tmp_path / "runs", jobs=1)
    shown = capsys.readouterr().out
    assert (
        "| mine | ssr-pu | 65, 66 | 20 | ×3 | 8 | 43.75 ± 8.84 |" in shown
        and "| mine | 1.0 / 2.0 / 3.0 |" in shown
    )
