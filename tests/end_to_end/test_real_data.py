"""Real data: the figures that are known of them."""

import json

import pytest
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import load_documents

pytestmark = pytest.mark.shared


def report(*paths):
    result = CliRunner().invoke(app, ["data", "check", "--json", *map(str, paths)])
    assert result.exit_code == 0, result.output
    (only,) = json.loads(result.stdout)
    return only


@pytest.mark.parametrize(
    ("name", "documents", "facts_per_document"),
    [
        ("train_annotated.json", 548, "12.50"),
        ("train_revised.json", 350, "34.53"),
        ("dev.json", 150, "12.21"),
        ("dev_revised.json", 150, "34.66"),
    ],
)
def test_docred(shared, name, documents, facts_per_document):
    statistics = report(shared / "data/docred" / name)["statistics"]
    assert statistics["documents"] == documents
    assert f"{statistics['facts_per_document']:.2f}" == facts_per_document


@pytest.mark.parametrize(
    ("texts", "rows", "documents", "accounted"),
    [
        ("train_abstracts.txt.gz", "train_relationships.tsv.gz", 1521,
         {"read": 3291, "kept": 3288, "wrong-type": 1, "duplicate-fact": 2}),
        ("curated_abstracts.txt.gz", "curated_all_relationships.tsv.gz", 252, {"read": 1954, "kept": 1954}),
    ],
)  # fmt: skip
def test_chemdisgene(shared, texts, rows, documents, accounted):
    folder = shared / "data/chemdisgene"
    found = report(folder / texts, folder / rows)
    assert found["statistics"]["documents"] == documents
    assert found["relation_rows"] == accounted
    assert found["statistics"]["candidates"] == [
        ["Chemical", "Disease"],
        ["Chemical", "Gene"],
        ["Gene", "Disease"],
    ]


def test_no_development_document_is_in_train(shared):
    folder = shared / "data/docred"
    train, dev = (
        {document.id for document in load_documents(folder / name)}
        for name in ("train_annotated.json", "dev.json")
    )
    assert not train & dev


def test_compare_development_labellings(shared):
    files = [str(shared / "data/docred" / name) for name in ("dev.json", "dev_revised.json")]
    result = CliRunner().invoke(app, ["data", "compare", "--json", *files])
    comparison = json.loads(result.stdout)
    assert comparison["documents_compared"] == 138
    assert len(comparison["not_compared"]["entities_differ"]) == 12
    assert comparison["overall"]["ratio"] == pytest.approx(2.837, abs=1e-3)
