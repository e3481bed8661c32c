"""`unnoted predict` into frames and pages."""

import csv
import gzip

import pyarrow.parquet as pq
import pytest
import torch
import typer
from tests.markup import parse
from tests.unit.inference.making import corpus, saved_model
from typer.testing import CliRunner

from unnoted.cli import predict as command
from unnoted.data.formats import write_documents
from unnoted.inference import Extractor

app = typer.Typer()
app.command()(command.predict)
DOCUMENTS = corpus()[:3]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def expected(model):
    return list(Extractor.from_pretrained(model, device="cpu").extract(DOCUMENTS))


@pytest.fixture
def predicted(model, tmp_path):
    """Runs the command and gives the file that it wrote."""
    write_documents(tmp_path / "documents.jsonl", DOCUMENTS)

    def run(name, *options):
        arguments = [model, tmp_path / "documents.jsonl", "--to", tmp_path / name, *options]
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return tmp_path / name

    return run


def triples(expected):
    return [
        (each.document.id, fact.head, fact.relation, fact.tail) for each in expected for fact in each.facts
    ]


def test_the_name_decides_the_format(predicted, expected):
    with open(predicted("facts.csv"), newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [
        (row["document"], int(row["head"]), row["relation"], int(row["tail"])) for row in rows
    ] == triples(expected)
    table = pq.read_table(predicted("facts.parquet")).to_pylist()
    assert [(row["document"], row["head"], row["relation"], row["tail"]) for row in table] == triples(
        expected
    )
    packed = gzip.decompress(predicted("facts.csv.gz").read_bytes())
    assert packed == predicted("other", "--format", "csv").read_bytes()


def test_a_page_with_the_facts_drawn_in_their_documents(predicted, expected, model):
    root = parse(predicted("facts.html").read_text("utf-8"))
    entries = list(root.all("details"))
    assert [entry.only("span", class_="name").text for entry in entries] == [each.id for each in DOCUMENTS]
    for entry, extraction in zip(entries, expected, strict=True):
        surest = sorted(extraction.facts, key=lambda fact: -fact.score)
        rows = [
            (int(row.attributes["data-head"]), int(row.attributes["data-tail"]))
            for row in entry.all("tr", class_="fact")
        ]
        assert rows == [(fact.head, fact.tail) for fact in surest]
        sentences = [int(line.attributes["data-sentence"]) for line in entry.all("p", class_="sentence")]
        assert sentences == list(range(len(extraction.document.sentences)))
    facts = sum(len(each.facts) for each in expected)
    assert f"{facts} facts predicted in 3 documents by the model {model.name}." in root.only("header").text


def test_a_page_of_too_many_documents_says_where_it_ends(predicted, monkeypatch):
    monkeypatch.setattr("unnoted.data.visualization.MOST_DOCUMENTS", 2)
    root = parse(predicted("facts.html").read_text("utf-8"))
    assert len(list(root.all("details"))) == 2
    assert "The first 2 of 3 documents are shown here." in root.only("header").text
