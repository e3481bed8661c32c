"""The model card: made from the record, honest where there is none, never in place of a person's own."""

import json
from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCard
from tests.unit.inference.making import reading_model, saved_model
from transformers.utils import hub

from unnoted.models.model import RelationModel
from unnoted.models.model_card import CARD, HUB_PLACEHOLDER, make_card, renew_card

CONFIG = {
    "relations": ["P17", "P26"],
    "relation_names": {"P17": "country", "P26": "spouse | <b>of</b>"},
    "entity_types": ["LOC", "PER"],
    "architecture": "atlop",
    "score_decoder": {"calibration": {"threshold": 0.3}},
}
RECORD = {
    "config": {
        "train": ["/home/ada/secret/train.json"],
        "test": {"test": ["/home/ada/secret/dev.json"]},
        "model": {"encoder": "/home/ada/encoders/minilm"},
        "loss": {"name": "ssr-pu"},
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
    "training": {"steps": 30, "epochs": 3},
}
PRIORS = [
    {"relation": "P17", "labelled": 0.01, "overall": 0.03},
    {"relation": "P26", "labelled": 0.001, "overall": 0.003},
]


def metadata(card):
    _, text, _ = card.split("---\n", 2)
    return yaml.safe_load(text)


def test_data_labels_priors_scores_and_limits():
    card = make_card(CONFIG, RECORD, PRIORS, {"unnoted": "0.1.0"})
    for text in (
        "`train.json`: 10 documents with 42 labels of 2 relations, 4.2 per document.",
        "3 times as frequent as labels, that is 33.3% of them labelled",
        "| country | 1.000 | 3.000 |",
        "| dev.json | 2 | 60 | 60.0 | 75.0 | 50.0 | 50.0 |",
        "1 relation with fewer than 10 labels",
        "calibrated for documents like those of the training",
        "3 epochs, 30 steps, seed 7, 1 min 01 s, unnoted 0.1.0.",
    ):
        assert text in card, text
    assert "/home/ada" not in card
    (result,) = metadata(card)["model-index"][0]["results"]
    assert (result["metrics"][0]["type"], result["metrics"][0]["value"]) == ("f1", 60.0)
    assert result["dataset"]["name"] == "dev.json"


def test_the_hub_s_client_reads_the_metadata():
    card = ModelCard(make_card(CONFIG, RECORD, PRIORS))
    assert card.data.library_name == "unnoted" and len(card.data.eval_results) == 3


def test_names_do_not_break_the_page():
    assert "| spouse \\| &lt;b>of&lt;/b> |" in make_card(CONFIG, RECORD, PRIORS)


def test_without_a_record_it_says_so():
    card = make_card({**CONFIG, "score_decoder": None})
    assert "no record of its training" in card and "no probabilities" in card
    assert "model-index" not in metadata(card)
    assert "given no priors" in make_card(CONFIG, RECORD)
    complete = [{**row, "overall": row["labelled"]} for row in PRIORS]
    assert "taken to be complete" in make_card(CONFIG, RECORD, complete)


def test_a_model_carries_its_card_from_folder_to_folder(tmp_path):
    folder = saved_model(tmp_path / "run")
    (folder / CARD).unlink()
    (folder / "record.json").write_text(json.dumps(RECORD))
    renew_card(folder)
    model = RelationModel.from_pretrained(folder)
    model.save_pretrained(tmp_path / "copy")
    assert (tmp_path / "copy" / CARD).read_text("utf-8") == (folder / CARD).read_text("utf-8") == model.card
    assert "4.2 per document" in model.card


EDITS = {
    "its own": lambda card: "# My model\n",
    "its own, with the hub's metadata": lambda card: "---\nlibrary_name: unnoted\n---\n# My model\n",
    "one word": lambda card: card.replace("# A model", "# Our model"),
    "a line at the end": lambda card: card + "Contact: ada@example.org\n",
    "a key": lambda card: card.replace("library_name: unnoted", "library_name: unnoted\nlicense: mit"),
    "bytes": lambda card: card + "\udcff",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_card_that_a_person_wrote_or_edited_is_never_overwritten(tmp_path, edit):
    folder = saved_model(tmp_path / "run")
    (folder / "record.json").write_text(json.dumps(RECORD))
    edited = EDITS[edit]((folder / CARD).read_text("utf-8")).encode("utf-8", "surrogateescape")
    (folder / CARD).write_bytes(edited)
    renew_card(folder)
    RelationModel.from_pretrained(folder).save_pretrained(folder)
    reading_model().float().save_pretrained(folder)
    assert (folder / CARD).read_bytes() == edited


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


@pytest.mark.parametrize(("there", "ours"), [(HUB_PLACEHOLDER, True), ("# A person's own", False)])
def test_push_to_hub_sends_the_card(there, ours, monkeypatch):
    sent = {}

    def upload(self, folder, repo_id, **_):
        sent[CARD] = Path(folder, CARD).read_text("utf-8")
        return repo_id

    monkeypatch.setattr(hub, "hf_api", lambda: Api())
    monkeypatch.setattr(hub, "create_and_tag_model_card", lambda *_, **__: Card(there))
    monkeypatch.setattr(hub.PushToHubMixin, "_upload_modified_files", upload)
    model = reading_model().float()
    model.card = make_card(CONFIG, RECORD)
    assert model.push_to_hub("someone/model") == "someone/model"
    assert sent[CARD] == (model.card if ours else there)
