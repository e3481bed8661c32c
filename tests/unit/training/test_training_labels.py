"""Labels that rules close, and the priors beside them."""

import pytest
from tests.unit.training.making import settings_file, vocabulary_file

from unnoted.data import load_documents
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.models.model import RelationModel
from unnoted.training import load_settings, run
from unnoted.training.ingredients import load_corpus
from unnoted.training.training_labels import training_labels

RULES = "sibling_of(t, h) -> sibling_of(h, t)\nchild_of(t, h) -> parent_of(h, t)\n"


def settings_with(folder, **changes):
    """Settings with rules, over documents in which no one is noted as a parent."""
    (folder / "rules.txt").write_text(RULES)
    values = {"prior_multiplier": 3, "rules": folder / "rules.txt", **changes}
    path = settings_file(folder, vocabulary=vocabulary_file(folder), **values)
    noted = [d.with_facts(f for f in d.facts if f.relation != "parent_of") for d in generate_documents(12)]
    write_documents(folder / "train.json", noted)
    return load_settings(path)


def test_what_follows_is_a_label(tmp_path):
    settings = settings_with(tmp_path)
    lines = []
    labels = training_labels(settings, load_corpus(settings, settings.train), lines.append)
    assert {d.id: d.labels for d in labels.corpus} == {d.id: d.labels for d in generate_documents(12)}
    priors = labels.priors()
    assert priors.labelled == labels.corpus.labelled_priors.labelled
    assert priors.overall[0] == pytest.approx(labels.multiplier * priors.labelled[0])
    assert lines == ["labels closed: 2 rules added 15 facts"]


def test_a_multiplier_that_is_told_counts_from_what_was_noted(tmp_path):
    settings = settings_with(tmp_path, prior_multiplier=3)
    noted = load_corpus(settings, settings.train)
    facts = sum(len(document.labels) for document in noted)
    assert training_labels(settings, noted).multiplier == pytest.approx(3 * facts / (facts + 15))


def test_without_rules_all_is_as_before(tmp_path):
    settings = settings_with(tmp_path, prior_multiplier=3, rules="null")
    corpus = load_corpus(settings, settings.train)
    labels = training_labels(settings, corpus)
    assert labels.corpus is corpus and labels.priors() == corpus.labelled_priors * 3


def test_the_trained_model_keeps_to_them(tmp_path):
    settings = settings_with(tmp_path, epochs=1, calibrated="true")
    run(settings)
    model = RelationModel.from_pretrained(settings.output)
    assert [str(rule) for rule in model.rule_propagation.rules] == RULES.splitlines()
    documents = load_documents(settings.train[0])
    found = list(Extractor(model).extract(documents, floor=0.0))
    margins = {
        (each.document.id, fact.head, fact.tail, fact.relation): fact.score
        for each in found
        for fact in each.facts
    }
    pairs = [key for key in margins if key[3] == "child_of"]
    assert pairs
    for document, head, tail, _ in pairs:
        parent = margins[document, tail, head, "parent_of"]
        assert parent >= margins[document, head, tail, "child_of"] - 1e-5
    brought = [fact for each in found for fact in each.facts if fact.rule is not None]
    assert {fact.rule for fact in brought} <= set(RULES.splitlines()) and brought
    written = [fact for each in found for fact in each.to_json()["facts"] if "rule" in fact]
    assert [fact["rule"] for fact in written] == [fact.rule for fact in brought]
