"""The decisions of a review in the corpus."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from tests.unit.review.factories import Authors, people

from unnoted.data import load_documents, write_documents
from unnoted.data.decisions import apply_decisions
from unnoted.data.document import Fact
from unnoted.errors import Severity
from unnoted.io import content_digest
from unnoted.review.export import decide_by_majority, export_review, find_source
from unnoted.review.store import Verdict, open_review
from unnoted.suggestions import Suggestion, SuggestionSet

A, R, S = Verdict.ACCEPT, Verdict.REJECT, Verdict.SKIP


def test_accepted_facts_are_labels_and_rejected_ones_known_negatives(tmp_path, store):
    ada = Authors("Ada")
    for item, verdict in enumerate([A, R, S]):
        store.decide(ada(), item, verdict)
    store.decide(ada(), 4, R)  # a label that is wrong
    store.add_fact(ada(), "d1", (3, 0, "knows"))
    report, _ = export_review(store, tmp_path / "new.jsonl")
    assert (report.added, report.removed, report.rejected) == (2, 1, 2)
    corrected = {each.id: each for each in load_documents(tmp_path / "new.jsonl")}
    assert corrected["d1"].labels == {(0, 1, "lives"), (2, 3, "lives"), (3, 0, "knows")}
    assert not corrected["d2"].facts
    assert set(corrected["d2"].negatives) == {(2, 1, "lives"), (0, 1, "lives")}
    assert corrected["d3"] == people("d3", facts=())


def test_provenance_says_who_when_which_model_and_with_which_score(store):
    store.decide(Authors("Ada")(), 0, A)
    store.decide(Authors("Bo")(), 0, A)
    store.add_fact(Authors("Cy")(), "d1", (3, 0, "knows"))
    (proposed, added), _ = decide_by_majority(store)
    assert [each["by"] for each in proposed.provenance["decided"]] == ["Ada", "Bo"]
    assert all(each["at"].endswith("+00:00") and each["holds"] for each in proposed.provenance["decided"])
    assert (proposed.provenance["model"], proposed.provenance["score"]) == ("a model", 0.9)
    assert (added.provenance["model"], added.provenance["score"]) == (None, None)


def test_the_majority_decides_and_a_tie_changes_nothing(store):
    for name, first, second in (("Ada", A, A), ("Bo", R, R), ("Cy", R, S)):
        author = Authors(name)
        store.decide(author(), 0, first)
        store.decide(author(), 1, second)
    decisions, tied = decide_by_majority(store)
    assert [(each.document, each.holds) for each in decisions] == [("d1", False)] and tied == 1


def test_another_corpus_is_refused(tmp_path, store):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + "\n")
    with pytest.raises(ValueError, match=r"corpus\.jsonl"):
        export_review(store, tmp_path / "new.jsonl")
    corpus.unlink()
    with pytest.raises(ValueError, match="--source"):
        export_review(store, tmp_path / "new.jsonl")
    assert not (tmp_path / "new.jsonl").exists()


def test_a_folder_is_a_corpus_too(tmp_path):
    """As brat has it."""
    write_documents(tmp_path / "corpus", [people("d1")], "brat")
    documents = {each.id: each for each in load_documents(tmp_path / "corpus")}
    listed = (Suggestion("d1", 2, 3, "lives", 0.9),)
    digest = content_digest(tmp_path / "corpus")
    SuggestionSet(
        str(tmp_path / "corpus"), "brat", digest, "a model", {"lives": ("lives", "")}, documents, listed, ()
    ).save(tmp_path / "s.jsonl")
    store = open_review(tmp_path / "s.jsonl")
    store.decide(Authors()(), 0, A)
    assert find_source(store) == tmp_path / "corpus"
    report, _ = export_review(store, tmp_path / "new")
    store.close()
    assert report.added == 1
    assert load_documents(tmp_path / "new")[0].labels == {(0, 1, "lives"), (2, 3, "lives")}


TWINS = ("Ada Lorne", "Kelm", "Lorne", "Ost")


@pytest.mark.parametrize("form", ["docred", "jsonl", "brat", "prodigy", "columns"])
def test_merged_entities_are_one_in_the_corpus(tmp_path, form):
    facts = (Fact(0, 1, "lives", (0,)), Fact(2, 1, "lives"), Fact(0, 2, "knows"), Fact(2, 3, "lives"))
    path = tmp_path / {"brat": "corpus", "docred": "corpus.json"}.get(form, "corpus.jsonl")
    write_documents(path, [people("d1", TWINS, facts), people("d2")], form)
    documents = {each.id: each for each in load_documents(path)}
    listed = (Suggestion("d1", 2, 3, "knows", 0.9), Suggestion("d1", 3, 2, "knows", 0.8))
    found = SuggestionSet(
        str(path),
        form,
        content_digest(path),
        "a model",
        {"knows": ("", ""), "lives": ("", "")},
        documents,
        listed,
        (),
    )
    found.save(tmp_path / "s.jsonl")
    ada = Authors()
    with closing(open_review(tmp_path / "s.jsonl")) as store:
        store.decide(ada(), 0, A)
        store.merge(ada(), "d1", 0, 2)
        store.decide(ada(), 1, R)
        report, _ = export_review(store, tmp_path / f"new{path.suffix}")
    new = load_documents(tmp_path / f"new{path.suffix}")
    assert new.log.usable and not any(kind.severity is Severity.DEFECT for kind in new.log.counts)
    first, second = new
    if form in ("prodigy", "columns"):
        assert (report.merged, report.unmerged) == (0, 1) and len(first.entities) == 4
        return
    assert (report.merged, report.unmerged) == (1, 0)
    assert [sorted(each.names) for each in first.entities] == [["Ada Lorne", "Lorne"], ["Kelm"], ["Ost"]]
    assert first.labels == {(0, 1, "lives"), (0, 2, "lives"), (0, 2, "knows")}
    assert first.negatives == ((2, 0, "knows"),) and second == documents["d2"]


def test_types_and_ids_of_merged_entities_stay(tmp_path):
    """In our own format, where mentions inherit their types and facts may name entities by id."""
    record = {
        "id": "1", "text": "Ada Lorne, or Lorne, lives in Kelm.", "mine": 1,
        "entities": [
            {"type": "PER", "mentions": [{"start": 0, "end": 9}]},
            {"type": "POET", "id": "Q1", "mentions": [{"start": 14, "end": 19}]},
            {"type": "LOC", "mentions": [{"start": 30, "end": 34}]},
        ],
        "facts": [{"head": "Q1", "tail": 2, "relation": "lives", "evidence": [0], "mine": 2}],
    }  # fmt: skip
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    apply_decisions(tmp_path / "a.jsonl", [], tmp_path / "b.jsonl", merges={"1": [(1, 0)]})
    (new,) = load_documents(tmp_path / "b.jsonl")
    assert [(mention.name, mention.type) for mention in new.entities[0].mentions] == [
        ("Ada Lorne", "PER"),
        ("Lorne", "POET"),
    ]
    assert new.entities[0].id == "Q1" and new.facts == (Fact(0, 1, "lives", (0,)),)
    written = json.loads((tmp_path / "b.jsonl").read_text())
    assert written["mine"] == 1 and written["facts"][0]["mine"] == 2


def test_a_note_is_exported_with_its_decision(store):
    store.decide(replace(Authors("Ada")(), note="see the footnote"), 0, A)
    (decision,), _ = decide_by_majority(store)
    assert decision.provenance["decided"][0]["note"] == "see the footnote"


def test_lines_without_a_decision_stay_as_they_were(tmp_path, store):
    store.decide(Authors()(), 0, A)
    export_review(store, tmp_path / "new.jsonl")
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("corpus.jsonl", "new.jsonl"))
    assert before[1:] == after[1:]
    assert json.loads(after[0])["entities"] == json.loads(before[0])["entities"]
