"""Entity recognition beside the loss: its tags, its loss, and a training that leaves nothing of it behind."""

from dataclasses import replace

import pytest
import torch
from tests.making import make_loss
from tests.reference.batches import only, random_batch
from tests.reference.encoded import random_encoded
from tests.reference.entity_tags import number, plain_recognition, plain_tags
from tests.unit.training.factories import corpus, equal, fresh_model
from transformers import TrainerCallback

from unnoted.models.batch import Collator
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.checkpoints import list_checkpoints
from unnoted.training.entity_recognition import NO_TAG, TAGGER, EntityTagger, entity_tags

WEIGHT = 2.0


def fresh(encoder, docs, **options):
    options = {"architecture": "bran", "markers": False, "entity_types": docs.entity_types} | options
    return fresh_model(encoder, **options)


def trainer(model, docs, output=None):
    optimizer = OptimizerConfig(epochs=4, encoder_learning_rate=1e-2, head_learning_rate=1e-2)
    return Trainer(
        model, make_loss("cross-entropy"), docs, optimizer=optimizer, output=output,
        entity_recognition_weight=WEIGHT,
    )  # fmt: skip


def test_tags_and_loss_are_those_of_plain_loops():
    torch.manual_seed(0)
    batch = random_batch([30, 12, 20], [5, 2, 4])
    encoded, tagger = random_encoded(batch, 6), EntityTagger(6, 3, seed=0).double()
    found = entity_tags(batch)
    for document, tags in enumerate(plain_tags(batch)):
        numbers = [NO_TAG if tag is None else number(tag) for tag in tags]
        assert found[document].tolist() == numbers + [NO_TAG] * (found.shape[1] - len(tags))
    expected = plain_recognition(tagger.layer, encoded.states, batch)
    assert tagger(encoded.states, batch).item() == pytest.approx(expected, rel=1e-5)


def test_the_words_of_a_document_are_tagged_and_nothing_else(encoder):
    docs = corpus(2)
    features = trainer(fresh(encoder, docs), docs).features
    batch = Collator(features)(list(features))
    for document, tags in zip(docs.documents, entity_tags(batch), strict=True):
        told = [tag for tag in tags.tolist() if tag != NO_TAG]
        expected, sentences = [0] * document.word_count, [len(s) for s in document.sentences]
        for entity in document.entities:
            for mention in entity.mentions:
                first = sum(sentences[: mention.sentence]) + mention.start
                for place in range(mention.end - mention.start):
                    kind = docs.entity_types.index(mention.type) + 1
                    expected[first + place] = 2 * kind - (place == 0)
        assert told == expected  # this tokenizer has a token for each word
        assert (tags[0], tags[len(told) + 1]) == (NO_TAG, NO_TAG)


def test_documents_of_a_batch_count_by_their_tokens_alone():
    batch, tagger = random_batch([30, 12], [5, 2]), EntityTagger(6, 3, seed=0).double()
    states = random_encoded(batch, 6).states
    alone = [tagger(states[d : d + 1, :length], only(batch, d)[0]) for d, length in enumerate(batch.lengths)]
    counts = [(tags != NO_TAG).sum() for tags in entity_tags(batch)]
    expected = sum(a * c for a, c in zip(alone, counts, strict=True)) / sum(counts)
    torch.testing.assert_close(tagger(states, batch), expected)


def test_states_in_half_precision_are_tagged():
    batch = random_batch([12, 9], [2, 3])
    tagger = EntityTagger(width=8, types=4, seed=0)
    states = torch.randn(2, 12, 8)
    assert tagger(states.bfloat16(), batch).item() == pytest.approx(tagger(states, batch).item(), rel=0.02)


def test_a_batch_without_a_tag_has_no_loss():
    batch, tagger = random_batch([6], [1]), EntityTagger(4, 3, seed=0)
    batch = replace(batch, token_sentence=torch.full_like(batch.token_sentence, batch.sentences))
    assert tagger(torch.randn(1, 6, 4), batch).item() == 0


@pytest.fixture(scope="module")
def whole(encoder, tmp_path_factory):
    """A finished training, with checkpoints."""
    docs, folder = corpus(), tmp_path_factory.mktemp("whole")
    made = trainer(fresh(encoder, docs), docs, folder)
    made.train()
    return made, folder


def test_it_is_learnt_and_leaves_nothing_behind(encoder, whole):
    made, folder = whole
    model, docs = made.relation_model, corpus()
    assert TAGGER not in dict(model.named_modules())
    batch = Collator(made.features)(list(made.features))
    with torch.no_grad():
        after = made._recognition.tagger(model.encoder(batch).states, batch)
        first = EntityTagger(16, len(docs.entity_types), 62)
        before = first(fresh(encoder, docs).encoder(batch).states, batch)
    assert after < 0.9 * before
    assert equal(RelationModel.from_pretrained(list_checkpoints(folder / "checkpoints")[-1]), model)


def test_what_is_minimised_is_the_sum(steady_encoder):
    docs = corpus()
    made = trainer(fresh(steady_encoder, docs), docs)
    model, batch = made.relation_model.eval(), Collator(made.features)(list(made.features))
    with made._recognition.attached(), torch.no_grad():
        minimised, output = made.compute_loss(model, {"inputs": batch}, return_outputs=True)
        tagged = made._recognition.tagger(model.encoder(batch).states, batch)
    torch.testing.assert_close(minimised, made.loss(output, batch.labels()) + WEIGHT * tagged)


class Stopping(TrainerCallback):
    """Stops after the second checkpoint."""

    def on_save(self, args, state, control, **others):
        control.should_training_stop = state.epoch == 2


def test_a_resumed_training_ends_with_the_same_weights(encoder, whole, tmp_path):
    docs = corpus()
    stopped = trainer(fresh(encoder, docs), docs, tmp_path)
    stopped.add_callback(Stopping())
    stopped.train()
    again = trainer(fresh(encoder, docs), docs, tmp_path)
    again.train(resume=True)
    assert equal(again.relation_model, whole[0].relation_model)
    assert equal(again._recognition.tagger, whole[0]._recognition.tagger)


def test_it_is_refused_where_the_answer_is_given(encoder, tmp_path):
    docs = corpus(2)
    make_encoder(tmp_path, docs.documents, config=ENCODER_KINDS["bilstm"](), min_document_frequency=1)
    for model, reason in (
        (fresh(encoder, docs, markers=True), "markers"),
        (fresh(tmp_path, docs), "told"),
        (fresh(encoder, docs, entity_types=()), "types"),
    ):
        with pytest.raises(ValueError, match=f"entity_recognition_weight.*{reason}"):
            trainer(model, docs)
