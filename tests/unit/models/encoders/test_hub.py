"""A mistyped folder or name is answered at once."""

import time

import pytest

from unnoted.models.encoders import EncoderError, hub, load_encoder
from unnoted.models.model import ModelError, RelationModel


@pytest.fixture
def no_hub(monkeypatch):
    monkeypatch.setattr(hub, "_hub_answers", lambda: False)


@pytest.fixture
def untouched_hub(monkeypatch):
    def asked():
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(hub, "_hub_answers", asked)


@pytest.mark.parametrize("path", ["./enc", "/nowhere/enc", "a/b/c", "enc oder", "runs/onw", "~/enc"])
def test_what_looks_like_a_path_is_not_looked_for_on_the_hub(untouched_hub, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    with pytest.raises(EncoderError, match="found no such folder, expected one with"):
        load_encoder(path)
    with pytest.raises(ModelError, match="found no such folder"):
        RelationModel.from_pretrained(path)


@pytest.mark.parametrize("name", ["no-such-encoder", "nobody/no-such-encoder"])
def test_a_name_without_a_network_is_answered_at_once(no_hub, name):
    since = time.monotonic()
    with pytest.raises(EncoderError, match="nor such a model on the hub or in its cache"):
        load_encoder(name)
    if "/" in name:
        with pytest.raises(ModelError, match="found no readable saved model"):
            RelationModel.from_pretrained(name)
    assert time.monotonic() - since < 5


def test_a_hub_that_is_not_reached_is_asked_once(monkeypatch):
    asked = []

    class Session:
        def head(self, url, timeout):
            asked.append(timeout)
            raise OSError("no route")

    monkeypatch.setattr("huggingface_hub.get_session", Session)
    assert hub.hub_options("owner/name") == {"local_files_only": True}
    assert asked == [hub.SECONDS]
