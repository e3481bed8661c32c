"""Documents made to hurt are located errors or defects, in little time and memory; known negatives are checked."""

import gzip
import json
import resource
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from tests.strategies import documents
from tests.unit.data.formats.test_docred import GOOD, changed

from unnoted.data import load_documents
from unnoted.data.check import check_files
from unnoted.data.synthetic import generate_document
from unnoted.data.validation import validate_documents
from unnoted.errors import DataError, DefectKind

MEBI = 1 << 20


def jsonl(text=None, sentences=None, entities=(), **more):
    fields = {"id": "d", "entities": list(entities), **more}
    return json.dumps(fields | ({"text": text} if sentences is None else {"sentences": sentences}))


def entity(*spans, kind="T"):
    return {"type": kind, "mentions": [{"start": start, "end": end} for start, end in spans]}


def checked(tmp_path, content, name="file"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return check_files([path])


def examples(report):
    return {kind: report.log.examples[kind][0] for kind in report.log.counts}


DOCRED = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("content", "place", "found"),
    [
        (f"[{DOCRED[:-1]}, {DOCRED[1:]}]", "[0]", "the key 'title' twice in one object"),
        (
            DOCRED.join("[]").replace('"h":', '"t": 3, "h":', 1),
            "labels[0]",
            "the key 't' twice in one object",
        ),
        ('{"id": "a", "id": "b", "text": "x", "entities": []}', "line 1", "the key 'id' twice in one object"),
        (
            jsonl("Ada", entities=[entity((0, 3))]).replace('"end"', '"start": 1, "end"'),
            "entities[0].mentions[0]",
            "the key 'start' twice in one object",
        ),
        (json.dumps([changed(["vertexSet", 0, 0, "type"], "")]), "vertexSet[0][0].type", "''"),
        (json.dumps([changed(["labels", 0, "r"], "")]), "labels[0].r", "''"),
        (jsonl("Ada", entities=[entity((0, 3), kind="")]), "entities[0].mentions[0].type", "''"),
        (
            jsonl(
                "A B",
                entities=[entity((0, 1)), entity((2, 3))],
                facts=[{"head": 0, "tail": 1, "relation": ""}],
            ),
            "facts[0].relation",
            "''",
        ),
        ("1|t|ab\n1|a|cd\n1\t٠\t٢\tab\tT\tX\n", "line 3, start/end", "'٠' to '٢'"),
        (f"1|t|ab\n1|a|cd\n1\t0\t{'9' * 5000}\tab\tT\tX\n", "line 3, start/end", "'0' to '99999"),
        (
            json.dumps([changed(["vertexSet", 0, 0, "pos"], [0, 10**4000])]),
            "vertexSet[0][0].pos",
            "0 to 1000",
        ),
        (DOCRED.join("[]").replace("Ada", r"\ud800"), "vertexSet[0][0]", r"'\ud800'"),
    ],
)
def test_a_located_error(tmp_path, content, place, found):
    report = checked(tmp_path, content)
    (defect,) = report.log.examples[DefectKind.MALFORMED]
    assert defect.field == place and defect.found.startswith(found)
    assert len(str(defect)) < 700 and str(defect).isprintable()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            f"[{DOCRED}, {{'a': ".replace("'", '"') + "1" * 5000 + "}]",
            "a number of thousands of digits in document 2",
        ),
        (f"[{DOCRED}, {'[' * 1000}{']' * 1000}]", "JSON nested too deeply in document 2"),
        (f'[{DOCRED}, {{"a": NaN}}]', "NaN is not JSON in document 2"),
    ],
)
def test_an_error_that_ends_the_reading(tmp_path, content, found):
    report = checked(tmp_path, content)
    assert report.statistics.documents == 1
    assert examples(report)[DefectKind.UNREADABLE].found == found


def test_a_lone_surrogate_in_the_name_of_a_field_is_reported(tmp_path):
    report = checked(tmp_path, f'[{DOCRED[:-1]}, "\\ud800": "\\udfff"}}]')
    assert not report.usable and str(examples(report)[DefectKind.MALFORMED]).isprintable()


def test_ids_of_one_entity_that_differ_are_a_defect_and_the_first_counts(tmp_path):
    record = json.loads(DOCRED)
    record["vertexSet"][0].append(dict(record["vertexSet"][0][0]))
    for number, mention in enumerate(record["vertexSet"][0]):
        mention["id"] = f"Q{number}"
    path = tmp_path / "train.json"
    path.write_text(json.dumps([record]))
    corpus = load_documents(path)
    assert corpus[0].entities[0].id == "Q0"
    assert corpus.log.counts[DefectKind.CONFLICTING_ID] == len(record["vertexSet"][0]) - 1
    assert "'Q1', expected 'Q0', the id of the entity" in str(
        corpus.log.examples[DefectKind.CONFLICTING_ID][0]
    )
    with pytest.raises(DataError, match=r"vertexSet\[0\]\[1\]\.id"):
        load_documents(path, strict=True)


