"""Facts between types that their relation was labelled with, and no others."""

import warnings

import pytest
import torch
from tests.unit.inference.making import corpus, reading_model, saved_model

from unnoted.data.relation_types import RelationTypes
from unnoted.inference import Extractor, inspect_model


@pytest.fixture(scope="module")
def model():
    model = reading_model()
    model.relation_types = RelationTypes.of(corpus()[6:])
    return model


def facts_of(extractor, **asked):
    return {
        (found.document.id, fact.head, fact.tail, fact.relation)
        for found in extractor.extract(corpus()[:6], **asked)
        for fact in found.facts
    }


@pytest.mark.parametrize("asked", [{}, {"threshold": 0.0}, {"floor": 0.0}])
def test_only_relations_of_the_types(model, asked):
    documents = {document.id: document for document in corpus()}
    free, typed = facts_of(Extractor(model, any_types=True), **asked), facts_of(Extractor(model), **asked)
    expected = {
        (name, head, tail, relation)
        for name, head, tail, relation in free
        if model.relation_types.allows(
            relation, documents[name].entities[head].type, documents[name].entities[tail].type
        )
    }
    assert typed == expected and len(typed) < len(free)


def test_every_pair_is_seen_with_numbers(model):
    seen = []
    list(Extractor(model).extract(corpus()[:3], seen=seen.append))
    for scored in seen:
        assert torch.from_numpy(scored.confidence).isfinite().all()
        assert (scored.confidence >= 0).all() and (scored.probability >= 0).all()


def test_types_are_saved(tmp_path):
    folder = saved_model(tmp_path)
    assert inspect_model(folder)["typed_relations"] is False  # as models of earlier versions
    model = reading_model(torch.float32)
    model.relation_types = RelationTypes.of(corpus())
    model.save_pretrained(folder)
    loaded = Extractor.from_pretrained(folder, device="cpu")
    assert loaded.model.relation_types == RelationTypes.of(corpus())
    described = inspect_model(folder)
    assert described["typed_relations"] and all(row["types"] is not None for row in described["relations"])


def test_a_model_that_hardly_learnt_says_so():
    model = reading_model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Extractor(model)
    model.config.undertrained = "trained for 3 steps, of which 7 are its warm-up"
    with pytest.warns(UserWarning, match="this model was trained for 3 steps"):
        Extractor(model)
