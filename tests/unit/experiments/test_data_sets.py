"""The files of a published setting are found where users have them; training files are made once."""

import pytest
from tests.unit.experiments.making_tables import docred_folder

from unnoted.data import load_documents
from unnoted.data.download import Catalog
from unnoted.experiments.data_sets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.training_files import level_rule, make_training_file
from unnoted.training.settings import load_settings

ORIGINAL = load_settings("docred-original/bert-base/ssr-pu")
FULL = load_settings("docred-full/bert-base/ssr-pu")
EXTREME = load_settings("docred-extreme/bert-base/ssr-pu")
CHEMDISGENE = load_settings("chemdisgene/pubmedbert/ssr-pu")


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
    assert [path.name for path in data.train(CHEMDISGENE).paths] == [
        "train_abstracts.txt.gz",
        "train_relationships.tsv.gz",
    ]


@pytest.mark.parametrize("below", ["", "docred"])
def test_all_in_one_folder_or_in_the_data_sets(tmp_path, below):
    docred_folder(tmp_path / below)
    data = DataFolder(tmp_path)
    home = tmp_path / below
    assert data.train(ORIGINAL).paths[0].samefile(home / "train_annotated.json")
    assert data.train(FULL).paths[0].samefile(home / "train_revised.json")
    assert data.others(ORIGINAL, [])["vocabulary"].samefile(home / "rel_info.json")
    assert data.others(ORIGINAL, ["vocabulary"]) == {}


def test_development_documents_stand_in_for_the_test_once(tmp_path):
    data = DataFolder(docred_folder(tmp_path))
    sets, notes = data.scored("docred-full")
    assert list(sets) == ["test"]
    assert notes == ["test documents: dev_revised.json (published: test_revised.json)"]


def test_the_extreme_labels_can_be_made(tmp_path):
    found = DataFolder(docred_folder(tmp_path)).train(EXTREME)
    assert found.level == "extreme" and "published: train_ext.json" in found.note
    touch(tmp_path, "train_ext.json")
    assert DataFolder(tmp_path).train(EXTREME).level is None


def test_a_choice_is_all_there_or_not_at_all(tmp_path):
    data = touch(tmp_path, "curated/abstracts.txt.gz", "curated/approved_relns_ctd_v1.tsv.gz")
    with pytest.raises(MissingData, match=r"approved_relns_new_v1.tsv.gz.*unnoted data fetch chemdisgene"):
        data.test("chemdisgene")


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MissingData, match=r"no folder"):
        DataFolder(tmp_path / "absent")
    with pytest.raises(MissingData) as error:
        DataFolder(tmp_path).train(FULL)
    assert "training documents: found no train_revised.json in" in str(error.value)
    assert str(tmp_path) in str(error.value) and "unnoted data fetch re-docred" in str(error.value)


def test_the_first_documents_are_written_once(tmp_path):
    source = docred_folder(tmp_path / "data") / "train_annotated.json"
    made = make_training_file([source], tmp_path / "made", documents=4)
    assert (made.documents, made.share) == (4, 1.0)
    documents = load_documents(made.path).documents
    assert documents == load_documents(source).documents[:4]
    before = made.path.stat().st_mtime_ns
    assert make_training_file([source], tmp_path / "made", documents=4) == made
    assert made.path.stat().st_mtime_ns == before
    assert make_training_file([source], tmp_path / "made", documents=3).path != made.path


def test_a_level_hides_labels_and_says_how_many(tmp_path):
    source = docred_folder(tmp_path / "data", documents=20) / "train_annotated.json"
    truth = load_documents(source).documents
    made = make_training_file([source], tmp_path, level="extreme")
    kept = load_documents(made.path).documents
    assert made.after == sum(len(document.facts) for document in kept) < made.before
    assert made.before == sum(len(document.facts) for document in truth)
    for document in kept:
        relations = [fact.relation for fact in document.facts]
        assert len(relations) == len(set(relations))
    half = make_training_file([source], tmp_path, level="0.5")
    assert 0.35 < half.share < 0.65
    assert half.path != made.path


def test_levels_are_checked():
    with pytest.raises(ValueError, match=r"unknown level 'extrem'.*nearest: 'extreme'"):
        level_rule("extrem")
