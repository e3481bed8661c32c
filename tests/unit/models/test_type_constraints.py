"""Relations that types allow: the same scores, and no others."""

import pytest
import torch
from tests.reference.batches import random_batch
from tests.unit.inference.making import RELATIONS, corpus, reading_model, tokenizer

from unnoted.models.architectures import BiaffineHead
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.type_constraints import FORBIDDEN, RelationTypes, TypeBias, TypeConstraints


def batch_of(model, documents):
    features = featurise(
        documents, tokenizer(), RELATIONS, model.candidates, model.numbered_types, model.config.markers
    )
    return Collator(features)([features[index] for index in range(len(features))])


@pytest.mark.parametrize("entity_types", [[], ["LOC", "ORG", "PER", "WORK"]])
@pytest.mark.parametrize(
    "architecture", ["atlop", pytest.param("docunet", marks=pytest.mark.slow), "any scorer"]
)
def test_scores_of_allowed_relations_are_those_of_all(architecture, entity_types, monkeypatch):
    if architecture == "any scorer":  # for which there is no faster way
        monkeypatch.setattr("unnoted.models.type_constraints.GroupedBilinear", BiaffineHead)
        architecture = "atlop"
    model = reading_model(architecture=architecture, entity_types=entity_types)
    documents = corpus()[:4]
    model.relation_types = RelationTypes.from_documents(corpus())
    batch = batch_of(model, documents)
    typed = model.type_constraints
    with torch.no_grad():
        free = model(batch if entity_types else batch.without_types()).logits
        found = model(batch, typed).logits
    allowed = typed.allowed(typed.type_pairs(batch))
    assert 0 < allowed.sum() < allowed.numel()
    torch.testing.assert_close(found[:, 1:][allowed], free[:, 1:][allowed])
    assert (found[:, 1:][~allowed] == FORBIDDEN).all()
    scored = allowed.any(1)
    torch.testing.assert_close(found[scored, 0], free[scored, 0])
    for pair, row in enumerate(allowed.tolist()):  # plainly
        document = documents[int(batch.pair_document[pair])]
        head, tail = (
            document.entities[int(batch.entity_slot[side[pair]])].type for side in (batch.head, batch.tail)
        )
        assert row == [(head, tail) in model.relation_types.pairs.get(name, ()) for name in RELATIONS]


def test_a_type_nobody_has_seen_is_not_judged():
    learnt = RelationTypes(("LOC",), {"P1": (("LOC", "LOC"),)})
    typed = TypeConstraints(learnt, ("LOC", "NEW"), ("P1", "P2"))
    assert typed.table[1, 1].tolist() == [True, False]
    for head, tail in ((0, 1), (1, 0), (2, 1), (1, 2), (2, 2)):
        assert typed.table[head, tail].all()


@pytest.mark.parametrize("write", [lambda w: w.mul_(2), lambda w: w.data.mul_(2)], ids=["in place", "data"])
def test_cached_weights_follow_those_of_the_head(write):
    model = reading_model(entity_types=["LOC", "ORG", "PER", "WORK"])
    model.relation_types = RelationTypes.from_documents(corpus())
    batch, constraints = batch_of(model, corpus()[:2]), model.type_constraints
    with torch.no_grad():
        before = model(batch, constraints).logits
        assert torch.equal(model(batch, constraints).logits, before)
        write(model.head.weight)
        after = model(batch, constraints).logits
        assert torch.equal(after, model(batch, model.type_constraints).logits)
    assert not torch.equal(before, after)


def test_no_pair_is_allowed_anything():
    model = reading_model(entity_types=["LOC", "ORG", "PER", "WORK"])
    model.relation_types = RelationTypes(("LOC", "ORG", "PER", "WORK"), {})
    batch = batch_of(model, corpus()[:1])
    with torch.no_grad():
        found = model(batch, model.type_constraints).logits
    assert (found[:, 1:] == FORBIDDEN).all() and (found[:, 0] == 0).all()  # not scored at all


@pytest.mark.parametrize(
    "value", [[], {"types": ["A"]}, {"types": ["A"], "pairs": {"P": [["A"]]}}, {"types": 3}]
)
def test_what_is_no_table_of_types_is_refused(value):
    with pytest.raises(ValueError, match="relation_types"):
        RelationTypes.from_json(value)


def test_a_bias_is_added_by_the_types_of_first_mentions():
    bias = TypeBias(types=3, relations=2)
    torch.nn.init.normal_(bias.weight)
    batch = random_batch([30], [4], relations=2)
    types = [
        int(batch.mention_type[batch.mention_entity.tolist().index(entity)])
        for entity in range(batch.entities)
    ]
    logits = torch.randn(batch.pairs, 3)
    expected = logits.clone()
    for pair, (head, tail) in enumerate(zip(batch.head.tolist(), batch.tail.tolist(), strict=True)):
        expected[pair, 1:] += bias.weight[types[head], types[tail]].detach()
    torch.testing.assert_close(bias(logits, batch), expected)
