"""A table of the paper: what is run at a scale, and that every deviation is a note."""

import pytest
import torch
from tests.unit.experiments.factories import address, docred_folder, fake_runs, make_record
from tests.unit.training.factories import tiny_encoder

from unnoted.experiments.datasets import DataFolder, MissingData
from unnoted.experiments.grid import Scale, plan_lines
from unnoted.experiments.paper import table_named
from unnoted.experiments.reproduce import (
    applies,
    count_notes,
    deviation_notes,
    plan_table,
    reproduce,
    scale_row,
)
from unnoted.training import run

TABLE = table_named("table2")
CORRECT = {"s-pu-log-sigmoid": 20, "s-pu": 30, "s-pu-log-sigmoid-ranking": 20, "ssr-pu": 40}


@pytest.fixture
def data(tmp_path):
    return DataFolder(docred_folder(tmp_path / "data"))


@pytest.fixture
def encoder(tmp_path):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}", "utf-8")
    return str(tmp_path / "encoder")


@pytest.fixture
def plan(data, encoder, tmp_path):
    """Plans a table with one encoder and one seed."""

    def plan(name, rows=(), **changes):
        scale = Scale({"encoder": encoder, **changes}, seeds=(62,))
        return plan_table(table_named(name), scale, data, tmp_path / "grid", rows)

    return plan


def scaled(name, scale, data, tmp_path, table=TABLE):
    return scale_row(table.row(name), scale, data, tmp_path / "grid")


def test_as_published_nothing_deviates(data, tmp_path):
    row = scaled("ssr-pu", Scale(), data, tmp_path)
    assert list(deviation_notes({"ssr-pu": row})) == []
    assert row.settings.train[0].samefile(data.path / "train_annotated.json")
    assert row.settings.data.vocabulary.samefile(data.path / "rel_info.json")
    assert row.settings.train[0].is_absolute()


def test_every_change_is_a_note(data, tmp_path):
    scale = Scale(
        {"encoder": str(tmp_path), "encoder_layers": 2, "epochs": 3, "unlabelled_rate": 0.5, "margin": 0.5},
        documents=4,
    )
    rows = {name: scaled(name, scale, data, tmp_path) for name in ("atlop", "ssr-pu")}
    assert set(deviation_notes(rows)) == {
        f"encoder: {tmp_path} (published: bert-base-cased)",
        "encoder layers: 2 (published: all)",
        "epochs: 3 (published: 30)",
        "margin: 0.5 (published: 0.25) in ssr-pu",
        "unlabelled rate: 0.5 (published: 1)",
    }
    assert rows["atlop"].settings.train == rows["ssr-pu"].settings.train
    rows = {name: scaled(name, Scale({"epochs": 2}), data, tmp_path) for name in ("gain", "atlop")}
    assert "epochs: 2 (published: 300 in gain; 30 in atlop)" in deviation_notes(rows)


def test_a_change_applies_to_the_rows_that_have_it(data, tmp_path):
    atlop, ssr_pu, bilstm = (TABLE.row(name).settings for name in ("atlop", "ssr-pu", "bilstm"))
    assert applies("epochs", atlop)
    assert not applies("margin", atlop) and applies("margin", ssr_pu)
    assert applies("vectors", bilstm) and not applies("vectors", atlop)
    assert applies("unlabelled_rate", atlop) and not applies("unlabelled_rate", TABLE.row("gain").settings)
    with pytest.raises(ValueError, match="--set margin"):  # the rows differ in it
        scaled("margin-0.1", Scale({"margin": 0.5}), data, tmp_path, table_named("table11"))
    with pytest.raises(ValueError, match=r"'epoch'.*'epochs'"):
        scaled("atlop", Scale({"epoch": 1}), data, tmp_path)


