"""Decisions written back: they are all that changes in a file, in every format that can be updated."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import corpora
from tests.unit.data.formats.test_annotated_text import row_documents, tool_documents

from unnoted.data import DataError, load_documents, stream_documents, write_documents
from unnoted.data.check import check_files
from unnoted.data.decisions import Decision, apply_decisions
from unnoted.data.formats import FORMATS, detect_format

NAMES = {
    "docred": "a.json",
    "jsonl": "a.jsonl",
    "label-studio": "a.json",
    "prodigy": "a.jsonl",
    "columns": "a.jsonl",
    "spacy": "a.spacy",
    "brat": "corpus",
    "pubtator": "a.txt",
}
STYLES = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}]
UNKNOWN = {"mine": "MARK", "strange": [None, {"a": "ü☂"}]}


# Files with things in them that nobody reads --------------------------------------------------------------------


def strange_json(path, style, end, extra=()):
    """A number is written as JSON never would write it, so that parsing and writing again would show."""
    text = path.read_text("utf-8")
    listed = text.startswith("[")
    records = json.loads(text) if listed else [json.loads(line) for line in text.split("\n") if line]
    records = [{**each, "x-unknown": UNKNOWN} for each in records] + list(extra)
    written = [json.dumps(each, **style).replace('"MARK"', "1.50e0") for each in records]
    whole = (
        f"[ {f' ,{end}'.join(written)} ]{end}" if listed else "".join(f"{each}{end}{end}" for each in written)
    )
    path.write_bytes(whole.encode())


def strange_docbin(path, style, end):
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    attrs = ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START", "LEMMA", "TAG")
    packed = DocBin(attrs=attrs, store_user_data=True)
    for doc in DocBin().from_disk(path).get_docs(Vocab()):
        for token in doc:
            token.lemma_, token.tag_ = f"lemma of {token.i}", "TAG"
        doc.user_data["x-unknown"] = {"a": ["ü"]}
        doc.cats, doc.spans["mine"] = {"sport": 0.25}, [doc[:1]]
        packed.add(doc)
    packed.to_disk(path)


def strange_brat(path, style, end):
    (path / "annotation.conf").write_text("[entities]\nORG\n")
    for file in path.rglob("*.ann"):
        marks = [line.split("\t")[0] for line in file.read_text("utf-8").split("\n") if line.startswith("T")]
        lines = [f"A{n}\tSure {ref} high\n#9{n}\tAnnotatorNotes {ref}\tü\n" for n, ref in enumerate(marks)]
        events = f"E1\tEvent:{marks[0]} \nM1\tNegation E1\n" if marks else ""
        file.write_bytes((file.read_text("utf-8") + "".join(lines) + events).encode())


def write_pubtator(path, documents):
    blocks = []
    for number, document in enumerate(documents):
        lines = [f"{number}|t|Ada and Bo, {len(document.sentences)}", f"{number}|a|Both."]
        lines += [f"{number}\t0\t3\tAda\tPER\tQ1", f"{number}\t8\t10\tBo\tPER\tQ2\tseventh column"]
        blocks.append("".join(f"{line}\r\n" for line in [*lines, f"{number}\tmet\tQ1\tQ2"][: 4 + number % 2]))
    path.write_bytes("\r\n\r\n".join(blocks).encode())


REJECTED = {"text": "No.", "spans": [], "answer": "reject", "_task_hash": -7, "x-unknown": UNKNOWN}
MAKERS = {
    "spacy": strange_docbin,
    "brat": strange_brat,
    "prodigy": lambda path, style, end: strange_json(path, style, end, [REJECTED]),
}


def make(folder, format, documents, style, end):
    path = Path(folder) / NAMES[format]
    if format == "pubtator":
        write_pubtator(path, documents)
    else:
        write_documents(path, documents, format)
        MAKERS.get(format, strange_json)(path, style, end)
    assert detect_format(path).key == format
    return path


def content(path):
    """All bytes, file by file."""
    files = path.rglob("*") if path.is_dir() else [path]
    return {file.relative_to(path): file.read_bytes() for file in files if file.is_file()}


def strange_things(path, format):
    """All that nobody reads."""
    if format == "spacy":
        from spacy.tokens import DocBin
        from spacy.vocab import Vocab

        packed = DocBin().from_disk(path)
        unread = [doc.user_data["x-unknown"] for doc in packed.get_docs(Vocab())]
        return [tokens.tolist() for tokens in packed.tokens], packed.cats, packed.span_groups, unread
    whole = b"".join(content(path).values())
    words = (b"x-unknown", b"AnnotatorNotes", b"Sure", b"Negation", b"[entities]", b"seventh column", b"-7")
    return [whole.count(word) for word in words]


def pairs(document):
    count = len(document.entities)
    return [(head, tail) for head in range(count) for tail in range(count) if head != tail]


@st.composite
def decided(draw, documents):
    """Decisions about any of the pairs of documents, also twice and about what is labelled."""
    decisions = []
    for document in documents:
        triples = [fact.triple for fact in document.facts] + list(document.negatives)
        triples += [(*pair, "new") for pair in pairs(document)]
        for triple in draw(st.lists(st.sampled_from(triples), max_size=4)) if triples else []:
            who = draw(st.sampled_from([{}, {"by": "Ada, ☂", "p": 0.5}]))
            decisions.append(Decision(document.id, *triple, holds=draw(st.booleans()), provenance=who))
    return decisions


def expected(document, decisions):
    """Facts and known negatives after the decisions, one after the other."""
    facts, negatives = set(document.labels), set(document.negatives)
    for each in decisions:
        if each.document == document.id:
            here, there = (facts, negatives) if each.holds else (negatives, facts)
            here.add(each.triple)
            there.discard(each.triple)
    return facts, negatives


def files(format):
    if format in ("docred", "jsonl"):
        return corpora
    one = row_documents() if format == "columns" else tool_documents()
    return st.lists(one, min_size=1, max_size=3, unique_by=lambda document: document.id)


@pytest.mark.parametrize("format", NAMES)
@settings(max_examples=8, deadline=None)
@given(st.data(), st.sampled_from(STYLES), st.sampled_from(["\n", "\r\n"]))
def test_decisions_are_all_that_changes(format, data, style, end):
    documents = data.draw(files(format))
    with TemporaryDirectory() as folder:
        source = make(folder, format, documents, style, end)
        read = list(stream_documents(source))
        decisions = data.draw(decided(read))
        same, to, again = (Path(folder) / f"{name}{source.suffix}" for name in ("same", "to", "again"))
        apply_decisions(source, decisions, to)
        for before, after in zip(read, stream_documents(to), strict=True):
            assert (after.labels, set(after.negatives)) == expected(before, decisions)
            assert replace(after, facts=before.facts, negatives=before.negatives) == before
            assert {fact for fact in before.facts if fact.triple in after.labels} <= set(after.facts)
        assert strange_things(to, format) == strange_things(source, format)
        assert apply_decisions(to, decisions, again).added == 0
        if format != "spacy":
            apply_decisions(source, [], same)
            assert content(same) == content(source)


def test_the_formats_that_can_be_updated():
    assert {key for key, format in FORMATS.items() if format.update} == set(NAMES)


def test_records_that_nothing_changes_are_copied_verbatim(tmp_path):
    source, to = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    entities = [
        {"id": name, "type": "PER", "mentions": [{"start": start, "end": start + 1}]}
        for name, start in (("x", 0), ("y", 2))
    ]
    fact = {"head": "x", "tail": "y", "relation": "met"}
    first = json.dumps({"id": "d", "text": "a b", "entities": entities, "facts": [fact]})
    other = '{ "id":"e",  "text": "a", "entities": [], "mine": 1.50e0 }'
    source.write_text(f"{first}\n{other}\n")
    report = apply_decisions(
        source, [Decision("d", 0, 1, "met", False), Decision("d", 0, 1, "met", False)], to
    )
    assert (report.removed, report.rejected, report.added) == (1, 1, 0)
    changed, same = gzip.decompress(to.read_bytes()).decode().splitlines()
    assert same == other
    fields = json.loads(changed)
    assert fields["facts"] == [] and fields["negatives"] == [{"head": 0, "tail": 1, "relation": "met"}]


# PubTator -------------------------------------------------------------------------------------------------------

PUBTATOR = (
    "1|t|Aspirin and fever\n1|a|Both.\n1\t0\t7\tAspirin\tChemical\tC1\n1\t12\t17\tfever\tDisease\tD1\n"
    "1\tCID\tC1\tD1\n\n2|t|Zinc and pain\n2|a|Both.\n2\t0\t4\tZinc\tChemical\tC2\n2\t9\t13\tpain\tDisease\tD2"
)
DECISIONS = [
    Decision("1", 0, 1, "CID", False, provenance={"by": "ada"}),
    Decision("1", 1, 0, "cured-by", True),
    Decision("2", 0, 1, "CID", True, provenance={"by": "bo"}),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_pubtator_gets_rows_at_the_ends_of_its_documents(tmp_path, end):
    source, to = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes(PUBTATOR.replace("\n", end).encode())
    report = apply_decisions(source, DECISIONS, to)
    provenance = tmp_path / "b.txt.provenance.jsonl"
    assert report.files == (to, provenance)
    rows = PUBTATOR.replace("1\tCID\tC1\tD1", "1\tcured-by\tD1\tC1\n1\tCID\tC1\tD1\tfalse")
    assert to.read_bytes().decode() == (rows + "\n2\tCID\tC2\tD2\n").replace("\n", end)
    first, second = load_documents(to)
    assert first.labels == {(1, 0, "cured-by")} and first.negatives == ((0, 1, "CID"),)
    assert second.labels == {(0, 1, "CID")} and second.negatives == ()
    assert check_files([to]).relation_rows() == {"read": 3, "kept": 3}
    assert {json.loads(line)["provenance"]["by"] for line in provenance.open()} == {"ada", "bo"}
    more = [Decision("2", 1, 0, "CID", False), Decision("1", 0, 1, "CID", True)]
    apply_decisions(to, more, tmp_path / "c.txt")
    first, second = load_documents(tmp_path / "c.txt")
    assert (0, 1, "CID") in first.labels and first.negatives == () and second.negatives == ((1, 0, "CID"),)
    apply_decisions(to, [], tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_bytes() == to.read_bytes()


def test_ids_that_name_another_pair_are_refused(tmp_path):
    """A gene and a species share the number 9: a row could not say which is meant."""
    source = tmp_path / "a.txt"
    source.write_text("1|t|p53 in mice of C\n1|a|Yes.\n1\t0\t3\tp53\tGene\t9\n1\t7\t11\tmice\tSpecies\t9\n"
                      "1\t15\t16\tC\tChemical\tC1\n")  # fmt: skip
    with pytest.raises(DataError, match="9, C1"):
        apply_decisions(source, [Decision("1", 1, 2, "eats", True)], tmp_path / "b.txt")


@pytest.mark.parametrize(
    ("decision", "field"),
    [
        (Decision("e", 0, 1, "met", True), "document"),
        (Decision("1", 0, 9, "met", True), "tail"),
        (Decision("1", 1, 1, "met", True), "tail"),
        (Decision("1", 0, 1, " ", True), "relation"),
        (Decision("1", 0, 1, "met", True, (7,)), "evidence"),
    ],
)
def test_what_cannot_be_decided_is_named_and_nothing_is_written(tmp_path, decision, field):
    source = tmp_path / "a.txt"
    source.write_text(PUBTATOR)
    with pytest.raises(DataError) as caught:
        apply_decisions(source, [decision], tmp_path / "b.txt")
    assert caught.value.defect.field == f"decisions[0].{field}"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_neither_the_source_nor_another_file_is_written_over(tmp_path):
    source, other = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text(PUBTATOR)
    other.write_text("mine")
    (tmp_path / "link.txt").symlink_to(source)
    (tmp_path / "hard.txt").hardlink_to(source)
    for name in ("a.txt", "link.txt", "hard.txt"):
        with pytest.raises(ValueError, match=name):
            apply_decisions(source, DECISIONS, tmp_path / name, overwrite=True)
    with pytest.raises(ValueError, match="--overwrite"):
        apply_decisions(source, DECISIONS, other)
    assert (source.read_text(), other.read_text()) == (PUBTATOR, "mine")
    apply_decisions(source, DECISIONS, other, overwrite=True)
    assert other.read_text() != "mine"


def test_a_format_without_update_is_refused(tmp_path):
    (tmp_path / "note.txt").write_text("Ada met Bo.")
    with pytest.raises(DataError, match="plain text"):
        apply_decisions(tmp_path / "note.txt", [], tmp_path / "out.txt")


# Annotation tools -----------------------------------------------------------------------------------------------


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


def test_brat_keeps_what_is_not_read_and_numbers_continue(brat, tmp_path):
    accepted = Decision("a", 2, 1, "Part", holds=True, provenance={"by": "Ada"})
    apply_decisions(brat, [accepted], tmp_path / "out")
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
    fields = {"id": ref, "from_name": "label", "to_name": "text", "type": "labels"}
    return fields | {"value": value, "origin": "manual"}


def relation(head, tail, *labels, direction="right"):
    fields = {"from_id": head, "to_id": tail, "type": "relation", "direction": direction}
    return fields | {"labels": list(labels)}


CHOICES = {"id": "c", "type": "choices", "from_name": "x", "to_name": "text", "value": {"choices": ["ok"]}}
REGIONS = [region("x1", 0, 3, "PER", "Ada"), region("x2", 8, 10, "PER", "Bo")]


def task(number, result, **more):
    annotation = {"id": number, "result": [*result, CHOICES], "lead_time": 1.5, "was_cancelled": False}
    data = {"text": "Ada met Bo."}
    return {"id": number, "data": data, "annotations": [annotation], "predictions": [3], **more}


def test_label_studio_keeps_what_is_not_read(tmp_path):
    tasks = [
        task(1, [*REGIONS, relation("x1", "x2", "met", "likes", direction="bi")], meta={"mine": 1}),
        task(2, REGIONS),
    ]
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps(tasks, indent=2))
    apply_decisions(source, [Decision("1", 1, 0, "met", holds=False, provenance={"by": "Ada"})], to)
    updated = json.loads(to.read_text())
    assert updated[1] == tasks[1]
    assert json.dumps(tasks[1], indent=2).replace("\n", "\n  ") in to.read_text()  # verbatim
    result = updated[0]["annotations"][0].pop("result")
    assert result[:3] == [*REGIONS, CHOICES]
    assert result[3:] == [
        relation("x1", "x2", "met"),
        relation("x1", "x2", "likes"),
        relation("x2", "x1", "likes"),
    ]
    negative = {"head": "x2", "tail": "x1", "relation": "met"}
    said = negative | {"holds": False, "provenance": {"by": "Ada"}}
    assert updated[0]["meta"] == {"mine": 1, "unnoted": {"negatives": [negative], "provenance": [said]}}
    assert load_documents(to)[0].negatives == ((1, 0, "met"),)


def test_regions_that_were_imported_without_ids_get_some(tmp_path):
    bare = [{key: value for key, value in each.items() if key != "id"} for each in REGIONS]
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps([{"data": {"text": "Ada met Bo."}, "annotations": [{"result": bare}]}]))
    apply_decisions(source, [Decision("task 1", 0, 1, "met", holds=True)], to)
    (updated,) = json.loads(to.read_text())
    regions = [each | {"id": f"region-{number}"} for number, each in enumerate(bare)]
    assert updated["annotations"][0]["result"] == [*regions, relation("region-0", "region-1", "met")]
    assert [fact.triple for fact in load_documents(to)[0].facts] == [(0, 1, "met")]


def test_a_task_with_a_prediction_alone_gets_an_annotation(tmp_path):
    guess = {"model_version": "m", "result": [*REGIONS, relation("x1", "x2", "met")]}
    source, to = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(json.dumps([{"id": 5, "data": {"text": "Ada met Bo."}, "predictions": [guess]}]))
    before = load_documents(source)[0]
    assert (len(before.entities), before.facts) == (2, ())  # a prediction is no label
    apply_decisions(source, [Decision("5", 0, 1, "met", holds=True)], to)
    (updated,) = json.loads(to.read_text())
    assert updated["predictions"] == [guess]
    assert updated["annotations"][0]["result"][:2] == REGIONS
    assert [fact.triple for fact in load_documents(to)[0].facts] == [(0, 1, "met")]


# Facts are attached to listed mentions, never to spans that only coreference knows -------------------------------


def test_a_fact_of_a_pronoun_is_attached_to_a_mention_in_prodigy(tmp_path):
    """ "She" stands nearer to "Kelm", but in no list of spans."""
    text = "Ada met Bo. She left Kelm."
    spans = [
        {"start": start, "end": end, "token_start": token, "token_end": token, "label": label}
        for start, end, token, label in ((0, 3, 0, "PER"), (21, 25, 6, "LOC"))
    ]
    she = {"start": 12, "end": 15, "token_start": 4, "token_end": 4}
    link = {"head": 4, "child": 0, "head_span": she, "child_span": spans[0], "label": "COREF"}
    source, to = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_text(json.dumps({"text": text, "_task_hash": 1, "spans": spans, "relations": [link]}))
    assert [len(entity.mentions) for entity in load_documents(source)[0].entities] == [2, 1]
    apply_decisions(source, [Decision("1", 0, 1, "left", holds=True)], to)
    assert load_documents(to)[0].labels == {(0, 1, "left")}


def test_a_fact_of_a_pronoun_is_attached_to_a_mention_in_a_docbin(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin, Span

    doc = spacy.blank("en")("Ada met Bo. She left Kelm.")
    doc.ents = [Span(doc, 0, 1, "PER"), Span(doc, 6, 7, "LOC")]
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[4:5]]
    source, to = tmp_path / "a.spacy", tmp_path / "b.spacy"
    DocBin(docs=[doc]).to_disk(source)
    report = apply_decisions(source, [Decision("document 1", 0, 1, "left", holds=True)], to)
    (document,) = load_documents(to)
    assert report.added == 1 and document.labels == {(0, 1, "left")}
