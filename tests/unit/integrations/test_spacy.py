"""The component for spaCy pipelines."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import spacy
from confection import ConfigValidationError
from spacy.tokens import Doc, DocBin
from tests.unit.inference.making import RELATIONS, saved_model

import unnoted.integrations.spacy as component
from unnoted.inference import Extractor

TEXTS = ["Ada met Bo in Kelm. Ada slept.", "Nobody came.", "Bo likes Kelm."]
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada"},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Kelm"},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"), entity_types=["LOC", "PER"])


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    if config:
        nlp.add_pipe("unnoted", config=config)
    return nlp


def test_relations_are_those_of_the_extractor_and_can_be_stored(model):
    nlp = pipeline(model=str(model), threshold=0.0, device="cpu")
    docs = list(nlp.pipe(TEXTS))
    expected = list(Extractor(model, entities=pipeline(), device="cpu").extract(TEXTS, threshold=0.0))
    for doc, extraction in zip(docs, expected, strict=True):
        facts = sorted(extraction.to_json()["facts"], key=lambda fact: -fact["score"])
        assert doc._.relations == facts
    assert len(docs[0]._.relations) == 6 * len(RELATIONS) and docs[1]._.relations == []
    (fact,) = [fact for fact in docs[2]._.relations if (fact["head"], fact["relation"]) == (0, RELATIONS[0])]
    head, tail = (docs[2].char_span(*fact[side][0]) for side in ("head_offsets", "tail_offsets"))
    assert (head.text, head.label_, tail.text) == ("Bo", "", "Kelm")
    assert fact["sentences"] == ["Bo likes Kelm."]
    assert docs[0]._.relations[0].keys() >= {"head_offsets", "tail_offsets"}
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    again = [doc._.relations for doc in DocBin().from_bytes(stored).get_docs(nlp.vocab)]
    assert json.dumps(again) == json.dumps([doc._.relations for doc in docs])  # lists come back as tuples


def test_one_document_is_done_like_many(model):
    nlp = pipeline(model=str(model), device="cpu")
    numbers = ("score",)
    for text, doc in zip(TEXTS, nlp.pipe(TEXTS), strict=True):
        alone, among_others = nlp(text)._.relations, doc._.relations
        for name in numbers:  # products of another size may differ in their last digits
            expected = [fact[name] for fact in alone]
            assert [fact[name] for fact in among_others] == pytest.approx(expected, rel=1e-5)
        assert [without(fact, numbers) for fact in among_others] == [without(fact, numbers) for fact in alone]


def test_the_backend_can_be_chosen(model):
    nlp = pipeline(model=str(model), device="cpu", backend="torch")
    assert nlp.get_pipe("unnoted").extractor.backend == "torch"
    with pytest.raises(ValueError, match="backend"):
        pipeline(model=str(model), device="cpu", backend="pen and paper")


def without(fact, names):
    return {name: value for name, value in fact.items() if name not in names}


def test_a_pipeline_names_what_is_missing_and_what_is_assigned():
    with pytest.raises(ConfigValidationError, match="model"):
        pipeline(threshold=0.5)
    with pytest.raises(ValueError, match="nowhere"):
        pipeline(model="/nowhere")
    assert Doc.has_extension("relations")
    meta = spacy.Language.get_factory_meta("unnoted")
    assert (meta.assigns, meta.requires) == (["doc._.relations"], ["doc.ents"])


def test_the_entry_point_leads_here_and_loads_no_model_library():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["unnoted"].partition(":")
    assert module == component.__name__ and callable(getattr(component, name))
    code = f"import sys, {module}; sys.exit('transformers' in sys.modules or 'unnoted.models.model' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