def test_a_table_has_published_beside_measured(data, encoder, tmp_path, monkeypatch):
    performed = fake_runs(monkeypatch, lambda settings: CORRECT[settings.loss.name])
    scale = Scale({"encoder": encoder, "epochs": 1}, seeds=(62, 63), documents=4)
    result = reproduce(table_named("table8"), scale, data, tmp_path / "grid")
    assert [row.name for row in result.rows] == list(CORRECT)
    best = result.rows[-1]
    assert best.published["F1"].mean == 56.36
    # 40 of 60 predicted and of 100 true facts
    assert best.measured["F1"].mean == pytest.approx(50) and best.measured["F1"].seeds == 2
    assert [record.config["seed"] for record in best.records] == [62, 63] and len(performed) == 8
    tested = [(test.better, test.than) for test in result.significance]
    assert tested[:2] == [("s-pu", "s-pu-log-sigmoid"), ("ssr-pu", "s-pu")]
    assert result.significance[1].difference == pytest.approx(50 - 37.5)
    assert "documents trained on: 8 (published: 3,053)" in result.notes
    assert "training documents: the first 4 of the file" in result.notes


def test_one_encoder_for_all_runs_duplicates_once(plan, data, tmp_path):
    table = plan("table4")
    assert {row.name: len(row.runs) for row in table.rows} == {
        "atlop": 1, "ssr-pu": 1, "atlop-large": 0, "docunet": 1, "kd-docre": 1, "ssr-pu-large": 0,
    }  # fmt: skip
    # What was behind the duplicate is behind the row that was run in its place.
    assert table.compared == (("ssr-pu", "atlop"), ("ssr-pu", "docunet"), ("ssr-pu", "kd-docre"))
    published = plan_table(table_named("table4"), Scale(seeds=(62,)), data, tmp_path / "grid")
    assert all(len(row.runs) == 1 for row in published.rows)
    lines = list(plan_lines(table, tmp_path / "grid"))
    assert lines[0].startswith("table4: 4 runs, 0 of them finished") and "  ssr-pu-large: not run" in lines


def test_tables_share_runs(plan):
    addresses = {
        name: {row.name: address(each) for row in plan(name).rows for each in row.runs}
        for name in ("table8", "table11", "table12", "table4", "table9")
    }
    shared = addresses["table8"]["ssr-pu"]
    assert addresses["table11"]["margin-0.25"] == shared == addresses["table12"]["prior-3"]
    assert addresses["table4"] == addresses["table9"]
    assert len(set(addresses["table11"].values())) == 5


def test_rows_can_be_chosen_and_rows_without_files_fail_alone(plan, data, encoder, tmp_path):
    table = plan("table2", ["atlop", "bilstm"])
    assert [row.name for row in table.rows] == ["bilstm", "atlop"]
    assert "--set vectors=FILE" in table.rows[0].failures[0].reason and table.rows[1].runs
    with pytest.raises(ValueError, match="'ssr'"):
        plan("table2", ["ssr"])
    with pytest.raises(ValueError, match="--set dev"):
        plan("table8", dev="d.json")
    with pytest.raises(ValueError, match="data check"):
        plan("statistics")
    (data.path / "train_annotated.json").unlink()
    with pytest.raises(MissingData, match=r"train_annotated\.json"):
        plan("table8")


def test_the_extreme_labels_are_made(plan, tmp_path):
    table = plan("table5")
    assert any("train_ext.json" in note for note in table.notes)
    assert table.rows[0].runs[0].train[0].parent == tmp_path / "grid" / "data"


def test_the_published_numbers_of_documents_are_no_deviation():
    assert list(count_notes("docred-original", [])) == []
    notes = list(count_notes("docred-original", [make_record(train_documents=3053)]))
    assert [note.partition(":")[0] for note in notes] == ["documents scored on", "relations with a label"]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table2", "table9", "table10", "table8", "table11", "table12"])
def test_every_row_is_trained_and_scored(table, tmp_path_factory, tmp_path):
    """On a few generated documents."""
    torch.set_num_threads(1)
    data = DataFolder(docred_folder(tmp_path / "data", documents=3))
    scale = Scale({"encoder": str(tiny_encoder(tmp_path / "tiny")), "epochs": 1}, seeds=(62,))
    runs = plan_table(table_named(table), scale, data, tmp_path / "runs").runs
    assert runs
    for settings in runs:
        placed = settings.model_copy(update={"output": tmp_path / "runs" / address(settings)})
        assert run(placed).scored["test"].overall.gold
