"""Files of annotation tools after decisions, and parts of them: what was decided, and everything else as it was."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.data.test_tool_round_trips import row_documents, tool_documents

from unnoted.data import DataError, load_documents, write_documents
from unnoted.data.convert import write_selected
from unnoted.data.decisions import Decision, apply_decisions
from unnoted.data.formats import FORMATS

FILES = {
    "brat": "out",
    "label-studio": "a.json",
    "prodigy": "a.jsonl",
    "spacy": "a.spacy",
    "columns": "a.jsonl",
    "parquet": "a.parquet",
}


def content(path):
    if path.is_dir():
        return {
            file.relative_to(path): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()
        }
    return path.read_bytes()


def pairs(document):
    count = len(document.entities)
    return [(head, tail) for head in range(count) for tail in range(count) if head != tail]


@st.composite
def decided(draw, documents):
    """Documents, and decisions about facts that they have or have not."""
    listed = draw(st.lists(documents, min_size=1, max_size=2, unique_by=lambda document: document.id))
    decisions = []
    for document in listed:
        known = [fact.triple for fact in document.facts]
        new = [(*pair, "new") for pair in pairs(document)]
        if known or new:
            triples = draw(st.lists(st.sampled_from(known + new), max_size=4, unique=True))
            who = draw(st.sampled_from([{}, {"by": "Ada", "p": 0.5}]))
            decisions += [
                Decision(document.id, *triple, holds=draw(st.booleans()), provenance=who)
                for triple in triples
            ]
    return listed, decisions


def expected(document, decisions):
    mine = [decision for decision in decisions if decision.document == document.id]
    facts = {fact.triple for fact in document.facts} | {d.triple for d in mine if d.holds}
    negatives = set(document.negatives) | {d.triple for d in mine if not d.holds}
    return facts - {d.triple for d in mine if not d.holds}, negatives - {d.triple for d in mine if d.holds}


def check(format, case):
    documents, decisions = case
    with TemporaryDirectory() as folder:
        source, same, to = (Path(folder) / part / FILES[format] for part in "abc")
        for path in (source, same, to):
            path.parent.mkdir()
        write_documents(source, documents, format)
        read = list(load_documents(source))
        apply_decisions(source, [], same)
        assert content(same) == content(source)
        apply_decisions(source, decisions, to)
        for before, after in zip(read, load_documents(to), strict=True):
            facts, negatives = expected(before, decisions)
            assert {fact.triple for fact in after.facts} == facts
            assert set(after.negatives) == negatives
            assert replace(after, facts=before.facts, negatives=before.negatives) == before


@pytest.mark.parametrize("format", ["brat", "label-studio", "prodigy"])
@settings(max_examples=8, deadline=None)
@given(case=decided(tool_documents()))
def test_decisions_are_all_that_changes_in_marked_text(format, case):
    check(format, case)


@pytest.mark.parametrize("format", ["columns", "parquet"])
@settings(max_examples=6, deadline=None)
@given(case=decided(row_documents()))
def test_decisions_are_all_that_changes_in_rows(format, case):
    check(format, case)


@settings(max_examples=5, deadline=None)
@given(documents=st.lists(tool_documents(), min_size=1, max_size=1))
def test_decisions_are_all_that_changes_in_a_docbin(documents):
    """Decisions are about what was read: spaCy has an order of its own."""
    with TemporaryDirectory() as folder:
        write_documents(Path(folder) / "a.spacy", documents)
        read = load_documents(Path(folder) / "a.spacy")[0]
    decisions = [
        Decision(read.id, *pair, "new", holds=pair[0] < pair[1], provenance={"by": "Ada"})
        for pair in pairs(read)[:3]
    ]
    check("spacy", ([read], decisions))


@pytest.mark.parametrize("format", FILES)
def test_a_part_of_a_file_has_its_records_as_they_are(format, tmp_path):
    from unnoted.data.synthetic import generate_documents

    documents = [
        replace(d, facts=tuple(replace(f, evidence=()) for f in d.facts)) for d in generate_documents(3)
    ]
    source, whole, part = (
        tmp_path / FILES[format],
        tmp_path / f"b{FILES[format]}",
        tmp_path / f"c{FILES[format]}",
    )
    write_documents(source, documents, format)
    read = list(load_documents(source))
    write_selected([source], read, whole)
    write_selected([source], read[1:2], part)
    assert list(load_documents(whole)) == read
    assert list(load_documents(part)) == read[1:2]
    if format not in ("spacy", "parquet"):
        assert whole.is_dir() or whole.read_bytes() == source.read_bytes()
        if whole.is_dir():
            assert content(whole) == content(source)
            assert content(part).items() < content(source).items()
        else:
            records = [line.strip("[],\n") for line in source.read_text().split("\n")]
            assert part.read_text().strip("[],\n") == records[1]


def test_only_formats_with_a_writer_for_decisions_are_mended(tmp_path):
    (tmp_path / "note.txt").write_text("Ada met Bo.")
    with pytest.raises(DataError, match="found plain text, expected a format that can be updated"):
        apply_decisions(tmp_path / "note.txt", [], tmp_path / "out.txt")
    assert {key for key, entry in FORMATS.items() if entry.select} >= FILES.keys()


BRAT = """T1\tORG 0 4\tSony
T2\tMERGE 14 27\tjoint venture
T3\tORG 33 41\tEricsson
E1\tMERGE:T2 Org1:T1 Org2:T3
R7\tPartner Arg1:T1 Arg2:T3
A1\tNegation E1
#1\tAnnotatorNotes R7\tquite sure
#2\tAnnotatorNotes T1\tsuspect
"""


@pytest.fixture
def brat(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "annotation.conf").write_text("[entities]\nORG\n")
    (folder / "a.txt").write_text("Sony formed a joint venture with Ericsson, a company.\n")
    (folder / "a.ann").write_text(BRAT)
    return folder


def test_brat_keeps_what_is_not_understood_and_numbers_go_on(brat, tmp_path):
    apply_decisions(
        brat, [Decision("a", 2, 1, "Part", holds=True, provenance={"by": "Ada"})], tmp_path / "out"
    )
    added = 'R8\tPart Arg1:T3 Arg2:T2\n#3\tProvenance R8\t{"by": "Ada"}\n'
    assert (tmp_path / "out" / "a.ann").read_text() == BRAT + added
    assert (tmp_path / "out" / "annotation.conf").read_text() == "[entities]\nORG\n"


def test_a_rejected_relation_of_brat_takes_its_notes_along(brat, tmp_path):
    report = apply_decisions(brat, [Decision("a", 0, 2, "Partner", holds=False)], tmp_path / "out")
    lines = [line for line in BRAT.splitlines(keepends=True) if "R7" not in line]
    assert (tmp_path / "out" / "a.ann").read_text() == "".join(lines) + "#3\tKnownNegative T1\tPartner T3\n"
    assert (report.removed, report.rejected) == (1, 1)
    again = load_documents(tmp_path / "out")[0]
    assert (again.facts, again.negatives) == ((), ((0, 2, "Partner"),))


def region(ref, start, end, kind, name):
    value = {"start": start, "end": end, "text": name, "labels": [kind]}
    return {
        "id": ref,
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
        "origin": "manual",
    }


def relation(head, tail, *labels, direction="right"):
    return {
        "from_id": head,
        "to_id": tail,
        "type": "relation",
        "direction": direction,
        "labels": list(labels),
    }


def task(number, result, **more):
    choices = {
        "id": "c",
        "type": "choices",
        "from_name": "x",
        "to_name": "text",
        "value": {"choices": ["ok"]},
    }
    annotation = {"id": number, "result": [*result, choices], "lead_time": 1.5, "was_cancelled": False}
    return {
        "id": number,
        "data": {"text": "Ada met Bo."},
        "annotations": [annotation],
        "predictions": [3],
        **more,
    }


REGIONS = [region("x1", 0, 3, "PER", "Ada"), region("x2", 8, 10, "PER", "Bo")]


def test_label_studio_keeps_what_is_not_understood(tmp_path):
    tasks = [
        task(1, [*REGIONS, relation("x1", "x2", "met", "likes", direction="bi")], meta={"mine": 1}),
        task(2, REGIONS),
    ]
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps(tasks, indent=2))
    apply_decisions(source, [Decision("1", 1, 0, "met", holds=False, provenance={"by": "Ada"})], to)
    mended = json.loads(to.read_text())
    assert mended[1] == tasks[1]
    assert json.dumps(tasks[1], indent=2).replace("\n", "\n  ") in to.read_text()  # to the letter
    result = mended[0]["annotations"][0].pop("result")
    kept = [*REGIONS, tasks[0]["annotations"][0]["result"][3]]
    assert result[:3] == kept
    assert result[3:] == [
        relation("x1", "x2", "met"),
        relation("x1", "x2", "likes"),
        relation("x2", "x1", "likes"),
    ]
    negative = {"head": "x2", "tail": "x1", "relation": "met"}
    said = negative | {"holds": False, "provenance": {"by": "Ada"}}
    assert mended[0]["meta"] == {"mine": 1, "unnoted": {"negatives": [negative], "provenance": [said]}}
    assert load_documents(to)[0].negatives == ((1, 0, "met"),)


def test_regions_that_were_imported_without_ids_get_some(tmp_path):
    bare = [{key: value for key, value in each.items() if key != "id"} for each in REGIONS]
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps([{"data": {"text": "Ada met Bo."}, "annotations": [{"result": bare}]}]))
    apply_decisions(source, [Decision("task 1", 0, 1, "met", holds=True)], to)
    (mended,) = json.loads(to.read_text())
    regions = [each | {"id": f"region-{number}"} for number, each in enumerate(bare)]
    assert mended["annotations"][0]["result"] == [*regions, relation("region-0", "region-1", "met")]
    assert [fact.triple for fact in load_documents(to)[0].facts] == [(0, 1, "met")]


def test_a_task_with_a_prediction_alone_gets_an_annotation(tmp_path):
    guess = {"model_version": "m", "result": [*REGIONS, relation("x1", "x2", "met")]}
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps([{"id": 5, "data": {"text": "Ada met Bo."}, "predictions": [guess]}]))
    before = load_documents(source)[0]
    assert (len(before.entities), before.facts) == (2, ())  # a guess is no label
    apply_decisions(source, [Decision("5", 0, 1, "met", holds=True)], to)
    (mended,) = json.loads(to.read_text())
    assert mended["predictions"] == [guess]
    assert mended["annotations"][0]["result"][:2] == REGIONS
    assert [fact.triple for fact in load_documents(to)[0].facts] == [(0, 1, "met")]
