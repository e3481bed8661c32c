"""A table of the paper with made-up outcomes: rows, figures, notes and claims are what they should be."""

import pytest
from tests.unit.experiments.making_runs import address
from tests.unit.experiments.making_tables import MadeUpPool, docred_folder, record

from unnoted.experiments.data_sets import DataFolder, MissingData
from unnoted.experiments.paper import table_named
from unnoted.experiments.paper_tables import count_notes, plan_table, reproduce
from unnoted.experiments.plan import plan_lines
from unnoted.experiments.scale import Scale
from unnoted.experiments.statistics_table import statistics_table

CORRECT = {"s-pu-log-sigmoid": 20, "s-pu": 30, "s-pu-log-sigmoid-ranking": 20, "ssr-pu": 40}


@pytest.fixture
def data(tmp_path):
    return DataFolder(docred_folder(tmp_path / "data"))


@pytest.fixture
def encoder(tmp_path):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}", "utf-8")
    return str(tmp_path / "encoder")


def test_a_table_has_published_beside_measured(data, encoder, tmp_path):
    pool = MadeUpPool(lambda settings: CORRECT[settings.loss])
    scale = Scale({"encoder": encoder, "epochs": 1}, seeds=(62, 63), documents=4)
    result = reproduce(table_named("table8"), scale, data, tmp_path / "grid", pool)
    assert [row.name for row in result.rows] == list(CORRECT)
    best = result.rows[-1]
    assert best.published["F1"].mean == 56.36
    # 40 of 60 predicted and of 100 true facts
    assert best.measured["F1"].mean == pytest.approx(50) and best.measured["F1"].seeds == 2
    assert [record.settings["seed"] for record in best.records] == [62, 63]
    assert len(pool.performed) == 8
    assert [(claim.better, claim.than) for claim in result.claims] == [
        ("s-pu", "s-pu-log-sigmoid"),
        ("ssr-pu", "s-pu"),
        ("ssr-pu", "s-pu-log-sigmoid-ranking"),
    ]
    assert result.claims[1].difference == pytest.approx(50 - 37.5)
    assert result.notes == (
        "documents trained on: 8 (published: 3,053)",
        "documents scored on: 10 (published: 500)",
        "relations with a label: 1 (published: 96)",
        "test documents: dev_revised.json (published: test_revised.json)",
        "training documents: the first 4 of the file",
        "epochs: 1 (published: 30)",
        f"encoder: {encoder} (published: bert-base-cased)",
        "seeds: 62–63 (published: not said)",
    )


