"""What is chosen after the last step: calibrated probabilities, tuned thresholds."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.making import make_loss
from tests.unit.training.factories import VOCABULARY, config_file, fresh_model, vocabulary_file

from unnoted.calibration import NEVER, OutOfFoldScores, tune_thresholds
from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.losses import LOSSES, DecisionRule
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.model import ModelError, RelationModel
from unnoted.priors import Priors
from unnoted.training import CheckpointError, TrainingConfig, load_config
from unnoted.training.calibrate import calibrate_model, tune_model
from unnoted.training.run import run as train
from unnoted.training.seen_documents import check_unseen, write_train_documents


def by_hand(model, documents):
    """The thresholds from one document after the other, in their order."""
    features = featurise(documents, model.tokenizer, model.relations.ids, model.candidates)
    collate, scores, labels = Collator(features), [], []
    with torch.no_grad():
        for document in features:
            batch = collate([document])
            scores.append(model(batch).logits)
            labels.append(batch.labels())
    return tune_thresholds(torch.cat(scores), torch.cat(labels))


def test_all_pairs_of_all_documents_are_looked_at(encoder):
    candidates = CandidatePairs(frozenset({("PER", "LOC"), ("PER", "ORG"), ("ORG", "LOC")}))
    model = fresh_model(encoder, candidates=candidates)
    model.decoder = make_loss("cross-entropy").decoder
    documents = list(generate_documents(20, start=30))  # more than a batch
    # A document without a pair is no obstacle.
    alone = replace(documents[0], id="alone", entities=documents[0].entities[:1], facts=())
    model.train()
    summary = tune_model(model, [alone, *documents])
    assert model.training
    expected, found = by_hand(model.eval(), documents), model.decoder.decision.threshold
    never = [name for name, value in zip(VOCABULARY, expected, strict=True) if value == NEVER]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-4)
    assert 0 < len(never) < len(VOCABULARY) and summary["never"] == len(never)
    assert [name for name, value in summary["thresholds"].items() if value is None] == never
    assert summary["documents"] == 20
    with pytest.raises(ValueError, match="tune_thresholds"):
        tune_model(model, [alone])


def test_a_limit_of_relations_for_each_pair_stays(encoder):
    model = fresh_model(encoder)
    model.decoder = before = make_loss("balanced-softmax").decoder
    tune_model(model, list(generate_documents(4, start=30)))
    assert (model.decoder.decision.reference, model.decoder.decision.top_k) == ("zero", 4)
    # Their scores are on one scale, so that either model may teach the other.
    assert model.decoder.is_comparable_to(before)


def simulated_scores(relations, pairs=6000):
    """Margins that are log odds over 2, and their probabilities; half of the facts are labelled."""
    rng, zeros = np.random.default_rng(0), np.zeros(pairs, np.int32)
    log_odds = rng.normal(size=(pairs, len(relations))) * 2 - 3
    true = rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))
    labelled = true & (rng.random(log_odds.shape) < 0.5)
    margin = (log_odds / 2).astype(np.float32)
    return OutOfFoldScores(tuple(relations), ("d",), zeros, zeros, zeros + 1, margin, labelled), true


def test_calibrated_probabilities_do_not_depend_on_tuned_thresholds(encoder):
    """The out-of-fold margins are those of the untuned rule."""
    relations = VOCABULARY.ids
    scores, true = simulated_scores(relations)
    labelled = tuple(scores.labelled_share.tolist())
    model = fresh_model(encoder)
    loss = make_loss("s-pu", Priors(relations, labelled, tuple(2 * share for share in labelled)))
    logits = torch.from_numpy(np.pad(scores.margin, ((0, 0), (1, 0)))).double()
    for decision in (DecisionRule("zero"), DecisionRule("zero", (1.0,) * len(relations))):
        model.decoder = replace(loss.decoder, decision=decision)
        summary = calibrate_model(model, scores, [])
        found = model.decoder.probabilities(logits).numpy()
        assert found.mean() == pytest.approx(true.mean(), rel=0.05)
        assert summary["threshold"] == model.decoder.calibration.threshold
        assert ((found > summary["threshold"]) == model.decoder.decide(logits).numpy()).all()


def test_scores_of_other_relations_are_refused(encoder):
    with pytest.raises(ModelError):
        calibrate_model(fresh_model(encoder), simulated_scores(["other"], 50)[0], [])


def test_documents_that_a_model_was_trained_on_are_refused_whatever_their_labels(tmp_path):
    documents, lines = list(generate_documents(3)), []
    write_train_documents(tmp_path, documents)
    corrected = replace(documents[2], facts=documents[2].facts[1:])
    with pytest.raises(ValueError, match=corrected.id):
        check_unseen(tmp_path, [corrected], lines.append)
    check_unseen(tmp_path, list(generate_documents(2, start=30)), lines.append)
    assert not lines
    check_unseen(tmp_path / "elsewhere", documents, lines.append)
    assert len(lines) == 1 and lines[0].startswith("warning")


@pytest.fixture
def here(tmp_path):
    """TrainingConfig with tuned thresholds; no run."""
    write_documents(tmp_path / "dev.json", generate_documents(3, start=40))
    return config_file(
        tmp_path, documents=4, epochs=1, loss="s-pu", embedding=8, dev=tmp_path / "dev.json",
        vocabulary=vocabulary_file(tmp_path), tune_thresholds=True,
    )  # fmt: skip


def test_the_saved_model_decides_by_the_thresholds(here):
    lines, run = [], here.parent / "run"
    train(load_config(here), log=lines.append)
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
    folder, config = here.parent / "run", load_config(here)

    def full(self, path):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(TrainingConfig, "save", full)
        with pytest.raises(CheckpointError):
            train(config)
    assert not (folder / "config.json").exists() and not (folder / "model").exists()
    assert train(config, resume=True).steps == 2
    files = (folder / name / "model.safetensors" for name in (".", "checkpoints/checkpoint-2"))
    weights, last = map(load_file, files)
    assert all(torch.equal(weights[name], last[name]) for name in weights)
    model = RelationModel.from_pretrained(folder).eval()
    expected = by_hand(model, load_documents(here.parent / "dev.json").documents)
    assert model.decoder.decision.threshold == pytest.approx(expected, abs=1e-4)


def test_what_has_no_threshold_is_refused_before_the_training(here):
    ranking = load_config(here, {"loss": "ssr-pu", "prior_multiplier": 2})
    alone = [replace(d, entities=d.entities[:1], facts=()) for d in generate_documents(3, start=40)]
    write_documents(here.parent / "alone.json", alone)
    for config in (ranking, load_config(here, {"dev": here.parent / "alone.json"})):
        with pytest.raises(ValueError, match="tune_thresholds"):
            train(config)
        assert {entry.name for entry in (here.parent / "run").iterdir()} == {".lock"}


def test_which_losses_decide_at_a_threshold():
    priors = Priors(("spouse",), (0.01,), (0.03,))
    tunable = [name for name in LOSSES if make_loss(name, priors).decoder.decision.is_tunable]
    assert tunable == ["pn", "pu", "s-pu", "s-pu-log-sigmoid", "cross-entropy", "balanced-softmax"]
