"""Facts that know their entities, as frames and files."""

import csv
import json
import sys

import pyarrow.parquet as pq
import pytest
from tests.unit.inference.making import corpus, reading_model, results_of

from unnoted.data.document import Document, Entity, Mention
from unnoted.inference import ExtractedFact, Extraction, ExtractionStream, Extractor, FactEntity
from unnoted.inference.facts import Results
from unnoted.inference.scoring import Decision
from unnoted.inference.writers import FACT_COLUMNS, RESULT_FORMATS, fact_schema, write_csv, write_parquet
from unnoted.utils import MissingExtra

ADA = Entity((Mention(0, 0, 1, "PER", "Ada"), Mention(1, 0, 1, "PER", "Ada")), "Q7259")
ROME = Entity((Mention(0, 2, 3, "LOC", "Rome, the city"),))
DOCUMENT = Document(
    "d1", (("Ada", "saw", "Rome", "."), ("Ada", "left", ".")), (ADA, ROME), text="Ada saw  Rome. Ada left."
)
FACT = ExtractedFact(0, 1, "P1", "visited", 0.9, (0, 1), calibrated=True)


def extraction(document=DOCUMENT, *facts):
    return Extraction(document, facts or (FACT,))


def test_a_fact_knows_its_entities():
    (fact,) = extraction().facts
    assert fact == FACT  # what it knows besides makes it no other fact
    assert fact.head_entity == FactEntity("Ada", "PER", "Q7259", ((0, 3), (15, 18)))
    assert fact.tail_entity == FactEntity("Rome, the city", "LOC", None, ((9, 13),))


def test_the_record_has_what_a_reader_needs_beside_what_it_had():
    record = extraction().to_json()
    (fact,) = record["facts"]
    assert json.loads(json.dumps(fact)) == {
        "head": 0, "tail": 1, "relation": "P1", "head_name": "Ada", "tail_name": "Rome, the city",
        "relation_name": "visited", "score": 0.9, "calibrated": True, "evidence": [0, 1],
        "sentences": ["Ada saw  Rome.", "Ada left."], "head_type": "PER", "tail_type": "LOC",
        "head_id": "Q7259", "tail_id": None, "head_offsets": [[0, 3], [15, 18]], "tail_offsets": [[9, 13]],
    }  # fmt: skip
    without = Document("d1", DOCUMENT.sentences, DOCUMENT.entities)
    assert "head_offsets" not in extraction(without).to_json()["facts"][0]


def test_a_frame_has_one_row_for_each_fact():
    other = ExtractedFact(1, 0, "P2", "visited by", 0.2)
    frame = ExtractionStream([extraction(DOCUMENT, FACT, other), extraction(corpus()[0])]).to_pandas()
    assert list(frame.columns) == list(FACT_COLUMNS) and len(frame) == 3
    first = frame.iloc[0]
    assert (first["document"], first["head_name"], first["relation_name"]) == ("d1", "Ada", "visited")
    assert first["evidence"] == [0, 1] and first["head_offsets"] == [(0, 3), (15, 18)]
    assert frame["calibrated"].tolist() == [True, False, True]
    empty = ExtractionStream([]).to_pandas()
    assert len(empty) == 0 and empty.dtypes["score"] == "float64"
    assert len(extraction().to_pandas()) == 1


def test_what_an_extractor_gives_is_a_stream_with_a_frame():
    documents = corpus()[:3]
    extractor = Extractor(reading_model())
    stream = extractor.extract(documents, threshold=0.3)
    first = next(stream)
    rest = stream.to_pandas()
    assert first.document.id == documents[0].id
    assert set(rest["document"]) <= {document.id for document in documents[1:]} and len(rest)


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"unnoted\[frames\]"):
        extraction().to_pandas()


def test_csv(tmp_path):
    hostile = Entity((Mention(0, 0, 1, "PER", 'A "quoted", name\nin two lines'),))
    document = Document("d2", (("x", "y"),), (hostile, ROME))
    write_csv(
        tmp_path / "facts.csv",
        results_of(
            [extraction().to_json(), extraction(document, ExtractedFact(0, 1, "r", "r", 0.5)).to_json()]
        ),
    )
    with open(tmp_path / "facts.csv", newline="", encoding="utf-8") as stream:
        first, second = csv.DictReader(stream)
    assert list(first) == list(FACT_COLUMNS)
    assert (first["evidence"], first["head_offsets"], first["tail_id"]) == ("0 1", "0-3 15-18", "")
    assert first["sentences"].split("\n") == ["Ada saw  Rome.", "Ada left."]
    assert second["head_name"] == 'A "quoted", name\nin two lines' and second["rule"] == ""


def test_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr("unnoted.inference.writers.ROW_GROUP", 2)
    write_parquet(tmp_path / "facts.parquet", results_of([extraction().to_json()] * 5))
    table = pq.read_table(tmp_path / "facts.parquet")
    assert table.schema.equals(fact_schema()) and table.num_rows == 5
    row = table.to_pylist()[4]
    assert row["head_offsets"] == [[0, 3], [15, 18]] and row["tail_id"] is None
    assert pq.ParquetFile(tmp_path / "facts.parquet").num_row_groups == 3
    write_parquet(tmp_path / "none.parquet", results_of([]))
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_every_format_of_results_writes_the_same_results(tmp_path):
    for name, format in RESULT_FORMATS.items():
        records = [extraction().to_json()]
        results = Results(records, lambda: iter([DOCUMENT]), "model", Decision(0.5, None))
        format.write(tmp_path / f"facts.{name}", results)
        written = (tmp_path / f"facts.{name}").read_bytes()
        assert b"visited" in written or (name == "docred" and b"P1" in written)


def test_a_file_that_fails_leaves_the_old_one(tmp_path):
    def failing():
        yield extraction().to_json()
        raise RuntimeError("stopped")

    for write, name in ((write_csv, "facts.csv"), (write_parquet, "facts.parquet")):
        (tmp_path / name).write_text("old")
        with pytest.raises(RuntimeError):
            write(tmp_path / name, results_of(failing()))
        assert (tmp_path / name).read_text() == "old"


def test_a_short_repr_and_html_for_notebooks():
    assert repr(extraction()) == "<Extraction of 'd1': 1 fact>"
    html = extraction()._repr_html_()
    assert (
        "visited" in html
        and "0.900" in html
        and "Probability" in html
        and html.count('<tr class="fact"') == 1
    )
