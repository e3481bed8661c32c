"""CorpusStatistics and the check report count what a plain loop counts."""

import json

from hypothesis import given
from tests.strategies import corpora
from tests.unit.data.formats.test_docred import GOOD, changed
from tests.unit.data.formats.test_pubtator import HEADER, MENTIONS, write

from unnoted.data.candidates import CandidatePairs
from unnoted.data.check import CorpusStatistics, check_files, group_files


@given(corpora)
def test_counts_equal_plain_loops(documents):
    near = CandidatePairs(CandidatePairs.from_facts(documents).types, intra_sentence=True)
    statistics = CorpusStatistics(near)
    assert list(statistics.watch(documents)) == documents
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


def test_strict_check_of_a_defect_is_not_usable(tmp_path):
    path = tmp_path / "train.json"
    path.write_text(json.dumps([changed(["colour"], "red")]), "utf-8")
    assert check_files([path]).usable
    assert not check_files([path], strict=True).usable


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
