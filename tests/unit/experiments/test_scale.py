"""What a scale changes about a published setting, and that all of it is told."""

import pytest
from tests.unit.experiments.making_tables import docred_folder

from unnoted.experiments.data_sets import DataFolder
from unnoted.experiments.departures import departure_notes, departures, seed_note
from unnoted.experiments.paper import table_named
from unnoted.experiments.paper_tables import twins_of
from unnoted.experiments.scale import Scale, applies, parse_seeds, scale_row

TABLE = table_named("table2")


@pytest.fixture
def data(tmp_path):
    return DataFolder(docred_folder(tmp_path / "data"))


def scaled(name, scale, data, tmp_path, table=TABLE):
    return scale_row(table.row(name), scale, data, tmp_path / "grid")


def test_as_published_nothing_departs(data, tmp_path):
    row = scaled("ssr-pu", Scale(), data, tmp_path)
    assert departures(row.published, row.settings) == {}
    assert row.settings.train[0].samefile(data.path / "train_annotated.json")
    assert row.settings.vocabulary.samefile(data.path / "rel_info.json")
    assert row.settings.train[0].is_absolute()


def test_every_change_is_told(data, tmp_path):
    scale = Scale(
        {"encoder": str(tmp_path), "encoder_layers": 2, "epochs": 3, "unlabelled_share": 0.5,
         "encoder_learning_rate": 2e-4, "margin": 0.5}, documents=4,
    )  # fmt: skip
    rows = {name: scaled(name, scale, data, tmp_path) for name in ("atlop", "ssr-pu")}
    assert departure_notes(rows) == [
        "epochs: 3 (published: 30)",
        "encoder learning rate: 0.0002 (published: 5e-05)",
        "unlabelled share: 0.5 (published: 1)",
        f"encoder: {tmp_path} (published: bert-base-cased)",
        "encoder layers: 2 (published: all)",
        "margin: 0.5 (published: 0.25) in ssr-pu",
    ]
    assert rows["atlop"].settings.train == rows["ssr-pu"].settings.train
    assert rows["atlop"].settings.train[0].parent == tmp_path / "grid" / "data"
    assert rows["atlop"].settings.seed == 62


def test_files_of_another_name_are_told(data, tmp_path):
    (tmp_path / "mine.json").write_text('["P17"]', "utf-8")
    scale = Scale({"vocabulary": tmp_path / "mine.json"})
    rows = {"atlop": scaled("atlop", scale, data, tmp_path)}
    assert departure_notes(rows) == ["vocabulary: mine.json (published: rel_info.json)"]


def test_a_departure_from_different_values_names_the_rows(data, tmp_path):
    rows = {name: scaled(name, Scale({"epochs": 2}), data, tmp_path) for name in ("gain", "atlop")}
    assert "epochs: 2 (published: 300 in gain; 30 in atlop)" in departure_notes(rows)


def test_an_encoder_that_is_made_stays(data, tmp_path):
    (data.path / "glove.6B.100d.txt").write_text("a 1 2", "utf-8")
    row = scaled("bilstm", Scale({"encoder": str(tmp_path), "encoder_layers": 2}), data, tmp_path)
    assert row.settings.encoder == "bilstm" and row.settings.encoder_layers is None
    assert row.settings.vectors.name == "glove.6B.100d.txt"
    bare = scaled("bilstm", Scale({"vectors": None}), data, tmp_path)
    assert departure_notes({"bilstm": bare}) == ["vectors: none (published: glove.6B.100d.txt)"]


def test_a_change_concerns_the_rows_that_have_it():
    atlop, ssr_pu, bilstm = (TABLE.row(name).settings for name in ("atlop", "ssr-pu", "bilstm"))
    assert applies("epochs", atlop) and applies("no such key", atlop)
    assert not applies("margin", atlop) and applies("margin", ssr_pu)
    assert not applies("prior_file", atlop) and applies("prior_file", ssr_pu)
    assert applies("vectors", bilstm) and not applies("vectors", atlop)
    assert applies("unlabelled_share", atlop) and not applies("unlabelled_share", TABLE.row("gain").settings)


def test_what_rows_differ_in_cannot_be_set_for_all(data, tmp_path):
    scale = Scale({"margin": 0.5})
    with pytest.raises(ValueError, match=r"--set margin: .*the rows differ in it"):
        scaled("margin-0.1", scale, data, tmp_path, table_named("table11"))
    with pytest.raises(ValueError, match=r"^unknown key 'epoch' \(nearest: 'epochs'\)"):
        scaled("atlop", Scale({"epoch": 1}), data, tmp_path)


def test_what_an_option_decides_cannot_be_set():
    with pytest.raises(ValueError, match=r"--set seed: found a value, expected none: --seeds decides it"):
        Scale({"seed": 3})


def test_rows_of_two_encoders_are_twins_and_no_others():
    losses = ("atlop", "pn", "sr-pn", "pu", "sr-pu", "s-pu", "ssr-pu")
    assert twins_of(TABLE.rows) == {f"{loss}-large": loss for loss in losses}


def test_seeds_are_read_and_told():
    assert parse_seeds("62-66") == (62, 63, 64, 65, 66) == parse_seeds("5")
    assert parse_seeds("66-66") == (66,)
    assert seed_note((62, 63), (62, 63)) is None
    assert seed_note((62, 64), None) == "seeds: 62, 64 (published: not said)"
    for wrong in ("", "x", "66-62", "62,62", "62-", "62", "0"):
        with pytest.raises(ValueError, match="seeds: found"):
            parse_seeds(wrong)
