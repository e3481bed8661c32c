"""Attention guided by evidence: its divergence, a training with it, and what is read off it afterwards."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.making import make_loss
from tests.reference.batches import random_batch, tiny_model
from tests.reference.evidence import plain_divergence, plain_shares
from tests.unit.training.factories import corpus, fresh_model

from unnoted.inference import Extractor
from unnoted.inference.scoring import attention_shares, guided_sentences
from unnoted.models.batch import Collator
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.evidence import THRESHOLD, evidence_divergence


def trainer(encoder, docs, weight=1.0, architecture="atlop", epochs=6):
    model = fresh_model(encoder, architecture=architecture, entity_types=docs.entity_types)
    optimizer = OptimizerConfig(epochs=epochs, encoder_learning_rate=1e-2, head_learning_rate=1e-2)
    return Trainer(model, make_loss("atlop"), docs, optimizer=optimizer, evidence_weight=weight)


@pytest.mark.parametrize("seed", range(3))
def test_shares_and_divergence_are_those_of_plain_loops(seed):
    batch = random_batch([30, 12, 20], [5, 2, 4], seed=seed)
    attention = torch.rand(11, 2, 30, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    pairs = torch.unique(batch.evidence_pair)
    assert len(pairs) < len(batch.evidence_pair) < batch.pairs
    plain = torch.tensor([plain_shares(attention, batch, pair) for pair in pairs], dtype=torch.float64)
    torch.testing.assert_close(attention_shares(attention, batch, pairs), plain)
    expected = torch.tensor(plain_divergence(attention, batch), dtype=torch.float32)
    torch.testing.assert_close(evidence_divergence(attention, batch), expected)


def test_attention_on_the_evidence_alone_has_no_divergence_and_elsewhere_much():
    batch = random_batch([20], [3])
    here = batch.token_sentence[0] == batch.evidence_sentence[0]
    one = replace(batch, evidence_pair=batch.evidence_pair[:1], evidence_sentence=batch.evidence_sentence[:1])
    assert float(evidence_divergence(here.float().expand(3, 2, 20), one)) == pytest.approx(0, abs=1e-6)
    elsewhere = (~here).float().expand(3, 2, 20)
    assert float(evidence_divergence(elsewhere, one)) > 20


def test_a_batch_without_evidence_adds_nothing_and_unlabelled_pairs_have_no_say():
    batch = random_batch([30, 12], [5, 2])
    none = replace(
        batch, evidence_pair=batch.evidence_pair[:0], evidence_sentence=batch.evidence_sentence[:0]
    )
    attention = torch.rand(7, 2, 30, requires_grad=True)
    assert float(evidence_divergence(attention.detach(), none)) == 0
    evidence_divergence(attention, batch).backward()
    concerned = {*batch.head[batch.evidence_pair].tolist(), *batch.tail[batch.evidence_pair].tolist()}
    moved = attention.grad.abs().sum((1, 2)) > 0
    assert set(moved.nonzero()[:, 0].tolist()) == concerned < set(range(7))


def test_the_gradient_reaches_the_encoder():
    model, batch = tiny_model(), random_batch([30, 12], [5, 2])
    evidence_divergence(model.encoder(batch).entity_attention, batch).backward()
    assert any(
        bool(weight.grad.abs().sum()) for weight in model.encoder.parameters() if weight.grad is not None
    )


def test_training_brings_attention_to_the_evidence(encoder):
    docs = corpus(4)
    guided, plain = (trainer(encoder, docs, weight, epochs=40) for weight in (5.0, 0.0))
    batch = Collator(guided.features)(list(guided.features))

    def divergence(trained):
        with torch.no_grad():
            attention = trained.relation_model.eval().encoder(batch).entity_attention
            return float(evidence_divergence(attention, batch))

    before = divergence(guided)
    for each in (guided, plain):
        each.train()
    assert divergence(guided) < 0.8 * min(before, divergence(plain))
    assert plain.relation_model.config.evidence_threshold is None


def test_what_is_minimised_is_the_loss_and_the_weighted_divergence(steady_encoder):
    made = trainer(steady_encoder, corpus(4), 0.5)
    model, batch = made.relation_model.eval(), Collator(made.features)(list(made.features))
    output, total = model(batch), made.compute_loss(model, {"inputs": batch})
    loss = made.loss(output.logits, batch.labels(), batch.pair_weight)
    divergence = evidence_divergence(output.encoded.entity_attention, batch)
    torch.testing.assert_close(total, loss + 0.5 * divergence)
    assert float(divergence.detach()) > 0


def test_a_guided_model_says_so_when_it_is_saved_and_gives_sentences_by_attention_alone(encoder, tmp_path):
    docs = corpus(4)
    made = trainer(encoder, docs, epochs=1)
    made.train()
    made.relation_model.save_pretrained(tmp_path / "model")
    model = RelationModel.from_pretrained(tmp_path / "model")
    assert model.config.evidence_threshold == THRESHOLD
    model.config.evidence_threshold = 0.0
    (all_of_them,) = Extractor(model).extract(docs[:1], threshold=0.0)
    sentences = tuple(range(len(docs[0].sentences)))
    assert all_of_them.facts and all(fact.evidence == sentences for fact in all_of_them.facts)
    model.config.evidence_threshold = 1.0
    (largest,) = Extractor(model).extract(docs[:1], threshold=0.0)
    assert all(len(fact.evidence) == 1 for fact in largest.facts)


def test_sentences_have_the_threshold_or_are_the_largest():
    assert guided_sentences(np.array([0.2, 0.19, 0.61]), 0.2) == (0, 2)
    assert guided_sentences(np.array([0.3, 0.4, 0.3]), 0.5) == (1,)
    assert guided_sentences(np.zeros(3), 0.2) == ()


def test_guiding_what_is_not_there_is_refused(encoder):
    docs = corpus(2)
    with pytest.raises(ValueError, match=r"evidence_weight.*'max-pool'"):
        trainer(encoder, docs, architecture="max-pool")
    bare = [d.with_facts(replace(fact, evidence=()) for fact in d.facts) for d in docs]
    with pytest.raises(ValueError, match="evidence_weight"):
        trainer(encoder, replace(docs, documents=tuple(bare)))
