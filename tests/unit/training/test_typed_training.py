"""What a training tells its model of types, and of how long it lasted."""

import pytest
from tests.unit.training.test_trainer import QUICK, corpus, encoder, fresh  # noqa: F401

from unnoted.losses import ATLOP
from unnoted.models.type_constraints import RelationTypes
from unnoted.training import Trainer


def test_types_are_learnt_from_the_labels(encoder):  # noqa: F811
    docs, model = corpus(), fresh(encoder)
    Trainer(model, loss=ATLOP(), train=docs)
    assert model.relation_types == RelationTypes.from_documents(docs) and model.relation_types.pairs
    free = fresh(encoder)
    Trainer(free, loss=ATLOP(), train=docs, typed_relations=False)
    assert free.relation_types is None


@pytest.mark.parametrize(("warm_up", "said"), [(1.0, "are its warm-up"), (0.01, "too few"), (0.0, None)])
def test_a_model_says_that_its_warm_up_was_not_over(encoder, warm_up, said):  # noqa: F811
    docs, model = corpus(3), fresh(encoder)
    quick = QUICK.model_copy(update={"epochs": 1, "warm_up": warm_up})
    Trainer(model, loss=ATLOP(), train=docs, optimisation=quick).train()
    found = model.config.undertrained
    assert found is None if said is None else said in found