def test_a_failed_run_leaves_the_others(data, encoder, tmp_path):
    pool = MadeUpPool(lambda settings: 30 // (settings.loss != "s-pu"))
    scale = Scale({"encoder": encoder}, seeds=(62,))
    result = reproduce(table_named("table8"), scale, data, tmp_path / "grid", pool)
    failed = {row.name: row for row in result.rows}["s-pu"]
    assert failed.measured == {} and "division" in failed.failures[0].reason
    assert [(claim.better, claim.than) for claim in result.claims] == [("ssr-pu", "s-pu-log-sigmoid-ranking")]


def test_one_encoder_for_all_runs_twins_once(data, encoder, tmp_path):
    plan = plan_table(
        table_named("table4"), Scale({"encoder": encoder}, seeds=(62,)), data, tmp_path / "grid"
    )
    assert {row.name: len(row.runs) for row in plan.rows} == {
        "atlop": 1, "ssr-pu": 1, "atlop-large": 0, "docunet": 1, "kd-docre": 1, "ssr-pu-large": 0,
    }  # fmt: skip
    # What stood behind the twin stands behind the row that was run in its place.
    assert plan.compared == (("ssr-pu", "atlop"), ("ssr-pu", "docunet"), ("ssr-pu", "kd-docre"))
    assert any("atlop-large (as atlop), ssr-pu-large (as ssr-pu)" in note for note in plan.notes)
    published_encoders = plan_table(table_named("table4"), Scale(seeds=(62,)), data, tmp_path / "grid")
    assert all(len(row.runs) == 1 for row in published_encoders.rows)


def test_tables_share_runs(data, encoder, tmp_path):
    scale = Scale({"encoder": encoder}, seeds=(62,))
    addresses = {
        name: {
            row.name: address(run)
            for row in plan_table(table_named(name), scale, data, tmp_path / "grid").rows
            for run in row.runs
        }
        for name in ("table8", "table11", "table12", "table4", "table9")
    }
    shared = addresses["table8"]["ssr-pu"]
    assert addresses["table11"]["margin-0.25"] == shared == addresses["table12"]["prior-3"]
    assert addresses["table4"] == addresses["table9"]
    assert len(set(addresses["table11"].values())) == 5


def test_rows_can_be_chosen(data, encoder, tmp_path):
    scale = Scale({"encoder": encoder}, seeds=(62,))
    plan = plan_table(table_named("table2"), scale, data, tmp_path / "grid", ["ssr-pu", "atlop"])
    assert [row.name for row in plan.rows] == ["atlop", "ssr-pu"]
    assert any(note.startswith("rows left out: bilstm, gain, ") for note in plan.notes)
    with pytest.raises(ValueError, match=r"unknown row of table2 'ssr'"):
        plan_table(table_named("table2"), scale, data, tmp_path / "grid", ["ssr"])


def test_a_row_without_its_files_is_told_and_the_rest_goes_on(data, encoder, tmp_path):
    pool = MadeUpPool(lambda settings: 30)
    scale = Scale({"encoder": encoder}, seeds=(62,))
    result = reproduce(table_named("table2"), scale, data, tmp_path / "grid", pool, rows=["bilstm", "atlop"])
    bilstm, atlop = result.rows
    assert "glove.6B.100d.txt" in bilstm.failures[0].reason and not bilstm.records
    assert "--set vectors=FILE" in bilstm.failures[0].reason
    assert atlop.records


def test_nothing_to_run_is_an_error(data, tmp_path):
    (data.path / "train_annotated.json").unlink()
    with pytest.raises(MissingData, match=r"training documents: found no train_annotated.json"):
        plan_table(table_named("table8"), Scale(), data, tmp_path / "grid")
    with pytest.raises(ValueError, match=r"--set map_learning_rate: found no row of table8 that has it"):
        plan_table(table_named("table8"), Scale({"map_learning_rate": 1}), data, tmp_path / "grid")


def test_the_extreme_labels_are_made_and_told(data, encoder, tmp_path):
    scale = Scale({"encoder": encoder}, seeds=(62,))
    plan = plan_table(table_named("table5"), scale, data, tmp_path / "grid")
    assert any("thin --level extreme" in note and "train_ext.json" in note for note in plan.notes)
    assert plan.rows[0].runs[0].train[0].parent == tmp_path / "grid" / "data"


def test_a_dry_run_says_what_is_to_do(data, encoder, tmp_path):
    scale = Scale({"encoder": encoder}, seeds=(62,))
    plan = plan_table(table_named("table4"), scale, data, tmp_path / "grid")
    lines = list(plan_lines(plan, tmp_path / "grid"))
    assert lines[0].startswith("table4: 4 runs, 0 of them finished")
    assert "  ssr-pu-large: not run" in lines
    assert any(line.startswith("  ssr-pu: architecture atlop, loss ssr-pu, seed 62: ") for line in lines)


def test_the_published_numbers_of_documents_are_no_departure():
    assert list(count_notes("docred-original", [])) == []
    assert list(count_notes("docred-original", [record(train_documents=3053)])) == [
        "documents scored on: 10 (published: 500)",
        "relations with a label: 1 (published: 96)",
    ]


def test_statistics_are_counted_and_what_is_missing_is_told(data):
    result = statistics_table(table_named("statistics"), data)
    rows = {row.name: row for row in result.rows}
    assert rows["# docs"].measured["DocRED train"].mean == 6
    assert rows["# docs"].published["ChemDisGene train"].mean == 76942
    assert "ChemDisGene train" not in rows["# docs"].measured
    assert any(note.startswith("ChemDisGene: training documents: found no") for note in result.notes)


def test_statistics_of_nothing_are_an_error(tmp_path):
    with pytest.raises(MissingData, match="DocRED"):
        statistics_table(table_named("statistics"), DataFolder(tmp_path))
