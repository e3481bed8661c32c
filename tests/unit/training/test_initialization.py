"""Bias initialisation against tests/reference/start.py."""

import numpy as np
import pytest
import torch
from tests.reference.start import log_odds_start, shares, squared_ranking_start
from tests.unit.training.factories import corpus, equal, fresh_model

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.losses import ATLOP, LOSSES, SSRPU, LabelLikelihood, ScoreDecoder
from unnoted.models.architectures import ARCHITECTURES
from unnoted.models.batch import Collator
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.initialization import PSEUDO_PAIRS, TypeCounts, initial_scores, initialize
from unnoted.training.trainer import compute_features

DOCUMENTS = corpus(12).documents
CORPUS = Corpus(DOCUMENTS, RelationVocabulary.from_documents(DOCUMENTS), CandidatePairs())  # all are labelled
TYPES = list(CORPUS.entity_types)
SHARES = shares(CORPUS.documents, CORPUS.relations.ids, TYPES, PSEUDO_PAIRS)


def model_on(encoder, types=TYPES, **options):
    return fresh_model(encoder, relations=CORPUS.relations, entity_types=types, **options)


@pytest.mark.parametrize("types", [TYPES, TYPES[:2], []])
def test_shares_are_those_of_plain_loops(encoder, types):
    features = compute_features(model_on(encoder, types), CORPUS)
    found = TypeCounts.from_features(features, len(types)).shares()
    plain = shares(CORPUS.documents, CORPUS.relations.ids, types, PSEUDO_PAIRS)
    for (head, tail, relation), share in plain.items():
        assert found[head, tail, CORPUS.relations.ids.index(relation)] == pytest.approx(share)


@pytest.mark.parametrize("multiplier", [1, 2.5])
def test_losses_start_at_their_optimum(encoder, multiplier):
    features = compute_features(model_on(encoder), CORPUS)
    counts, priors = TypeCounts.from_features(features, len(TYPES)), CORPUS.labelled_priors * multiplier
    for loss, start in (
        (SSRPU(priors, margin=0.5), lambda *given: squared_ranking_start(*given, 0.5)),
        (LabelLikelihood(priors), log_odds_start),
    ):
        found = initial_scores(counts, loss.decoder)
        for (head, tail, relation), share in SHARES.items():
            k = CORPUS.relations.ids.index(relation)
            wanted = start(share, priors.labelled[k], priors.overall[k])
            assert found[head, tail, k] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_shows_the_shares_that_it_starts_from(encoder, name):
    named = LOSSES[name]
    loss = named(CORPUS.labelled_priors * 2) if named.needs_priors else named()
    model = model_on(encoder, use_type_bias=True)
    features = compute_features(model, CORPUS)
    initialize(model, loss, features)
    chance = TypeCounts.from_features(features, len(TYPES)).shares() * (2 if named.needs_priors else 1)
    scores = torch.cat([torch.zeros(len(TYPES) + 1, 1), model.type_bias.weight.detach()[1]], 1).double()
    shown = ScoreDecoder(
        loss.decoder.decision, loss.decoder.link, loss.decoder.priors, loss.decoder.class_weighted
    ).probabilities(scores)
    np.testing.assert_allclose(shown, chance[1].clip(1e-5, 0.95), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_starts_near_what_types_say(encoder, architecture):
    model = model_on(encoder, architecture=architecture, use_type_bias=True).eval()
    plain = model_on(encoder, architecture=architecture).eval()
    features = compute_features(model, CORPUS)
    batch = Collator(features)([features[0], features[1]])
    torch.testing.assert_close(model(batch).logits, plain(batch).logits)  # a table of 0 adds nothing
    initialize(model, SSRPU(CORPUS.labelled_priors * 2), features)
    for name, weight in plain.head.named_parameters():
        quiet = dict(model.head.named_parameters())[name]
        torch.testing.assert_close(quiet, weight * (0.0 if name.endswith("bias") else 0.1))


def test_a_trainer_begins_once_and_the_bias_is_saved_with_the_model(encoder, tmp_path):
    model = model_on(encoder, use_type_bias=True)
    still = OptimizerConfig(epochs=1, head_learning_rate=0, encoder_learning_rate=0)
    trainer = Trainer(model, ATLOP(), CORPUS, optimizer=still)
    assert not model.type_bias.weight.any()
    trainer.train()
    begun = model.type_bias.weight.detach().clone()
    assert begun.any()
    initialize(model, SSRPU(CORPUS.labelled_priors * 2), compute_features(model, CORPUS))
    torch.testing.assert_close(model.type_bias.weight.detach(), begun, rtol=0, atol=0)
    model.save_pretrained(tmp_path)
    loaded = RelationModel.from_pretrained(tmp_path)
    torch.testing.assert_close(loaded.type_bias.weight.detach(), begun, rtol=0, atol=0)


def test_a_model_without_a_type_bias_begins_as_published(encoder):
    model, other = model_on(encoder), model_on(encoder)
    initialize(model, SSRPU(CORPUS.labelled_priors * 2), compute_features(model, CORPUS))
    assert equal(model, other)
