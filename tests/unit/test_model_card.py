"""The model card: made from the record, honest where there is none, never in place of a person's own."""

import json
from pathlib import Path

import pytest
import yaml
from tests.unit.inference.making import reading_model, saved_model
from transformers.utils import hub

from unnoted.models.model import RelationModel
from unnoted.models.model_card import CARD, FROM_TEMPLATE, card_beside, model_card, renew_card, write_card

CONFIG = {
    "relations": ["P17", "P26"],
    "relation_names": {"P17": "country", "P26": "spouse | <b>of</b>"},
    "entity_types": ["LOC", "PER"],
    "architecture": "atlop",
    "score_decoder": {"calibration": {"curves": {}}},
}
RECORD = {
    "settings": {
        "train": ["/home/ada/secret/train.json"],
        "test": {"test": ["/home/ada/secret/dev.json"]},
        "encoder": "/home/ada/encoders/minilm",
        "loss": "ssr-pu",
        "epochs": 3,
        "seed": 7,
    },
    "seconds": 61.0,
    "train_documents": 10,
    "train_facts": {"P17": 40, "P26": 2},
    "scored": {
        "test": {
            "overall": {"correct": 30, "predicted": 40, "gold": 60},
            "documents": {"a": {}, "b": {}},
            "average_precision": 0.5,
        }
    },
    "training": {"steps": 30},
}
PRIORS = [
    {"relation": "P17", "labelled": 0.01, "overall": 0.03},
    {"relation": "P26", "labelled": 0.001, "overall": 0.003},
]


def head(card):
    _, text, _ = card.split("---\n", 2)
    return yaml.safe_load(text)


def test_data_labels_priors_scores_and_limits():
    card = model_card(CONFIG, RECORD, PRIORS, {"unnoted": "0.1.0"})
    assert "`train.json`: 10 documents with 42 labels of 2 relations, 4.2 per document." in card
    assert "true facts 3 times as frequent as labels, that is 33.3% of them labelled" in card
    assert "| country | 1.000 | 3.000 |" in card
    assert "| dev.json | 2 | 60 | 60.0 | 75.0 | 50.0 | 50.0 |" in card
    assert "1 relation with fewer than 10 labels in training" in card
    assert "Probabilities were calibrated" in card
    assert "/home/ada" not in card
    (result,) = head(card)["model-index"][0]["results"]
    assert result["metrics"][0] == {"type": "f1", "value": 60.0} and result["dataset"]["name"] == "dev.json"


def test_names_do_not_break_the_page():
    assert "| spouse \\| &lt;b>of&lt;/b> |" in model_card(CONFIG, RECORD, PRIORS)


def test_without_a_record_it_says_so():
    card = model_card({**CONFIG, "score_decoder": None})
    assert "no record of its training" in card and "gives no probabilities" in card
    assert "model-index" not in head(card) and head(card)["library_name"] == "unnoted"
    assert "which was given no priors" in model_card(CONFIG, RECORD)
    complete = [{**row, "overall": row["labelled"]} for row in PRIORS]
    assert "Labels were taken to be complete." in model_card(CONFIG, RECORD, complete)


def test_a_model_carries_its_card_from_folder_to_folder(tmp_path):
    folder = saved_model(tmp_path / "run")
    (folder / CARD).unlink()
    (folder / "record.json").write_text(json.dumps(RECORD))
    renew_card(folder)
    model = RelationModel.from_pretrained(folder)
    model.save_pretrained(tmp_path / "copy")
    assert (tmp_path / "copy" / CARD).read_text("utf-8") == (folder / CARD).read_text("utf-8") == model.card
    assert "4.2 per document" in model.card


def test_a_run_of_an_earlier_version_gets_its_card_from_the_record(tmp_path):
    folder = saved_model(tmp_path / "run")
    (folder / CARD).unlink()
    assert card_beside(folder) is None
    (folder / "record.json").write_text(json.dumps(RECORD))
    assert "4.2 per document" in card_beside(folder)
    for damaged in ("[", "[1]", '{"scored": {"test": 1}}'):
        (folder / "record.json").write_text(damaged)
        assert card_beside(folder) is None
        assert RelationModel.from_pretrained(folder).card is None


def test_a_persons_own_card_is_kept(tmp_path):
    (tmp_path / CARD).write_text("# My model")
    write_card(tmp_path, model_card(CONFIG))
    assert (tmp_path / CARD).read_text() == "# My model"
    reading_model().float().save_pretrained(tmp_path / "saved")
    write_card(tmp_path / "saved", "library_name: unnoted, anew")
    assert (tmp_path / "saved" / CARD).read_text() == "library_name: unnoted, anew"


class Repository:
    repo_id = "someone/model"


class Api:
    def create_repo(self, *_, **__):
        return Repository()


class Card:
    def __init__(self, text):
        self.text = text

    def save(self, path):
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.text)


@pytest.mark.parametrize(("there", "ours"), [(FROM_TEMPLATE, True), ("# A person's own", False)])
def test_push_to_hub_sends_the_card(there, ours, monkeypatch):
    sent = {}

    def upload(self, folder, repo_id, **_):
        sent[CARD] = Path(folder, CARD).read_text("utf-8")
        return repo_id

    monkeypatch.setattr(hub, "hf_api", lambda: Api())
    monkeypatch.setattr(hub, "create_and_tag_model_card", lambda *_, **__: Card(there))
    monkeypatch.setattr(hub.PushToHubMixin, "_upload_modified_files", upload)
    model = reading_model().float()
    model.card = model_card(CONFIG, RECORD)
    assert model.push_to_hub("someone/model") == "someone/model"
    assert sent[CARD] == (model.card if ours else there)
