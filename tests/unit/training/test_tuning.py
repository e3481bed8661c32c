"""Thresholds from development documents: what is chosen, when, and what is told."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tests.making import make_loss
from tests.unit.training.making import settings_file, tiny_encoder, vocabulary_file
from transformers import set_seed

from unnoted.calibration import NEVER, tune_thresholds
from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.losses import LOSSES, DecisionRule
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.training import CheckpointError, load_settings
from unnoted.training.run import run as train
from unnoted.training.run_folder import RunFolder
from unnoted.training.tuning import tuned_on

VOCABULARY = RelationVocabulary.from_documents(generate_documents(60))


def by_hand(model, documents):
    """The thresholds from one document after the other, in their order."""
    features = featurise(documents, model.tokenizer, model.relations.ids, model.candidates)
    collate, scores, labels = Collator(features), [], []
    with torch.no_grad():
        for document in features:
            batch = collate([document])
            scores.append(model(batch))
            labels.append(batch.labels())
    return tune_thresholds(torch.cat(scores), torch.cat(labels))


def test_all_pairs_of_all_documents_are_looked_at(tmp_path):
    set_seed(0)
    candidates = CandidatePairs(frozenset({("PER", "LOC"), ("PER", "ORG"), ("ORG", "LOC")}))
    model = RelationModel.from_encoder(
        tiny_encoder(tmp_path), VOCABULARY, embedding=8, block=4, candidates=candidates
    )
    documents = list(generate_documents(20, start=30))  # more than a batch
    # A document without a pair is no obstacle.
    alone = replace(documents[0], id="alone", entities=documents[0].entities[:1], facts=())
    model.train()
    tuned = tuned_on(model, [alone, *documents])
    assert model.training
    expected = by_hand(model.eval(), documents)
    finite = [
        (found, value) for found, value in zip(tuned.thresholds, expected, strict=True) if value != NEVER
    ]
    assert [found for found, _ in finite] == pytest.approx([value for _, value in finite], abs=1e-4)
    never = {name for name, value in zip(VOCABULARY, expected, strict=True) if value == NEVER}
    assert set(tuned.never) == never and finite and never
    assert tuned.report.documents == 20 and tuned.rule == DecisionRule("zero", tuned.thresholds)
    left_out = tuned.report.excluded_types.total()
    assert left_out and tuned.lines()[2:] == [
        f"development documents: {line}" for line in tuned.report.lines()
    ]
    with pytest.raises(ValueError, match="no candidate pair in 1 development documents"):
        tuned_on(model, [alone])


def test_a_limit_of_relations_for_each_pair_stays(tmp_path):
    set_seed(0)
    model = RelationModel.from_encoder(tiny_encoder(tmp_path), VOCABULARY, embedding=8, block=4)
    model.decoder = make_loss("balanced-softmax").decoder
    tuned = tuned_on(model, list(generate_documents(4, start=30)))
    assert tuned.rule == DecisionRule("zero", tuned.thresholds, 4)
    # Their scores are on one scale, so that either model may teach the other.
    assert replace(model.decoder, decision=tuned.rule).is_comparable_to(model.decoder)


@pytest.fixture
def here(tmp_path):
    """Settings with tuned thresholds; no run."""
    write_documents(tmp_path / "dev.json", generate_documents(3, start=40))
    return settings_file(
        tmp_path, documents=4, epochs=1, loss="s-pu", embedding=8, block=4, dev=tmp_path / "dev.json",
        vocabulary=vocabulary_file(tmp_path), tuned_thresholds="true",
    )  # fmt: skip


def test_the_saved_model_decides_by_the_thresholds(here):
    lines, run = [], here.parent / "run"
    train(load_settings(here), tell=lines.append)
    model = RelationModel.from_pretrained(run).eval()
    assert model.candidates == CandidatePairs()
    expected = by_hand(model, load_documents(here.parent / "dev.json").documents)
    assert model.decoder.decision.threshold == pytest.approx(expected, abs=1e-4)
    never = [name for name, value in zip(VOCABULARY, expected, strict=True) if value == NEVER]
    assert any(f"{len(never)} of {len(VOCABULARY)} relations are never predicted" in line for line in lines)
    recorded = json.loads((run / "record.json").read_text())["training"]["tuned_thresholds"]
    assert recorded["documents"] == 3 and recorded["never"] == len(never) > 0
    assert [name for name, value in recorded["thresholds"].items() if value is None] == never
    # The steps before know nothing of the thresholds.
    last = RelationModel.from_pretrained(run / "checkpoints" / "checkpoint-2")
    assert last.decoder.decision == DecisionRule("zero")


def test_thresholds_are_tuned_again_where_the_model_was_not_written(here, monkeypatch):
    run, settings = here.parent / "run", load_settings(here)
    place = RunFolder.place

    def full(self, staged, record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunFolder, "place", full)
    with pytest.raises(CheckpointError, match="the trained model was not written"):
        train(settings)
    assert not (run / "config.json").exists()
    monkeypatch.setattr(RunFolder, "place", place)
    assert train(settings, resume=True).steps == 2
    weights, last = (
        load_file(run / name / "model.safetensors") for name in (".", "checkpoints/checkpoint-2")
    )
    assert all(torch.equal(weights[name], last[name]) for name in weights)
    model = RelationModel.from_pretrained(run).eval()
    expected = by_hand(model, load_documents(here.parent / "dev.json").documents)
    assert model.decoder.decision.threshold == pytest.approx(expected, abs=1e-4)


def test_documents_without_pairs_are_refused_before_the_training(here):
    alone = [replace(d, entities=d.entities[:1], facts=()) for d in generate_documents(3, start=40)]
    write_documents(here.parent / "dev.json", alone)
    with pytest.raises(ValueError, match=r"tuned_thresholds: found no candidate pair in 3 development"):
        train(load_settings(here))
    assert {entry.name for entry in (here.parent / "run").iterdir()} == {".lock"}


def test_a_loss_that_does_not_decide_at_a_threshold_is_refused_before_the_training(here):
    refused = r"tuned_thresholds: found true, expected false: the loss decides by 'threshold-class'"
    with pytest.raises(ValueError, match=refused):
        train(load_settings(here, {"loss": "ssr-pu"}))
    assert {entry.name for entry in (here.parent / "run").iterdir()} == {".lock"}


def test_which_losses_decide_at_a_threshold():
    priors = Priors(("spouse",), (0.01,), (0.03,))
    tunable = [name for name in LOSSES if make_loss(name, priors).decoder.decision.is_tunable]
    assert tunable == ["pn", "pu", "s-pu", "s-pu-log-sigmoid", "cross-entropy", "balanced-softmax"]
