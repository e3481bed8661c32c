"""Which weights learn at which rate."""

import pytest
import torch
from tests.unit.training.making import tiny_encoder
from transformers import set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.losses import ATLOP
from unnoted.models.architectures import ARCHITECTURES
from unnoted.models.model import RelationModel
from unnoted.training import Optimisation, Trainer
from unnoted.training.optimiser import (
    check_map_learning_rate,
    make_optimiser,
    map_layers,
    parameter_groups,
)

VOCABULARY = RelationVocabulary.from_documents(generate_documents(10))
RATES = Optimisation(encoder_learning_rate=1e-5, head_learning_rate=1e-4, map_learning_rate=4e-4)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tiny_encoder(tmp_path_factory.mktemp("encoder"))
    return {
        name: RelationModel.from_encoder(folder, VOCABULARY, architecture=name, embedding=16, block=4)
        for name in ARCHITECTURES
    }


def names_of(model, group):
    weights = {id(weight) for weight in group["params"]}
    return {name for name, weight in model.named_parameters() if id(weight) in weights}


def test_layers_over_the_map_are_a_group_of_their_own(models):
    begins = {
        "docunet": ("pair_encoder.unet.", "pair_encoder.channels."),
        "kd-docre": ("pair_encoder.layers.",),
    }
    for architecture, prefixes in begins.items():
        model = models[architecture]
        groups = parameter_groups(model, RATES, map_layers(model))
        assert [group["lr"] for group in groups] == [1e-5, 1e-4, 4e-4]
        encoder, others, over_map = (names_of(model, group) for group in groups)
        every = {name for name, _ in model.named_parameters()}
        assert encoder == {name for name in every if name.startswith("encoder.")}
        assert over_map == {name for name in every if name.startswith(prefixes)}
        assert others == every - encoder - over_map
        assert "pair_encoder.head_projection.weight" in others


def test_without_a_rate_for_the_map_there_are_two_groups(models):
    plain = RATES.model_copy(update={"map_learning_rate": None})
    for model in models.values():
        groups = parameter_groups(model, plain, map_layers(model))
        assert [group["lr"] for group in groups] == [1e-5, 1e-4]
        assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))


def test_the_encoder_may_have_a_weight_decay_of_its_own(models):
    decays = RATES.model_copy(update={"weight_decay": 1e-4, "encoder_weight_decay": 0.01})
    for name, over_map in (("docunet", [1e-4]), ("gain", [])):
        chosen = decays if over_map else decays.model_copy(update={"map_learning_rate": None})
        made = make_optimiser(models[name], chosen, map_layers(models[name]), torch.device("cpu"))
        assert [group["weight_decay"] for group in made.param_groups] == [0.01, 1e-4, *over_map]
    plain = RATES.model_copy(update={"weight_decay": 1e-4, "map_learning_rate": None})
    made = make_optimiser(models["gain"], plain, (), torch.device("cpu"))
    assert [group["weight_decay"] for group in made.param_groups] == [1e-4, 1e-4]


def test_models_without_a_map_refuse_a_rate_for_it(models):
    refused = set()
    for name, model in models.items():
        try:
            check_map_learning_rate(model, RATES)
        except ValueError as error:
            assert f"map_learning_rate: found 0.0004, expected none: the model {name!r} has no layers" in str(
                error
            )
            refused.add(name)
    assert refused == set(ARCHITECTURES) - {"docunet", "kd-docre"}
    corpus = Corpus(tuple(generate_documents(2)), VOCABULARY, CandidatePairs())
    with pytest.raises(ValueError, match="map_learning_rate: found"):
        Trainer(models["atlop"], ATLOP(), corpus, optimisation=RATES)


def test_the_rate_is_what_the_layers_over_the_map_learn_at(tmp_path):
    set_seed(0)
    corpus = Corpus(tuple(generate_documents(2)), VOCABULARY, CandidatePairs())
    model = RelationModel.from_encoder(
        tiny_encoder(tmp_path), VOCABULARY, architecture="kd-docre", embedding=8, block=4
    )
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    update = {
        "epochs": 1,
        "encoder_learning_rate": 0,
        "head_learning_rate": 0,
        "warm_up": 0,
        "map_learning_rate": 1e-3,
    }
    Trainer(model, ATLOP(), corpus, optimisation=Optimisation(**update)).train()
    changed = {name for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])}
    assert changed and all(name.startswith("pair_encoder.layers.") for name in changed)
