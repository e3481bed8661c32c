"""Every model, whatever is inside: it is one of a kind with the others."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from tests.making import make_loss
from tests.reference.batches import only, random_batch
from tests.unit.by_heart import learn
from transformers import BertConfig, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.io import CHECKSUMS
from unnoted.losses import SSRPU
from unnoted.models.architectures import AxialPairs, UNetPairs
from unnoted.models.architectures import registry as architectures
from unnoted.models.architectures.registry import ARCHITECTURES
from unnoted.models.encoders import RecurrentConfig, make_encoder
from unnoted.models.model import RelationConfig, RelationModel
from unnoted.models.saved import CONFIG
from unnoted.training import Optimisation, Trainer

every = pytest.mark.parametrize("architecture", ARCHITECTURES)
OWN_LOSS = {
    "atlop": "atlop",
    "docunet": "balanced-softmax",
    "kd-docre": "adaptive-focal",
    "gain": "cross-entropy",
    "bilstm": "cross-entropy",
    "max-pool": "cross-entropy",
    "bran": "cross-entropy",
    "p3m": "p3m",
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def made(architecture, **options):
    """A small model with random weights on a small transformer."""
    set_seed(0)
    encoder = BertConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=128,
    )  # fmt: skip
    config = RelationConfig(
        encoder_config=encoder.to_dict(),
        relations=["r0", "r1", "r2"],
        entity_types=["PER", "LOC", "ORG"],
        architecture=architecture,
        architecture_options=options,
        embedding=8,
        block=4,
    )
    return RelationModel(config).eval()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    documents = list(generate_documents(20))
    make_encoder(folder, documents, config=RecurrentConfig(hidden_size=32, hidden_dropout_prob=0.0), rarest=1)
    return folder


def corpus(documents):
    made = tuple(generate_documents(documents))
    return Corpus(made, RelationVocabulary.from_documents(made), CandidatePairs())


def on_documents(architecture, encoder, docs):
    set_seed(0)
    return RelationModel.from_encoder(
        encoder,
        docs.relations,
        architecture=architecture,
        entity_types=docs.entity_types,
        embedding=16,
        block=4,
    )


@every
def test_scores_do_not_depend_on_what_shares_the_batch(architecture):
    model, batch = made(architecture), random_batch([20, 50, 12, 100], [4, 7, 1, 2], vocabulary=60)
    with torch.no_grad():
        together, start = model(batch), 0
        for document in range(4):
            alone = model(only(batch, document)[0])
            shared = together[start : start + len(alone)]
            torch.testing.assert_close(alone, shared, rtol=1e-4, atol=1e-5)
            start += len(alone)
    assert start == len(together)


@every
def test_saved_and_loaded_it_gives_the_same_scores(architecture, tmp_path):
    model, batch = made(architecture), random_batch([20, 50], [4, 3], vocabulary=60)
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    with torch.no_grad():
        assert torch.equal(model(batch), again(batch))


@pytest.mark.parametrize("architecture", [name for name, made_by in ARCHITECTURES.items() if made_by.earlier])
def test_a_model_of_an_earlier_version_keeps_what_it_had(architecture, tmp_path):
    earlier = dict(ARCHITECTURES[architecture].earlier)
    model, batch = made(architecture, **earlier), random_batch([20, 50], [4, 3], vocabulary=60)
    model.save_pretrained(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    config = json.loads((tmp_path / CONFIG).read_text("utf-8"))
    for key in ("architecture_options", "markers"):  # which earlier versions did not know
        del config[key]
    (tmp_path / CONFIG).write_text(json.dumps(config), "utf-8")
    again = RelationModel.from_pretrained(tmp_path)
    assert again.config.architecture_options == earlier and again.config.markers
    with torch.no_grad():
        assert torch.equal(model(batch), again(batch))
    assert (made(architecture).config.architecture_options == earlier) == (architecture == "gain")


CHOICES = {
    "docunet": {"feature_map": "similarity", "map_normalisation": "group", "map_upsampling": "deconvolution"},
    "kd-docre": {"bilinear_bias": True},
    "gain": {"path_edges": "last-layer", "path_attention": False, "path_layer": True},
    "bilstm": {"layer_before_means": False},
    "max-pool": {"mention_tokens": "first"},
    "bran": {"mention_tokens": "first"},
    "p3m": {"pair_dropout": 0.5},
}
"""Other values than the defaults."""

IN_TRAINING = {"pair_dropout"}
"""Choices that change scores in training only."""


def test_every_option_has_a_choice():
    declared = {name: set(each.options.model_fields) for name, each in ARCHITECTURES.items()}
    assert {name: set(CHOICES.get(name, ())) for name in ARCHITECTURES} == declared


@pytest.mark.parametrize(
    ("architecture", "option"), [(name, option) for name, options in CHOICES.items() for option in options]
)
def test_a_choice_is_saved_and_changes_scores(architecture, option, tmp_path):
    value, batch = CHOICES[architecture][option], random_batch([20, 50], [4, 5], vocabulary=60)
    model, usual = made(architecture, **{option: value}), made(architecture)
    shapes = {name: weight.shape for name, weight in model.state_dict().items()}
    common = {name: weight for name, weight in usual.state_dict().items() if shapes.get(name) == weight.shape}
    model.load_state_dict(common, strict=False)  # so that other first weights are not what changes scores
    assert usual.config.architecture_options[option] != value
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    assert again.config.architecture_options[option] == value
    with torch.no_grad():
        assert torch.equal(again(batch), model(batch))
        if option in IN_TRAINING:
            assert torch.equal(model(batch), usual(batch))
            model.train(), usual.train()
            assert model.scores.dropout.p == value != usual.scores.dropout.p
        assert not torch.allclose(model(batch), usual(batch))


@every
@pytest.mark.parametrize("own", [False, True], ids=["ssr-pu", "own loss"])
def test_it_trains_with_ssr_pu_and_with_its_own_loss(architecture, own, encoder):
    docs = corpus(8)
    model = on_documents(architecture, encoder, docs)
    priors = docs.labelled_priors * 1.5
    loss = make_loss(OWN_LOSS[architecture], priors) if own else SSRPU(priors)
    how = Optimisation(epochs=6, encoder_learning_rate=3e-3, head_learning_rate=3e-3, log_steps=1)
    trainer = Trainer(model, loss, docs, optimisation=how)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert min(losses[-2:]) < losses[0]
    assert all(parameter.isfinite().all() for parameter in model.parameters())


@every
@pytest.mark.parametrize("entities", [1, 60])
def test_it_extracts_from_documents_of_any_number_of_entities(architecture, entities, encoder):
    docs = corpus(4)
    model = on_documents(architecture, encoder, docs)
    words = tuple(tuple(f"w{number}" for number in range(start, start + 10)) for start in range(0, 60, 10))
    named = tuple(
        Entity((Mention(number // 10, number % 10, number % 10 + 1, "PER", f"w{number}"),))
        for number in range(entities)
    )
    (found,) = Extractor(model).extract([Document("d", words, named)], threshold=0.0)
    assert len(found.facts) == entities * (entities - 1) * len(docs.relations)


@pytest.mark.parametrize(
    "architecture",
    [pytest.param(name, marks=[pytest.mark.slow] if name != "atlop" else []) for name in ARCHITECTURES],
)
def test_it_learns_eight_documents_by_heart(architecture, tmp_path, monkeypatch):
    """With one loss for all, because it is the model that is tested here; but cosines are too small for it."""
    # As published, 256 wide and 6 layers deep, these two would take minutes.
    monkeypatch.setattr(architectures, "UNetPairs", partial(UNetPairs, unet_width=16, unet_output=32))
    monkeypatch.setattr(architectures, "AxialPairs", partial(AxialPairs, layers=2))
    head = {"architecture": architecture, "embedding": 128, "block": 16}
    loss = "p3m" if ARCHITECTURES[architecture].cosines else "atlop"
    learn(tmp_path, loss, head, {"encoder_learning_rate": 1e-2, "head_learning_rate": 1e-2})


def test_every_model_has_a_loss_of_its_own():
    assert OWN_LOSS.keys() == ARCHITECTURES.keys()


def test_entity_types_are_seen_by_those_that_look_at_them():
    batch = random_batch([30], [4], vocabulary=60)
    other = replace(batch, mention_type=(batch.mention_type + 1) % 4)
    for architecture in ARCHITECTURES:
        model = made(architecture)
        with torch.no_grad():
            assert torch.equal(model(batch), model(other)) == (architecture != "gain")
