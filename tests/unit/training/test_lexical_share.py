"""What the linear model counts, as labels of held-out documents say."""

import json

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score
from tests.unit.training.making import settings_file, tiny_encoder, vocabulary_file

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.models.model import RelationModel
from unnoted.training import SettingsError, load_settings, run
from unnoted.training import lexical_share as module
from unnoted.training.lexical_share import HALF, SHARES, fit_share

DOCUMENTS = tuple(generate_documents(12))
CORPUS = Corpus(DOCUMENTS, RelationVocabulary.from_documents(DOCUMENTS), CandidatePairs())


@pytest.fixture
def model(tmp_path):
    return RelationModel.from_encoder(
        tiny_encoder(tmp_path), CORPUS.relations, entity_types=CORPUS.entity_types, candidates=CandidatePairs(),
        embedding=8, block=4, lexical_share=0.7,
    )  # fmt: skip


def let_say(model, monkeypatch, network, linear):
    """Let each part say the label times a weight, and noise; what both say, beside labels, is gathered."""
    noise, said = torch.Generator().manual_seed(0), []

    def log_odds(batch, weight):
        labels = batch.labels().float()
        return weight * labels + torch.randn(labels.shape, generator=noise)

    def scores(batch):
        found = log_odds(batch, network)
        said.append([found.numpy(), None, batch.labels().numpy()])
        none = torch.full((len(found), 1), 3.0)
        return type("Scores", (), {"scores": torch.cat([none, none + found], 1)})

    def words(batch):
        said[-1][1] = log_odds(batch, linear).numpy()
        return torch.from_numpy(said[-1][1])

    monkeypatch.setattr(model, "network_scores", scores)
    monkeypatch.setattr(model.lexical, "log_odds", words)
    return said


@pytest.mark.parametrize(("network", "linear"), [(2, 0), (0, 2), (2, 2), (3, 2), (2, 3)])
def test_the_share_is_that_under_which_labels_come_first(model, monkeypatch, network, linear):
    said = let_say(model, monkeypatch, network, linear)
    found = fit_share(model, DOCUMENTS)
    one, other, labels = (np.concatenate([part[k].ravel() for part in said]) for k in range(3))
    figures = [average_precision_score(labels, (1 - share) * one + share * other) for share in SHARES]
    good = [share for share, each in zip(SHARES, figures, strict=True) if each >= 0.99 * max(figures)]
    assert found == min(good, key=lambda share: abs(share - 0.5))
    assert found == {(2, 0): 0.0, (0, 2): 1.0, (2, 2): 0.5}.get((network, linear), found)
    assert (model.lexical.share, model.config.lexical_share) == (0.7, 0.7)


def test_without_a_label_both_count_alike(model):
    assert fit_share(model, [document.with_facts(()) for document in DOCUMENTS]) == HALF


def test_of_many_documents_some_are_asked(model, monkeypatch):
    said = let_say(model, monkeypatch, 1, 1)
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 5)
    fit_share(model, DOCUMENTS)
    asked = sum(len(part[0]) for part in said)
    assert asked == sum(map(CORPUS.candidates.count, DOCUMENTS[::3]))


def test_a_model_without_words_has_no_share(model):
    model.set_lexical_share(0.0)
    assert (model.lexical, model.config.lexical_share) == (None, 0.0)
    with pytest.raises(ValueError, match="found a model without a linear model, expected one"):
        fit_share(model, DOCUMENTS)


@pytest.mark.parametrize(("chosen", "mean"), [((0.3, 0.7), 0.5), ((1.0, 1.0), 1.0), ((0.0, 0.0), 0.0)])
def test_a_run_takes_the_mean_of_its_folds(tmp_path, monkeypatch, chosen, mean):
    shares = iter(chosen)
    monkeypatch.setattr("unnoted.training.cross_fit.fit_share", lambda model, documents: next(shares))
    path = settings_file(
        tmp_path, vocabulary=vocabulary_file(tmp_path), loss="label-likelihood", start="types", epochs=1,
        calibrated="true", lexical_share="fitted",
    )  # fmt: skip
    lines = []
    record = run(load_settings(path), tell=lines.append)
    assert record.training["lexical_share"] == mean
    assert f"the linear model of words counts {mean:.0%}, as cross-fitting tells" in lines
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.config.lexical_share == mean
    assert (model.lexical is None) == (mean == 0)
    assert "lexical_share: fitted" in (tmp_path / "run" / "settings.yaml").read_text()
    assert json.loads((tmp_path / "run" / "record.json").read_text())["training"]["lexical_share"] == mean


@pytest.mark.parametrize("wrong", [1.5, -0.1, True, "fited"])
def test_what_is_no_share_is_refused(wrong):
    with pytest.raises(
        SettingsError, match=r"lexical_share: found .*, expected a number from 0 to 1, or 'fit"
    ):
        load_settings("best", {"lexical_share": wrong})
