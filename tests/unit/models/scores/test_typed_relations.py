"""Relations that types allow: the same scores, and no others."""

from dataclasses import replace

import pytest
import torch
from tests.unit.inference.making import RELATIONS, corpus, reading_model, tokenizer

from unnoted.data.relation_types import RelationTypes
from unnoted.models.architectures import BiaffineHead
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.scores.typed_relations import NEVER, TypedRelations


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
        monkeypatch.setattr("unnoted.models.scores.typed_relations.GroupedBilinear", BiaffineHead)
        architecture = "atlop"
    model = reading_model(architecture=architecture, entity_types=entity_types)
    documents = corpus()[:4]
    model.relation_types = RelationTypes.of(corpus())
    batch = batch_of(model, documents)
    typed = model.typed_relations
    with torch.no_grad():
        free = model.score_pairs(batch if entity_types else batch.without_types()).scores
        found = model.score_pairs(batch, typed).scores
    allowed = typed.allowed(typed.kinds(batch))
    assert 0 < allowed.sum() < allowed.numel()
    torch.testing.assert_close(found[:, 1:][allowed], free[:, 1:][allowed])
    assert (found[:, 1:][~allowed] == NEVER).all()
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
    typed = TypedRelations(learnt, ("LOC", "NEW"), ("P1", "P2"))
    assert typed.table[1, 1].tolist() == [True, False]
    for head, tail in ((0, 1), (1, 0), (2, 1), (1, 2), (2, 2)):
        assert typed.table[head, tail].all()


def test_weights_that_change_are_seen():
    model = reading_model(entity_types=["LOC", "ORG", "PER", "WORK"])
    model.relation_types = RelationTypes.of(corpus())
    batch, typed = batch_of(model, corpus()[:2]), model.typed_relations
    with torch.no_grad():
        before = model.score_pairs(batch, typed).scores
        model.scores.weight.mul_(2)
        after = model.score_pairs(batch, typed).scores
    fresh = model.score_pairs(batch, model.typed_relations).scores
    torch.testing.assert_close(after, fresh.detach())
    assert not torch.equal(before, after)


def test_what_was_laid_out_is_used_until_weights_change():
    model = reading_model(entity_types=["LOC", "ORG", "PER", "WORK"])
    model.relation_types = RelationTypes.of(corpus())
    batch, first = batch_of(model, corpus()[:2]), model.typed_relations.prepared(model.scores)
    assert first.prepared(model.scores) is first
    with torch.no_grad():
        model.scores.weight.data.mul_(2)
        second = first.prepared(model.scores)
        found = model.score_pairs(batch, second).scores
        assert second is not first and torch.equal(
            found, model.score_pairs(batch, model.typed_relations).scores
        )


def test_no_pair_is_allowed_anything():
    model = reading_model(entity_types=["LOC", "ORG", "PER", "WORK"])
    model.relation_types = RelationTypes(("LOC", "ORG", "PER", "WORK"), {})
    batch = batch_of(model, corpus()[:1])
    with torch.no_grad():
        found = model.score_pairs(batch, model.typed_relations).scores
    assert (found[:, 1:] == NEVER).all() and found.isfinite().all()


@pytest.mark.parametrize(
    "value", [[], {"types": ["A"]}, {"types": ["A"], "pairs": {"P": [["A"]]}}, {"types": 3}]
)
def test_what_is_no_table_of_types_is_refused(value):
    with pytest.raises(ValueError, match="relation_types: found"):
        RelationTypes.from_json(value)


def test_facts_add_their_types():
    one = corpus()[0]
    nothing = RelationTypes.of([replace(one, facts=())])
    assert nothing.pairs == {} and nothing.types == RelationTypes.of([one]).types
    for fact in one.facts:
        kinds = one.entities[fact.head].type, one.entities[fact.tail].type
        assert kinds in RelationTypes.of([one]).pairs[fact.relation]
