"""`unnoted predict --text`, as a user types it."""

import json

import pytest
import spacy
import torch
import typer
from tests.unit.inference.making import saved_model
from typer.testing import CliRunner

from unnoted.cli.predict import predict
from unnoted.data.ner import TextReader
from unnoted.inference import Extractor

app = typer.Typer()
app.command()(predict)
TEXTS = {"one.txt": "Ada met Bo in Kelm. Ada slept.\n", "two.txt": "Bo likes Kelm, and 9 cats.\n"}
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada"},
    {"label": "PERSON", "pattern": "Bo"},
    {"label": "GPE", "pattern": "Kelm"},
    {"label": "CARDINAL", "pattern": "9"},
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"), entity_types=["LOC", "PER"])


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path_factory.mktemp("nlp"))
    return nlp, tmp_path_factory.getbasetemp() / "nlp0"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, "utf-8")
    return list(TEXTS)


def run(*arguments, code=0, given=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)
    assert result.exit_code == code, result.output
    return result


def found(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_text_gives_what_the_documents_made_of_it_give(model, pipeline, files, tmp_path):
    nlp, folder = pipeline
    to = tmp_path / "facts.jsonl"
    told = run(model, "--text", *files, "--entities", folder, "--to", to)
    assert told.stderr.startswith("note: ") and "CARDINAL" in told.stderr and told.stderr.count("\n") == 1
    documents = TextReader.load(nlp, ["LOC", "PER"], log=str).read(TEXTS.items())
    expected = Extractor.from_pretrained(model, device="cpu").extract(documents)
    assert found(to) == json.loads(json.dumps([extraction.to_json() for extraction in expected]))
    assert [record["id"] for record in found(to)] == files


@pytest.mark.parametrize("order", ["{} one.txt --text", "{} --text -", "--text {} one.txt"])
def test_text_from_files_and_standard_input(order, model, pipeline, files):
    words = [str(model) if word == "{}" else word for word in order.split()]
    shown = run(*words, "--entities", pipeline[1], "--type", "CARDINAL=", given=TEXTS["one.txt"])
    assert shown.stdout.splitlines()[0] in ("one.txt", "standard input") and shown.stderr == ""


def test_errors_are_one_line(model, pipeline, files, tmp_path):
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "latin.txt").write_bytes("größer".encode("latin-1"))
    ruler = ("--entities", pipeline[1])
    cases = {
        (model, "--text", "empty.txt", *ruler): "empty.txt",
        (model, "--text", "latin.txt", *ruler): "latin.txt",
        (model, "--text", "one.txt", "--entities", "nowhere"): "nowhere",
        (model, "--text", "one.txt", *ruler, "--type", "PERSON"): "'PERSON'",
        (model, "--text", "one.txt", *ruler, "--type", "PERSON=PRE"): "'PRE'",
        (model, "one.txt", *ruler): "--entities",
        (model, "--text", "one.txt", *ruler, "--to", "one.txt"): "one.txt",
    }
    for arguments, message in cases.items():
        told = run(*arguments, code=1).stderr
        assert told.startswith("error: ") and message in told and told.count("\n") == 1, told


def test_a_text_without_entities_is_told(model, pipeline, tmp_path):
    (tmp_path / "plain.txt").write_text("It rained.")
    shown = run(model, "--text", tmp_path / "plain.txt", "--entities", pipeline[1])
    assert "note: no entity found in 1 document of 1\n" in shown.stderr and "no fact found" in shown.stdout
