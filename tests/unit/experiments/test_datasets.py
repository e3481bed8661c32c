"""The files of a published setting are found where users have them."""

import pytest
from tests.unit.experiments.factories import docred_folder

from unnoted.data.download import Catalog
from unnoted.experiments.datasets import DATA_SETS, DataFolder, MissingData
from unnoted.training.config import load_config

ORIGINAL = load_config("docred-original/bert-base/ssr-pu")
FULL = load_config("docred-full/bert-base/ssr-pu")
EXTREME = load_config("docred-extreme/bert-base/ssr-pu")
CHEMDISGENE = load_config("chemdisgene/pubmedbert/ssr-pu")


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x", "utf-8")
    return DataFolder(folder)


def test_files_as_they_are_fetched_are_the_published_ones(tmp_path):
    catalog = Catalog.read()
    names = [f"{name}/{file}" for name, entry in catalog.datasets.items() for file in entry.files]
    data = touch(tmp_path, *names)
    for setting in DATA_SETS:
        assert data.scored(setting)[1] == []
    for settings in (ORIGINAL, FULL, EXTREME, CHEMDISGENE):
        assert data.train(settings).note is None
    assert data.train(FULL).paths == (tmp_path / "re-docred" / "train_revised.json",)
    assert list(data.scored("docred-full")[0]) == ["test", "dev"]


@pytest.mark.parametrize("below", ["", "docred"])
def test_all_in_one_folder_or_in_the_data_sets(tmp_path, below):
    home = docred_folder(tmp_path / below)
    data = DataFolder(tmp_path)
    assert data.train(ORIGINAL).paths[0].samefile(home / "train_annotated.json")
    assert data.train(FULL).paths[0].samefile(home / "train_revised.json")
    assert data.others(ORIGINAL, [])["vocabulary"].samefile(home / "rel_info.json")
    assert data.others(ORIGINAL, ["vocabulary"]) == {}


def test_development_documents_stand_in_for_the_test_once(tmp_path):
    sets, notes = DataFolder(docred_folder(tmp_path)).scored("docred-full")
    assert list(sets) == ["test"] and len(notes) == 1 and "dev_revised.json" in notes[0]


def test_the_extreme_labels_can_be_made(tmp_path):
    files = DataFolder(docred_folder(tmp_path)).train(EXTREME)
    assert files.level == "extreme" and "train_ext.json" in files.note
    touch(tmp_path, "train_ext.json")
    assert DataFolder(tmp_path).train(EXTREME).level is None


def test_what_is_missing_is_named_with_what_fetches_it(tmp_path):
    data = touch(tmp_path, "curated/abstracts.txt.gz", "curated/approved_relns_ctd_v1.tsv.gz")
    with pytest.raises(MissingData, match=r"approved_relns_new_v1.tsv.gz.*unnoted data fetch chemdisgene"):
        data.test("chemdisgene")
    with pytest.raises(MissingData, match=r"train_revised\.json.*unnoted data fetch re-docred"):
        data.train(FULL)
    with pytest.raises(MissingData, match="absent"):
        DataFolder(tmp_path / "absent")
