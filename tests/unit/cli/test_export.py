"""`unnoted export`, and predictions with what it wrote, as a user types them."""

import json

import pytest
import torch
from tests.unit.cli.running import run
from tests.unit.inference.making import corpus, reading_model, saved_model

from unnoted.data.formats import write_documents
from unnoted.models.type_constraints import RelationTypes


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    model = reading_model(torch.float32)
    model.relation_types = RelationTypes.from_documents(corpus()[6:])
    model.config.undertrained = "trained for 3 steps, of which 7 are its warm-up"
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "documents.jsonl"
    write_documents(path, corpus()[:4])
    return path


def facts_in(path):
    return sum(len(json.loads(line)["facts"]) for line in path.read_text("utf-8").splitlines())


def test_any_types_is_an_option(model, documents, tmp_path):
    typed, free = tmp_path / "typed.jsonl", tmp_path / "free.jsonl"
    told = run("predict", model, documents, "--to", typed).stderr
    assert told.count("note: this model was trained for 3 steps, of which 7 are its warm-up") == 1
    run("predict", model, documents, "--to", free, "--any-types")
    assert 0 < facts_in(typed) < facts_in(free)


def test_what_is_wrong_is_one_line(model, documents, tmp_path):
    refused = run("predict", model, documents, "--backend", "onnx", code=1).stderr
    assert "no export.json" in refused
    taken = saved_model(tmp_path / "taken")
    assert "exists" in run("export", model, "--to", taken, code=1).stderr
    assert run("export", model, "--to", model, code=1).stderr.startswith("error: ")


@pytest.mark.slow
def test_export_and_predict(model, documents, tmp_path):
    told = run("export", model, "--int8", "--to", tmp_path / "int8").stdout
    assert told.startswith("8-bit ONNX encoder written to")
    run("predict", tmp_path / "int8", documents, "--to", tmp_path / "facts.jsonl", "--backend", "onnx")
    assert facts_in(tmp_path / "facts.jsonl") > 0
