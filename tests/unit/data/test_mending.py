"""A mended file has what was decided, and everything else as it was, byte for byte."""

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import RELATIONS, corpora

from unnoted.data import load_documents, stream_documents
from unnoted.data.check import check_files
from unnoted.data.decisions import Decision, apply_decisions
from unnoted.data.formats import FORMATS, DocumentFormat, docred, jsonl, register_format
from unnoted.errors import DataError, DefectLog

STYLES = [{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": "\t"}]


@st.composite
def decided(draw):
    """Documents, and decisions about any of their pairs, also twice and about what is labelled."""
    documents = draw(corpora)
    wide = [document for document in documents if len(document.entities) > 1]
    decisions = []
    for document in draw(st.lists(st.sampled_from(wide), max_size=6)) if wide else []:
        noted = [fact.triple for fact in document.facts] + list(document.negatives)
        pairs = st.permutations(range(len(document.entities))).map(lambda order: order[:2])
        fresh = st.builds(lambda pair, relation: (*pair, relation), pairs, RELATIONS)
        triple = draw(st.sampled_from(noted) | fresh if noted else fresh)
        evidence = (0,) if document.sentences and draw(st.booleans()) else ()
        about = {"by": "Ada, ☂"} if draw(st.booleans()) else {}
        decisions.append(Decision(document.id, *triple, draw(st.booleans()), evidence, about))
    return documents, decisions


def wanted(document, decisions):
    """Facts and known negatives after the decisions, one after the other."""
    facts, negatives = {fact.triple for fact in document.facts}, set(document.negatives)
    for each in decisions:
        if each.document == document.id:
            here, there = (facts, negatives) if each.holds else (negatives, facts)
            here.add(each.triple)
            there.discard(each.triple)
    return facts, negatives


def texts(documents, style):
    """The documents in both JSON formats, with keys that nobody knows and a number that JSON would respell."""
    strange = {"mine": "MARK", "strange": [None, {"a": 1}]}
    theirs = json.dumps([{**strange, **docred.record(each)} for each in documents], **style)
    ours = "\n\n".join(
        json.dumps({**strange, **jsonl.record(each)}, **{**style, "indent": None}) for each in documents
    )
    return {"a.json": theirs.replace('"MARK"', "1.50e0"), "a.jsonl": ours.replace('"MARK"', "1.50e0") + "\n"}


@settings(max_examples=25, deadline=None)
@given(decided(), st.sampled_from(STYLES), st.sampled_from(["", "\ufeff"]))
def test_what_was_decided_is_read_again_and_the_rest_is_as_it_was(drawn, style, mark):
    documents, decisions = drawn
    for name, text in texts(documents, style).items():
        with TemporaryDirectory() as folder:
            source, to = Path(folder, name), Path(folder, f"mended-{name}")
            source.write_bytes((mark + text).encode())
            report = apply_decisions(source, decisions, to)
            for before, after in zip(documents, stream_documents(to, log=DefectLog()), strict=True):
                facts, negatives = wanted(before, decisions)
                assert (after.labels, set(after.negatives)) == (facts, negatives)
                assert before.with_facts(()).entities == after.entities and before.text == after.text
                kept = [fact for fact in before.facts if fact.triple in facts]
                assert list(after.facts)[: len(kept)] == kept
            assert report.files == (to,)
            assert to.read_text("utf-8").count("1.50e0") == len(documents)
            again = Path(folder, f"again-{name}")
            assert apply_decisions(to, decisions, again).added == 0
            assert again.read_bytes() == to.read_bytes()


@settings(max_examples=15, deadline=None)
@given(corpora, st.sampled_from(STYLES), st.sampled_from(["\n", "\r\n"]))
def test_without_decisions_every_byte_stays(documents, style, end):
    for name, text in texts(documents, style).items():
        with TemporaryDirectory() as folder:
            source, to = Path(folder, name), Path(folder, f"mended-{name}")
            source.write_bytes(text.replace("\n", end).encode())
            apply_decisions(source, [], to)
            assert to.read_bytes() == source.read_bytes()


def test_only_the_lists_change(tmp_path):
    """Written out once, so that one can see it."""
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    mentions = (
        '[[{"name": "Ada", "pos": [0,1], "sent_id": 0, "type": "PER", "x": 1e3}], '
        '[{"pos": [1, 2], "sent_id": 0, "type": "LOC", "name": "Rome"}]]'
    )
    head = f'[ {{"vertexSet": {mentions},\n  "labels": ['
    label = '{"r": "P1", "h": 0, "t": 1, "evidence": [ 0 ], "note": "ü"}'
    rest = '],\n  "title": "d", "sents": [["Ada", "Rome"]]} ]\n'
    source.write_text(head + label + rest, "utf-8")
    said = [
        Decision("d", 1, 0, "P2", True, (0,), {"by": "bo"}),
        Decision("d", 0, 1, "P1", False, provenance={"by": "cy"}),
    ]
    report = apply_decisions(source, said, to)
    assert (report.added, report.removed, report.rejected, report.unchanged) == (1, 1, 1, 0)
    new = '{"r": "P2", "h": 1, "t": 0, "evidence": [0], "provenance": {"by": "bo"}}'
    negative = '"negatives": [{"r": "P1", "h": 0, "t": 1, "provenance": {"by": "cy"}}]'
    tail = rest.replace('"Rome"]]}', f'"Rome"]], {negative}}}')
    assert to.read_text("utf-8") == head + new + tail


def test_ids_of_entities_are_understood(tmp_path):
    source, to = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    entities = [
        {"id": name, "type": "PER", "mentions": [{"start": start, "end": start + 1}]}
        for name, start in (("x", 0), ("y", 2))
    ]
    fact = {"head": "x", "tail": "y", "relation": "met"}
    source.write_text(json.dumps({"id": "d", "text": "a b", "entities": entities, "facts": [fact]}))
    report = apply_decisions(
        source, [Decision("d", 0, 1, "met", False), Decision("d", 0, 1, "met", False)], to
    )
    assert (report.removed, report.rejected) == (1, 1)
    assert to.read_bytes()[:2] == b"\x1f\x8b" and '"facts": []' in gzip.decompress(to.read_bytes()).decode()


PUBTATOR = (
    "1|t|Aspirin and fever\n1|a|Both.\n1\t0\t7\tAspirin\tChemical\tC1\n1\t12\t17\tfever\tDisease\tD1\n"
    "1\tCID\tC1\tD1\n\n2|t|Zinc and pain\n2|a|Both.\n2\t0\t4\tZinc\tChemical\tC2\n2\t9\t13\tpain\tDisease\tD2"
)
SAID = [
    Decision("1", 0, 1, "CID", False, provenance={"by": "ada"}),
    Decision("1", 1, 0, "cured-by", True),
    Decision("2", 0, 1, "CID", True, provenance={"by": "bo"}),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_pubtator_gets_lines_and_files_beside_it(tmp_path, end):
    source, to = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes(PUBTATOR.replace("\n", end).encode())
    report = apply_decisions(source, SAID, to)
    negatives, provenance = tmp_path / "b.txt.negatives.tsv", tmp_path / "b.txt.provenance.jsonl"
    assert report.files == (to, negatives, provenance)
    expected = PUBTATOR.replace("1\tCID\tC1\tD1", "1\tcured-by\tD1\tC1") + "\n2\tCID\tC2\tD2\n"
    assert to.read_bytes().decode() == expected.replace("\n", end)
    first, second = load_documents(to, negatives)
    assert first.labels == {(1, 0, "cured-by")} and first.negatives == ((0, 1, "CID"),)
    assert second.labels == {(0, 1, "CID")} and second.negatives == ()
    assert check_files([to, negatives]).relation_rows() == {"read": 3, "kept": 3}
    assert [json.loads(line)["provenance"] for line in provenance.open()] == [{"by": "ada"}, {"by": "bo"}]
    third = tmp_path / "c.txt", tmp_path / "c.tsv"
    apply_decisions(
        (to, negatives), [Decision("2", 1, 0, "CID", False), Decision("1", 0, 1, "CID", True)], third
    )
    first, second = load_documents(*third)
    assert (0, 1, "CID") in first.labels and second.negatives == ((1, 0, "CID"),)
    apply_decisions(to, [], tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_bytes() == to.read_bytes()


def test_relation_files_change_and_the_text_does_not(tmp_path):
    sources = text, rows = tmp_path / "a.txt", tmp_path / "a.tsv"
    text.write_text(PUBTATOR.replace("1\tCID\tC1\tD1\n", ""))
    rows.write_text("1\tCID\tC1\tD1\n2\tother\tD2\tC2\n")
    to = tmp_path / "b.txt", tmp_path / "b.tsv"
    apply_decisions(sources, SAID, to)
    assert to[0].read_bytes() == text.read_bytes()
    assert to[1].read_text() == "2\tother\tD2\tC2\n1\tcured-by\tD1\tC1\n2\tCID\tC2\tD2\n"
    assert (tmp_path / "b.txt.negatives.tsv").read_text() == "1\tCID\tC1\tD1\tfalse\n"


def test_ids_that_name_another_pair_are_refused(tmp_path):
    """A gene and a species share the number 9: a row could not say which is meant."""
    source = tmp_path / "a.txt"
    source.write_text("1|t|p53 in mice of C\n1|a|Yes.\n1\t0\t3\tp53\tGene\t9\n1\t7\t11\tmice\tSpecies\t9\n"
                      "1\t15\t16\tC\tChemical\tC1\n")  # fmt: skip
    with pytest.raises(DataError, match="found 9, C1, expected a relation and ids that name this pair alone"):
        apply_decisions(source, [Decision("1", 1, 2, "eats", True)], tmp_path / "b.txt")


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision("e", 0, 1, "met", True), r"decisions\[0\].document: found 'e', expected the id of a doc"),
        (Decision("1", 0, 9, "met", True), r"decisions\[0\].tail: found 9, expected an entity index below 2"),
        (Decision("1", 1, 1, "met", True), r"decisions\[0\].tail: found 1, expected another entity"),
        (Decision("1", 0, 1, " ", True), r"decisions\[0\].relation: found ' ', expected the name"),
        (
            Decision("1", 0, 1, "met", True, (7,)),
            r"decisions\[0\].evidence: found 7, expected sentences below",
        ),
    ],
)
def test_what_cannot_be_decided_is_named_and_nothing_is_written(tmp_path, decision, message):
    source = tmp_path / "a.txt"
    source.write_text(PUBTATOR)
    with pytest.raises(DataError, match=message):
        apply_decisions(source, [decision], tmp_path / "b.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_neither_the_source_nor_another_file_is_written_over(tmp_path):
    source, other = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text(PUBTATOR)
    other.write_text("mine")
    (tmp_path / "link.txt").symlink_to(source)
    (tmp_path / "hard.txt").hardlink_to(source)
    for name in ("a.txt", "link.txt", "hard.txt"):
        with pytest.raises(ValueError, match="found as input and as output"):
            apply_decisions(source, SAID, tmp_path / name, overwrite=True)
    with pytest.raises(ValueError, match="expected a new one; --overwrite replaces it"):
        apply_decisions(source, SAID, other)
    assert (source.read_text(), other.read_text()) == (PUBTATOR, "mine")
    apply_decisions(source, SAID, other, overwrite=True)
    assert other.read_text() != "mine"


def test_a_format_that_cannot_be_mended_says_so(tmp_path):
    def read(stream, context):
        return iter(())

    register_format(DocumentFormat("tagged", "tagged lines", lambda start: start[0] == "#", read))
    try:
        (tmp_path / "a.txt").write_text("# one")
        with pytest.raises(
            DataError, match=r"found tagged lines, expected a format that can be updated \(Doc"
        ):
            apply_decisions(tmp_path / "a.txt", [], tmp_path / "b.txt")
    finally:
        FORMATS.pop("tagged")
