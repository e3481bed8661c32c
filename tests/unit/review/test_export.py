"""The decisions of a review in the corpus."""

import json

import pytest
from tests.unit.review.factories import Authors, people

from unnoted.data import load_documents, write_documents
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


def test_lines_without_a_decision_stay_as_they_were(tmp_path, store):
    store.decide(Authors()(), 0, A)
    export_review(store, tmp_path / "new.jsonl")
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("corpus.jsonl", "new.jsonl"))
    assert before[1:] == after[1:]
    assert json.loads(after[0])["entities"] == json.loads(before[0])["entities"]
