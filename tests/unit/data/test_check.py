"""The check report: counts as by plain loops, every defect with its place, and mistakes of whole files."""

import json

import pytest
from hypothesis import given
from tests.strategies import corpora
from tests.unit.data.formats.test_docred import GOOD, changed
from tests.unit.data.formats.test_pubtator import HEADER, MENTIONS, write
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import CandidatePairs, load_documents
from unnoted.data.check import CorpusStatistics, check_files, group_files
from unnoted.errors import DataError, DefectKind


@given(corpora)
def test_counts_equal_plain_loops(documents):
    near = CandidatePairs(CandidatePairs.from_facts(documents).types, intra_sentence=True)
    statistics = CorpusStatistics(near)
    for document in documents:
        statistics.add(document)
    for rule in (CandidatePairs(), CandidatePairs.from_facts(documents), near):
        pairs = [(d, pair) for d in documents for pair in zip(*rule.index_pairs(d), strict=True)]
        labelled = [1 for d, pair in pairs if pair in {t[:2] for t in d.labels}]
        assert statistics.count_candidates(rule) == (len(pairs), len(labelled))
    facts = [(d, fact) for d in documents for fact in d.facts]
    across = 0
    for d, fact in facts:
        heads = {m.sentence for m in d.entities[fact.head].mentions}
        across += not heads & {m.sentence for m in d.entities[fact.tail].mentions}
    assert (statistics.facts, statistics.across_sentences) == (len(facts), across)
    assert statistics.words == sum(len(words) for d in documents for words in d.sentences)
    assert statistics.observed_candidates == CandidatePairs.from_facts(documents)
    json.dumps(statistics.to_json(CandidatePairs()))


def test_check_lists_every_defect_and_goes_on(tmp_path):
    path = tmp_path / "train.json"
    bad = [changed(["labels", 0, "h"], 9), {**changed(["vertexSet", 0], []), "title": "B"}]
    path.write_text(json.dumps([*bad, {**GOOD, "title": "C"}]), "utf-8")
    report = check_files([path])
    assert report.statistics.documents == 1 and not report.usable
    (malformed,) = [row for row in report.to_json()["defects"] if row["kind"] == "malformed"]
    assert malformed["count"] == 2 and "labels[0].h" in malformed["examples"][0]


def test_every_relation_row_is_accounted_for(tmp_path):
    rows = ["7\tr\tMESH:C1\t12", "7\tr\tMESH:C1\tX", "8\tr\tMESH:C1\t12", "9\tr\tA\tB"]
    broken = ["8|t|T", "8|a|A", "8\t0\t9\tT\tGene\t1"]
    paths = write(tmp_path, [*HEADER, *MENTIONS, "", *broken], rows)
    report = check_files(paths)
    assert report.relation_rows() == {
        "read": 4,
        "kept": 1,
        "unknown-document": 1,
        "unlinked-entity": 1,
        "in-unusable-document": 1,
    }


def test_pubtator_files_go_with_their_rows(tmp_path):
    first, rows = write(tmp_path, HEADER, ["7\tr\tA\tB"])
    (second,) = write(tmp_path, HEADER, name="more.txt")
    other = tmp_path / "docred.json"
    other.write_text(json.dumps([GOOD]), "utf-8")
    assert group_files([first, other, rows, second]) == [[first, second, rows], [other]]
    assert group_files([first, second]) == [[first], [second]]


# What people get wrong in their first file

TEXT = "Ada Lorne lives in Kelm. She met Bo."
SPANS = {"Q1": ("PER", 0, 9), "Q2": ("LOC", 19, 23), "Q3": ("PER", 33, 35)}


def entity(name, shift=0, **changes):
    kind, start, end = SPANS[name]
    mention = {"start": max(0, start + shift), "end": end + shift}
    return {"id": name, "type": kind, "mentions": [mention], **changes}


def document(identifier="d1", shift=0, **changes):
    facts = [{"head": "Q1", "tail": "Q2", "relation": "residence"}]
    made = {"id": identifier, "text": TEXT, "entities": [entity(name, shift) for name in SPANS]}
    return {**made, "facts": facts, **changes}


