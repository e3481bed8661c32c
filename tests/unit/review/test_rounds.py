"""What leaves a review: the mended corpus, and what the next round keeps."""

import json
from collections import Counter

import pytest
from tests.unit.review.making import Keys, many, opened, people, suggested

from unnoted.data import load_documents
from unnoted.review.exporting import export_review, settled
from unnoted.review.live_completeness import LiveCompleteness
from unnoted.review.opening import existing_review, open_review, review_path
from unnoted.review.store import ReviewStore
from unnoted.review.verdict import Standing, Verdict
from unnoted.suggestions import Suggestion

A, R, S = Verdict.ACCEPT, Verdict.REJECT, Verdict.SKIP


def written(folder, **options):
    path = folder / "s.jsonl"
    suggested(folder, **options).save(path)
    return path


def decided(path, *said, name="Ada"):
    store, keys = existing_review(path), Keys(name)
    for item, verdict in said:
        store.decide(keys(), item, verdict)
    store.close()


def states(store):
    return [row["state"] for row in store.reading.execute("SELECT state FROM items ORDER BY id")]


def test_export_adds_what_was_accepted_and_keeps_what_was_rejected_as_negatives(tmp_path, store):
    ada = Keys("Ada")
    for item, verdict in enumerate([A, R, S]):
        store.decide(ada(), item, verdict)
    store.decide(ada(), 4, R)  # a label that is wrong
    store.state_fact(ada(), "d1", (3, 0, "knows"))
    report, _ = export_review(store, tmp_path / "mended.jsonl")
    assert (report.added, report.removed, report.rejected) == (2, 1, 2)
    mended = {each.id: each for each in load_documents(tmp_path / "mended.jsonl")}
    assert mended["d1"].labels == {(0, 1, "lives"), (2, 3, "lives"), (3, 0, "knows")}
    assert not mended["d2"].facts
    assert set(mended["d2"].negatives) == {(2, 1, "lives"), (0, 1, "lives")}
    assert mended["d3"] == people("d3", facts=())


def test_provenance_says_who_when_which_model_and_how_probable(store):
    store.decide(Keys("Ada")(), 0, A)
    store.decide(Keys("Bo")(), 0, A)
    store.state_fact(Keys("Cy")(), "d1", (3, 0, "knows"))
    proposed, added = settled(store).decisions
    assert [each["by"] for each in proposed.provenance["decided"]] == ["Ada", "Bo"]
    assert all(each["at"].endswith("+00:00") and each["holds"] for each in proposed.provenance["decided"])
    assert (proposed.provenance["model"], proposed.provenance["probability"]) == ("a model", 0.9)
    assert (added.provenance["model"], added.provenance["probability"]) == (None, None)


def test_the_majority_decides_and_a_tie_changes_nothing(store):
    for name, first, second in (("Ada", A, A), ("Bo", R, R), ("Cy", R, S)):
        keys = Keys(name)
        store.decide(keys(), 0, first)
        store.decide(keys(), 1, second)
    found = settled(store)
    assert [(each.document, each.holds) for each in found.decisions] == [("d1", False)]
    assert found.tied == 1


def test_export_refuses_another_corpus(tmp_path, store):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + "\n")
    with pytest.raises(ValueError, match=r"corpus\.jsonl: found other content, expected the file that"):
        export_review(store, tmp_path / "mended.jsonl")
    corpus.unlink()
    with pytest.raises(ValueError, match="--source"):
        export_review(store, tmp_path / "mended.jsonl")
    assert not (tmp_path / "mended.jsonl").exists()


def test_a_review_is_continued(tmp_path):
    path = written(tmp_path)
    open_review(path).close()
    decided(path, (0, A))
    store = open_review(path)
    assert store.path == review_path(path) and states(store)[0] == Standing.ACCEPTED
    store.close()
    store = open_review(store.path)
    assert states(store)[0] == Standing.ACCEPTED
    store.close()


def test_other_suggestions_do_not_get_into_a_review(tmp_path):
    path = written(tmp_path)
    open_review(path).close()
    path.write_text(path.read_text().replace("a model", "another model"))
    with pytest.raises(ValueError, match="found the review of other suggestions"):
        open_review(path)
    (tmp_path / "x.db").write_text("something")
    with pytest.raises(ValueError, match="found another file, expected a review or nothing"):
        open_review(path, tmp_path / "x.db")


def test_the_next_round_keeps_what_was_decided(tmp_path):
    path = written(tmp_path)
    open_review(path).close()
    decided(path, (0, A), (1, R), (2, S), (3, A))
    decided(path, (1, A), name="Bo")
    # The next model suggests one of them again, another fact, and not the rest; d3 is another document now.
    again = [Suggestion("d2", 2, 1, "lives", 0.4), Suggestion("d1", 2, 0, "knows", 0.3)]
    documents = [people("d1"), people("d2"), people("d3", ("Cy", "Kelm", "Bo", "Ost"), ())]
    (tmp_path / "next").mkdir()
    new = written(tmp_path / "next", documents=documents, suggestions=again)
    told = []
    store = open_review(new, resume=review_path(path), tell=told.append)
    assert states(store) == ["disagreed", "open", "accepted"]
    assert "3 decisions" in told[1] and "1 decision not kept" in told[2]
    row = store.reading.execute("SELECT * FROM items WHERE id = 2").fetchone()
    assert (row["proposed"], row["model"], row["probability"]) == (0, "a model", 0.9)
    acts = store.reading.execute("SELECT reviewer, at FROM acts ORDER BY id").fetchall()
    before = ReviewStore(review_path(path))
    old = Counter(tuple(act) for act in before.reading.execute("SELECT reviewer, at FROM acts"))
    before.close()
    assert Counter(tuple(act) for act in acts) < old  # several acts may share a millisecond
    # It is not an act of this round, so nothing is undone, and a second start changes nothing.
    assert store.undo(Keys("Ada", "x")()) is None
    store.close()
    store = open_review(new, resume=review_path(path), tell=told.append)
    assert told[-1].endswith("is here already") and len(states(store)) == 3
    store.close()


def test_resume_needs_another_review(tmp_path):
    path = written(tmp_path)
    with pytest.raises(ValueError, match="expected the one of the round before"):
        open_review(path, resume=path)
    with pytest.raises(ValueError, match="found the same review twice"):
        open_review(path, resume=review_path(path))


def test_completeness_is_the_same_from_pieces_and_from_all(tmp_path):
    store = opened(tmp_path, many(tmp_path, 300))
    live, keys = LiveCompleteness(store), Keys(stream="random")
    order = [row["id"] for row in store.reading.execute("SELECT id FROM items ORDER BY by_random")]
    for item in order[:60]:
        store.decide(keys(), item, A if item % 3 else R)
        if item % 7 == 0:
            live.estimate()
    store.undo(keys())
    found = live.estimate()
    assert found == LiveCompleteness(store).estimate() and found["sampled"] == 59
    store.close()


def test_lines_of_a_mended_file_without_a_decision_stay_as_they_were(tmp_path, store):
    store.decide(Keys()(), 0, A)
    export_review(store, tmp_path / "mended.jsonl")
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("corpus.jsonl", "mended.jsonl"))
    assert before[1:] == after[1:]
    assert json.loads(after[0])["entities"] == json.loads(before[0])["entities"]
