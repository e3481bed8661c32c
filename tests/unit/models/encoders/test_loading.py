import json
import time

import pytest
from safetensors.torch import load_file, save_file
from tests.reference.batches import ENCODERS, tiny_model
from transformers import AutoModel

from unnoted.models.encoders import EncoderError, load_encoder, loading
from unnoted.models.encoders.loading import position_limit
from unnoted.models.model import ModelError, RelationModel


@pytest.mark.parametrize("path", ["./enc", "/nowhere/enc", "a/b/c", "enc oder", "runs/onw", "~/enc"])
def test_what_looks_like_a_path_is_not_looked_for_on_the_hub(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "resolve_folder", None)  # not called
    (tmp_path / "runs").mkdir()
    with pytest.raises(EncoderError, match="no such folder"):
        load_encoder(path)
    with pytest.raises(ModelError, match="no such folder"):
        RelationModel.from_pretrained(path)


@pytest.mark.parametrize("name", ["no-such-encoder", "nobody/no-such-encoder"])
def test_a_name_without_a_network_is_answered_at_once(monkeypatch, name):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    since = time.monotonic()
    with pytest.raises(EncoderError, match=name):
        load_encoder(name)
    if "/" in name:
        with pytest.raises(ModelError, match=name):
            RelationModel.from_pretrained(name)
    assert time.monotonic() - since < 5


def saved_encoder(folder):
    tiny_model("bert").float().encoder.model.save_pretrained(folder)
    return folder


def test_an_encoder_without_some_of_its_weights_is_refused(tmp_path, capfd):
    load_encoder(saved_encoder(tmp_path))
    assert "LOAD REPORT" not in capfd.readouterr().err
    weights = load_file(tmp_path / "model.safetensors")
    del weights["embeddings.word_embeddings.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="word_embeddings"):
        load_encoder(tmp_path)


def test_other_numbers_of_layers_than_it_has_are_refused(tmp_path):
    assert load_encoder(saved_encoder(tmp_path), layers=1).config.num_hidden_layers == 1
    with pytest.raises(EncoderError, match="2 layers"):
        load_encoder(tmp_path, layers=3)


@pytest.mark.parametrize("kind", ["t5", "none such"])
def test_an_encoder_decoder_or_an_unknown_type_is_refused(tmp_path, kind):
    config = json.loads((saved_encoder(tmp_path) / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": kind}))
    with pytest.raises(EncoderError):
        load_encoder(tmp_path)


@pytest.mark.parametrize("kind", ENCODERS)
def test_the_limit_is_the_number_of_usable_positions(kind):
    assert position_limit(AutoModel.from_config(ENCODERS[kind])) == 32
