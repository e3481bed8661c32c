"""Entity recognition beside the loss: its tags, its loss, and a training that leaves nothing of it behind."""

from dataclasses import replace

import pytest
import torch
from tests.making import make_loss
from tests.reference.batches import only, random_batch
from tests.reference.encoded import random_encoded
from tests.reference.entity_tags import number, plain_recognition, plain_tags
from tests.unit.training.factories import tiny_encoder
from transformers import TrainerCallback, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.models.batch import Collator
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.checkpoints import list_checkpoints
from unnoted.training.entity_recognition import NO_TAG, TAGGER, EntityTagger, entity_tags

HOW = {
    "optimizer": OptimizerConfig(epochs=4, encoder_learning_rate=1e-2, head_learning_rate=1e-2),
    "entity_recognition_weight": 2.0,
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


def corpus(documents=8):
    made = tuple(generate_documents(documents))
    return Corpus(made, RelationVocabulary.from_documents(made), CandidatePairs())


def fresh(encoder, docs, markers=False):
    set_seed(0)
    options = {"architecture": "bran", "embedding": 8, "block": 4, "markers": markers}
    return RelationModel.from_encoder(encoder, docs.relations, entity_types=docs.entity_types, **options)


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
    features = Trainer(fresh(encoder, docs), make_loss("cross-entropy"), docs, **HOW).features
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
    docs, folder = corpus(), tmp_path_factory.mktemp("whole")
    model = fresh(encoder, docs)
    trainer = Trainer(model, make_loss("cross-entropy"), docs, **HOW, output=folder)
    trainer.train()
    return model, trainer, folder


def test_it_is_learnt_and_leaves_nothing_behind(encoder, whole):
    model, trainer, _ = whole
    assert TAGGER not in dict(model.named_modules())
    docs = corpus()
    batch = Collator(trainer.features)(list(trainer.features))
    tagger = trainer._recognition.tagger
    with torch.no_grad():
        after = tagger(model.encoder(batch).states, batch)
        before = EntityTagger(16, len(docs.entity_types), 62)(
            fresh(encoder, docs).encoder(batch).states, batch
        )
    assert after < 0.9 * before


def test_what_is_minimised_is_the_sum(encoder):
    docs = corpus()
    trainer = Trainer(fresh(encoder, docs), make_loss("cross-entropy"), docs, **HOW)
    batch = Collator(trainer.features)(list(trainer.features))
    with trainer._recognition.attached(), torch.no_grad():
        trainer.relation_model.train()
        set_seed(1)
        minimised = trainer.compute_loss(trainer.relation_model, {"inputs": batch})
        set_seed(1)  # the same dropout
        output = trainer.relation_model(batch)
        tagged = trainer._recognition.tagger(output.encoded.states, batch)
    loss = make_loss("cross-entropy")(output.logits, batch.labels())
    assert HOW["entity_recognition_weight"] != 1
    torch.testing.assert_close(minimised, loss + HOW["entity_recognition_weight"] * tagged)


def test_a_checkpoint_is_a_model(whole):
    model, _, folder = whole
    again = RelationModel.from_pretrained(list_checkpoints(folder / "checkpoints")[-1])
    assert all(torch.equal(again.state_dict()[name], weight) for name, weight in model.state_dict().items())


class Stopping(TrainerCallback):
    """Stops after the second checkpoint."""

    def on_save(self, args, state, control, **others):
        control.should_training_stop = state.epoch == 2


def test_a_resumed_training_ends_with_the_same_weights(encoder, whole, tmp_path):
    docs = corpus()
    options = {"loss": make_loss("cross-entropy"), "train": docs, "output": tmp_path, **HOW}
    stopped = Trainer(fresh(encoder, docs), **options)
    stopped.add_callback(Stopping())
    stopped.train()
    again = fresh(encoder, docs)
    trainer = Trainer(again, **options)
    trainer.train(resume=True)
    for (name, one), other in zip(again.state_dict().items(), whole[0].state_dict().values(), strict=True):
        assert torch.equal(one, other), name
    tagger, expected = trainer._recognition.tagger, whole[1]._recognition.tagger
    assert torch.equal(tagger.layer.weight, expected.layer.weight)


def test_it_is_refused_where_the_answer_is_given(encoder, tmp_path):
    docs = corpus(2)
    with pytest.raises(ValueError, match=r"entity_recognition_weight.*markers"):
        Trainer(fresh(encoder, docs, markers=True), make_loss("cross-entropy"), docs, **HOW)
    make_encoder(tmp_path, docs.documents, config=ENCODER_KINDS["bilstm"](), min_document_frequency=1)
    with pytest.raises(ValueError, match=r"entity_recognition_weight.*told"):
        Trainer(fresh(tmp_path, docs), make_loss("cross-entropy"), docs, **HOW)
    model = RelationModel.from_encoder(encoder, docs.relations, architecture="bran", markers=False)
    with pytest.raises(ValueError, match=r"entity_recognition_weight.*types"):
        Trainer(model, make_loss("cross-entropy"), docs, **HOW)