def file(tmp_path, *documents, name="own.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
    return path


def check(tmp_path, *documents, **options):
    return check_files([file(tmp_path, *documents)], **options)


def places(report, kind):
    """Line, document, field and value of each example of a kind."""
    defects = report.log.examples[kind]
    return [(defect.line, defect.document, defect.field, defect.found) for defect in defects]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["data", "check", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def test_a_mention_that_cuts_a_word_is_named(tmp_path):
    wrong = [entity("Q1", mentions=[{"start": 0, "end": 8}]), entity("Q2"), entity("Q3")]
    report = check(tmp_path, document(), document("d2", entities=wrong))
    assert report.usable and report.log.counts[DefectKind.CUT_START] == 0
    ((*place, found),) = places(report, DefectKind.CUT_END)
    assert place == [2, "d2", "entities[0].mentions[0].end"] and "'Ada Lorn'" in found


@pytest.mark.parametrize("shift", [1, -1])
def test_offsets_shifted_by_one_are_an_error(tmp_path, shift):
    shifted = [
        document(str(n), shift, entities=[entity(q, shift) for q in ("Q2", "Q3")], facts=[]) for n in range(3)
    ]
    report = check(tmp_path, *shifted)
    assert not report.usable
    ((_, _, field, found),) = places(report, DefectKind.MALFORMED)
    assert field == "mentions" and found.startswith("6 of 6 that begin")


def test_ends_that_are_included_are_an_error(tmp_path):
    def without_last(name):
        _, start, end = SPANS[name]
        return entity(name, mentions=[{"start": start, "end": end - 1}])

    wrong = [document(str(n), entities=[without_last(name) for name in SPANS]) for n in range(3)]
    report = check(tmp_path, *wrong)
    assert not report.usable
    ((_, _, field, found),) = places(report, DefectKind.MALFORMED)
    assert field == "mentions" and found.startswith("9 of 9 that end")
    assert check(tmp_path, *wrong, *(document(f"right {n}") for n in range(2))).usable  # endings may be cut


def test_heads_that_are_missing_or_have_an_id_of_two(tmp_path):
    twice = [entity("Q1"), entity("Q2"), entity("Q3", id="Q1")]
    named = [{"subject": "Q1", "object": "Q2", "relation": "residence"}]
    report = check(tmp_path, document(entities=twice), document("d2", facts=named))
    assert places(report, DefectKind.MALFORMED) == [
        (1, "d1", "facts[0].head", "'Q1', the id of entities[0] and entities[2]"),
        (2, "d2", "facts[0].head", "nothing"),
    ]


def test_scripts_without_blanks_cut_nothing(tmp_path):
    entities = [{"type": "LOC", "mentions": [{"start": 2, "end": 4}]}]
    report = check(
        tmp_path, *(document(str(n), text="我住东京都内", entities=entities, facts=[]) for n in range(4))
    )
    assert report.usable and not report.log.counts[DefectKind.CUT_START]


def test_ids_used_twice(tmp_path):
    twice = [entity("Q1"), entity("Q2"), entity("Q3", id="Q1")]
    report = check(tmp_path, document(entities=twice, facts=[]))
    assert places(report, DefectKind.DUPLICATE_ENTITY) == [(1, "d1", "entities[2].id", "'Q1'")]
    other = [entity("Q1"), entity("Q2", id="Q1"), entity("Q3")]
    assert not check(tmp_path, document(entities=other, facts=[])).log.counts[DefectKind.DUPLICATE_ENTITY]


def test_whole_numbers_are_ids(tmp_path):
    entities = [entity("Q1", id=7), entity("Q2", id=8), entity("Q3", id=9)]
    fact = {"head": "7", "tail": "8", "relation": "residence"}
    (read,) = load_documents(file(tmp_path, document(17, entities=entities, facts=[fact])))
    assert (read.id, [each.id for each in read.entities]) == ("17", ["7", "8", "9"])
    assert read.labels == {(0, 1, "residence")}
    docred = {"title": 3, "sents": [["a"]], "vertexSet": [[{"name": "a", "pos": [0, 1], "sent_id": 0,
              "type": "X", "id": 5}]]}  # fmt: skip
    (tmp_path / "d.json").write_text(json.dumps([docred]))
    (read,) = load_documents(tmp_path / "d.json")
    assert (read.id, read.entities[0].id) == ("3", "5")
    with pytest.raises(DataError, match="id: True"):
        load_documents(file(tmp_path, document(True)))


def test_a_number_that_could_be_id_or_index_is_refused(tmp_path):
    entities = [entity("Q1", id=1), entity("Q2", id=0), entity("Q3", id=2)]
    fact = {"head": 1, "tail": 2, "relation": "residence"}
    with pytest.raises(DataError, match=r"facts\[0\].head: 1, expected '1'"):
        load_documents(file(tmp_path, document(entities=entities, facts=[fact])))
    entities = [entity("Q1", id=0), entity("Q2", id=1), entity("Q3", id=2)]
    (read,) = load_documents(file(tmp_path, document(entities=entities, facts=[fact])))
    assert read.facts[0].triple == (1, 2, "residence")


def test_facts_under_another_name(tmp_path):
    wrong = document()
    wrong["relations"] = wrong.pop("facts")
    report = check(tmp_path, wrong)
    assert not report.usable
    assert places(report, DefectKind.MALFORMED) == [(None, None, "relations", "no fact in 1 document")]
    assert "`facts`" in report.log.examples[DefectKind.MALFORMED][0].expected
    assert check(tmp_path, wrong, document("d2")).usable  # somewhere there are facts
    assert check(tmp_path, document(facts=[])).usable  # to predict on


def test_pretty_printed_json(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("\n\n" + json.dumps(document(), indent=2))
    assert places(check_files([path]), DefectKind.MALFORMED)[0][2] == "line 3"


def test_all_lists_every_defect_with_file_line_and_field(tmp_path):
    wrong = [document(str(n), facts=[{"head": "Q1", "tail": "Q9", "relation": "r"}]) for n in range(9)]
    path = file(tmp_path, *wrong)
    assert run(path, code=1).count("facts[0].tail") == 2
    listed = run(path, "--all", code=1)
    for number in range(9):
        assert f"own.jsonl: line {number + 1}: document '{number}': facts[0].tail: 'Q9'" in listed


def test_docred_lines_are_counted(tmp_path):
    good = {"title": "a", "sents": [["a", "b"]], "vertexSet": [], "labels": []}
    bad = {**good, "title": "b", "labels": [{"h": 0, "t": 1, "r": "x", "evidence": []}]}
    path = tmp_path / "d.json"
    for indent, line in ((None, 1), (1, 13)):
        path.write_text(json.dumps([good, bad], indent=indent))
        (place,) = places(check_files([path]), DefectKind.MALFORMED)
        start = path.read_text().splitlines()[line - 1]
        assert place[:3] == (line, "b", "labels[0].h") and "{" in start


def test_evidence_is_asked_for_only_where_it_is_used(tmp_path):
    fact = {"head": "Q1", "tail": "Q2", "relation": "residence"}
    assert DefectKind.NO_EVIDENCE not in check(tmp_path, document()).log.counts
    some = document("d2", facts=[{**fact, "evidence": [0]}])
    assert check(tmp_path, document(), some).log.counts[DefectKind.NO_EVIDENCE] == 1
    assert "with evidence" not in run(file(tmp_path, document()))


def test_relations_stand_with_their_types(tmp_path):
    typo = [entity("Q1", type="PRE"), entity("Q2"), entity("Q3")]
    path = file(tmp_path, document(), document("d2"), document("d3", entities=typo))
    assert "PER → LOC 2; PRE → LOC 1" in run(path)
    (report,) = json.loads(CliRunner().invoke(app, ["data", "check", str(path), "--json"]).stdout)
    assert report["statistics"]["types_per_relation"] == {"residence": {"PER:LOC": 2, "PRE:LOC": 1}}
    assert report["statistics"]["entities_per_type"] == {"PER": 5, "LOC": 3, "PRE": 1}


def test_candidates_that_match_no_pair(tmp_path):
    report = check(tmp_path, document(), candidates=CandidatePairs.parse("PERSON:LOC"))
    ((_, _, field, _),) = places(report, DefectKind.MALFORMED)
    assert field == "candidates"
    assert check(tmp_path, document(), candidates=CandidatePairs.parse("PER:LOC")).usable
