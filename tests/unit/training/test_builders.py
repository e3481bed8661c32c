"""Labels closed under rules and their priors; and `best` on every shape of corpus."""

import json
from dataclasses import replace

import pytest
from tests.unit.training.factories import config_file, vocabulary_file

from unnoted.data import load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.models.model import RelationModel
from unnoted.training import Trainer, load_config, run
from unnoted.training.builders import (
    build_loss,
    build_model,
    close_labels,
    load_corpus,
    load_training_data,
    trainer_options,
)

RULES = "sibling_of(t, h) -> sibling_of(h, t)\nchild_of(t, h) -> parent_of(h, t)\n"


def config_with(folder, **changes):
    """A config with rules, over documents in which no one is labelled as a parent."""
    (folder / "rules.txt").write_text(RULES)
    path = config_file(
        folder, vocabulary=vocabulary_file(folder), **{"rules": str(folder / "rules.txt")} | changes
    )
    kept = [d.with_facts(f for f in d.facts if f.relation != "parent_of") for d in generate_documents(12)]
    write_documents(folder / "train.json", kept)
    return load_config(path)


def test_labels_are_closed_and_the_multiplier_counts_from_the_file(tmp_path):
    config = config_with(tmp_path, prior_multiplier=3)
    lines = []
    data = load_training_data(config, lines.append)
    assert {d.id: d.labels for d in data.corpus} == {d.id: d.labels for d in generate_documents(12)}
    facts = sum(len(document.labels) for document in data.documents)
    assert data.multiplier == pytest.approx(3 * facts / (facts + 15))
    priors = data.priors()
    assert priors.labelled == data.corpus.labelled_priors.labelled
    assert priors.overall[0] == pytest.approx(data.multiplier * priors.labelled[0])
    assert any("15 facts" in line for line in lines)


def test_without_rules_labels_are_those_of_the_file(tmp_path):
    config = config_with(tmp_path, prior_multiplier=3, rules=None)
    corpus = load_corpus(config, config.train)
    data = close_labels(config, corpus)
    assert data.corpus is corpus and data.priors() == corpus.labelled_priors * 3


@pytest.mark.parametrize("loss", ["ssr-pu", "atlop"])
def test_rules_go_with_any_loss_and_the_model_propagates_them(tmp_path, loss):
    config = config_with(tmp_path, epochs=1, loss=loss, folds=2)
    run(config)
    model = RelationModel.from_pretrained(config.output)
    assert len(model.rule_propagation.rules) == 2
    found = list(Extractor(model).extract(load_documents(config.train[0]), threshold=0.0))
    scores = {(e.document.id, f.head, f.tail, f.relation): f.score for e in found for f in e.facts}
    pairs = [key for key in scores if key[3] == "child_of"]
    assert pairs
    for document, head, tail, _ in pairs:
        reverse = {key[3]: score for key, score in scores.items() if key[:3] == (document, tail, head)}
        # ATLOP predicts the best four relations of a pair: what is implied may come fifth.
        implied = reverse.get("parent_of", sorted(reverse.values())[-4:][0])
        assert implied >= scores[document, head, tail, "child_of"] - 1e-5


def test_a_prior_file_and_candidates_that_no_document_has(tmp_path):
    config = config_with(tmp_path, rules=None)
    (tmp_path / "priors.json").write_text(json.dumps({"*": {"multiplier": 2}}))
    by_file = load_training_data(
        config.with_changes({"prior_multiplier": None, "prior_file": tmp_path / "priors.json"})
    )
    assert by_file.priors() == load_training_data(config).priors()
    with pytest.raises(ValueError, match=r"data\.candidates"):
        load_training_data(config.with_changes({"candidates": "Chemical:Gene"}))


# `best` on every shape of corpus


def with_type(documents, name):
    """All mentions have one type."""
    return [
        replace(d, entities=tuple(
            replace(e, mentions=tuple(replace(m, type=name) for m in e.mentions)) for e in d.entities
        ))
        for d in documents
    ]  # fmt: skip


def with_one_relation(documents):
    return [replace(d, facts=tuple(replace(f, relation="related") for f in d.facts)) for d in documents]


def with_a_long_document(documents):
    """The first document begins and ends with an entity, 1,700 words apart."""
    words = ("the",) * 30
    sentences = (("Ada", "lives"), *[words] * 57, ("in", "Kelm"))
    ada = Entity((Mention(0, 0, 1, "PER", "Ada"),))
    kelm = Entity((Mention(58, 1, 2, "LOC", "Kelm"),))
    return [
        Document("long", sentences, (ada, kelm), (Fact(0, 1, documents[0].facts[0].relation),)),
        *documents,
    ]


CORPORA = {
    "20 documents": (lambda documents: documents, {}, None),
    "one type": (lambda documents: with_type(documents, "THING"), {}, None),
    "one relation": (with_one_relation, {}, None),
    "a long document": (with_a_long_document, {}, None),
    "complete labels": (lambda documents: documents, {"prior_multiplier": 1}, None),
    "one document": (lambda documents: documents[:1], {}, "not calibrated"),
}


def test_best_trains_without_entity_types(encoder, tmp_path):
    """Files must have types; documents of a program may have none."""
    documents = tuple(with_type(generate_documents(8), ""))
    write_documents(tmp_path / "own.jsonl", list(generate_documents(8)))
    given = {"train": tmp_path / "own.jsonl", "encoder": str(encoder), "embedding": 8, "epochs": 1}
    config, lines = load_config("best", given), []
    corpus = Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
    model = build_model(config, corpus, lines.append)
    loss = build_loss(config, corpus.labelled_priors * 3)
    Trainer(model, loss, corpus, **trainer_options(config)).train()
    assert len(lines) == 1 and model.lexical is not None
    assert any(found.facts for found in Extractor(model).extract(documents, threshold=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("shape", CORPORA)
def test_best_trains_on_any_corpus(encoder, tmp_path, shape):
    change, changes, said = CORPORA[shape]
    write_documents(tmp_path / "own.jsonl", change(list(generate_documents(20))))
    given = {"train": tmp_path / "own.jsonl", "encoder": str(encoder), "output": tmp_path / "run"}
    changes |= {"epochs": 2, "embedding": 8}
    lines = []
    record = run(load_config("best", given | changes), log=lines.append)
    assert said is None or any(said in line for line in lines)
    model = RelationModel.from_pretrained(tmp_path / "run")
    assert model.decoder.is_calibrated is (shape != "one document")
    assert model.lexical is not None and model.type_bias is not None and record.steps
    extracted = Extractor(model).extract(load_documents(tmp_path / "own.jsonl"), threshold=0.0)
    scores = [fact.score for found in extracted for fact in found.facts]
    assert scores and 0 <= min(scores) <= max(scores) <= 1