@pytest.mark.parametrize(
    ("content", "variable", "found"),
    [
        (jsonl("a b c d"), "UNNOTED_MAX_WORDS", "4 words"),
        (jsonl(sentences=[["a"]] * 4), "UNNOTED_MAX_WORDS", "4 words"),
        (json.dumps([{"title": "d", "vertexSet": [], "sents": [["a"]] * 4}]), "UNNOTED_MAX_WORDS", "4 words"),
        (jsonl("a b c", entities=[entity((0, 1))] * 4), "UNNOTED_MAX_ENTITIES", "4 entities"),
        (jsonl("a b c", entities=[entity(*[(0, 1)] * 4)]), "UNNOTED_MAX_MENTIONS", "4 mentions or more"),
        (jsonl("abcdef", entities=[entity((0, 6))]), "UNNOTED_MAX_MENTION", "6 characters in one mention"),
        (
            jsonl(sentences=[["a"] * 6], entities=[{"type": "T", "mentions": [{"sentence": 0, "start": 0, "end": 6}]}]),
            "UNNOTED_MAX_MENTION",
            "6 words in one mention",
        ),
        (
            jsonl("a b", entities=[entity((0, 1)), entity((2, 3))],
                  facts=[{"head": 0, "tail": 1, "relation": str(number)} for number in range(4)]),
            "UNNOTED_MAX_FACTS",
            "4 facts",
        ),
        ("1|t|ab\n1|a|cd\n1\t0\t2\tab\tT\tA;B;C;D\n", "UNNOTED_MAX_ENTITIES", "4 ids of one mention"),
    ],
)  # fmt: skip
def test_a_limit_names_what_was_found_what_is_allowed_and_how_to_raise_it(
    tmp_path, monkeypatch, content, variable, found
):
    monkeypatch.setenv(variable, "3")
    report = checked(tmp_path, content)
    defect = examples(report)[DefectKind.TOO_LARGE]
    assert (defect.found, defect.expected) == (found, f"at most 3 ({variable})")
    monkeypatch.setenv(variable, "12")
    assert checked(tmp_path, content).usable


def overlapping(mentions):
    text = "ab " * 300
    return jsonl(
        text, entities=[entity(*[(number % 297 * 3, 899 - number // 297) for number in range(mentions)])]
    )


NESTED = "ab " * 100_000
TYPES = [entity((0, 2), kind=f"T{number}") for number in range(2000)]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("overlapping", lambda: overlapping(20_000)),
        (
            "nested",
            lambda: jsonl(NESTED, entities=[entity(*[(3 * n, len(NESTED) - 1) for n in range(4000)])]),
        ),
        ("types", lambda: "\n".join(jsonl("ab", entities=TYPES).replace('"d"', f'"{n}"') for n in range(5))),
        ("line", lambda: '{"id": "' + "x" * 20_000_000),
        ("lists", lambda: '[{"title": "a", "vertexSet": [], "sents": [' + "[]," * 400_000 + "[]]}]"),
        ("bomb", lambda: gzip.compress(b'{"id": "' + b"x" * (100 * MEBI))),
        pytest.param(
            "packed",
            lambda: gzip.compress(b'[{"title": "a", "sents": [' + b"[]," * (9 * MEBI)),
            marks=pytest.mark.slow,
        ),
        ("ids", lambda: "1|t|ab\n1|a|cd\n1\t0\t2\tab\tT\t" + ";".join(map(str, range(300_000)))),
    ],
)
def test_time_and_memory_stay_in_proportion(tmp_path, name, make):
    content = make()
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    program = "import sys; from unnoted.data.check import check_files; check_files([sys.argv[1]])"
    most = 50 * path.stat().st_size + 500 * MEBI
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@given(documents)
def test_documents_of_every_shape_are_valid(document):
    validate_documents([document], "made")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda d: replace(d, facts=(replace(d.facts[0], head=99),)), "facts[0].head"),
        (lambda d: replace(d, facts=(replace(d.facts[0], evidence=(99,)),)), "facts[0].evidence"),
        (lambda d: replace(d, entities=(replace(d.entities[0], mentions=()),), facts=()), "entities[0]"),
        (lambda d: replace(d, negatives=((0, 99, "r"),)), "negatives[0].tail"),
        (lambda d: replace(d, negatives=(d.facts[0].triple,)), "negatives[0]"),
        (
            lambda d: replace(d, sentences=(("\ud800",), *d.sentences[1:]), entities=(), facts=()),
            "sentence 0",
        ),
    ],
)
def test_documents_of_a_program_are_located_too(change, field):
    with pytest.raises(DataError) as caught:
        validate_documents([generate_document(0), change(generate_document(1))], "made")
    defect = caught.value.defect
    assert (defect.file, defect.document, defect.field) == ("made", "generated-0-1", field)
