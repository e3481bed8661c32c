import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.review.factories import Authors, opened, people, states, suggested

from unnoted.data.document import Fact
from unnoted.review.schema import create_store
from unnoted.review.store import (
    InvalidDecision,
    ReviewStore,
    Verdict,
    combine,
    open_existing,
    open_review,
    review_path,
)
from unnoted.suggestions import Suggestion


def log(store):
    rows = store.query(
        """SELECT reviewer, undoes, item, verdict FROM events LEFT JOIN decisions ON event = events.id
           ORDER BY events.id"""
    )
    return [tuple(row) for row in rows]


def test_every_write_waits_for_the_disk(store):
    settings = [
        store._writer.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    ]
    assert settings == ["wal", 2]


def test_an_undo_is_one_more_row_and_gives_back_what_was_said_before(store):
    ada = Authors("Ada")
    store.decide(ada(), 0, Verdict.ACCEPT)
    store.decide(ada(), 0, Verdict.REJECT)
    assert states(store)[0] == "rejected"
    assert store.undo(ada()).undoes == 2
    assert states(store)[0] == "accepted"
    assert store.undo(ada()).undoes == 1
    assert states(store)[0] == "open"
    assert store.undo(ada()) is None
    assert len(log(store)) == 4


def test_an_act_that_is_sent_twice_counts_once(store):
    ada = Authors("Ada")
    first = ada()
    assert store.decide(first, 0, Verdict.ACCEPT) == store.decide(first, 0, Verdict.ACCEPT)
    undo = ada()
    assert store.undo(undo) == store.undo(undo)
    assert len(log(store)) == 2


def test_another_relation_rejects_one_fact_and_accepts_another_in_one_act(store):
    ada = Authors("Ada")
    event = store.add_fact(ada(), "d1", (2, 3, "knows"), instead_of=0)
    assert event.items == (0, 5)
    assert states(store)[0] == "rejected" and states(store)[5] == "accepted"
    store.undo(ada())
    assert states(store)[0] == states(store)[5] == "open"


def test_a_stated_fact_that_was_proposed_is_that_proposal(store):
    assert store.add_fact(Authors()(), "d3", (0, 1, "lives")).items == (3,)
    assert len(states(store)) == 5


def test_a_stated_fact_that_is_labelled_is_refused_or_only_rejects(store):
    ada = Authors("Ada")
    with pytest.raises(InvalidDecision, match="labelled already"):
        store.add_fact(ada(), "d1", (0, 1, "lives"))
    assert log(store) == []
    assert store.add_fact(ada(), "d1", (0, 1, "lives"), instead_of=0).items == (0,)


@pytest.mark.parametrize(
    ("document", "fact"),
    [
        ("d9", (0, 1, "lives")),
        ("d1", (0, 4, "lives")),
        ("d1", (-1, 0, "lives")),
        ("d1", (2, 2, "lives")),
        ("d1", (0, 1, "eats")),
    ],
)
def test_a_fact_that_cannot_be_is_refused_and_leaves_nothing(store, document, fact):
    with pytest.raises(InvalidDecision):
        store.add_fact(Authors()(), document, fact)
    assert log(store) == [] and len(states(store)) == 5


def test_an_unknown_item_is_refused_and_leaves_nothing(store):
    for item in (99, -1, 2**63):
        with pytest.raises((InvalidDecision, OverflowError)):
            store.decide(Authors()(), item, Verdict.ACCEPT)
    assert log(store) == []


def test_merged_entities_are_asked_about_once(tmp_path):
    """0 and 2 are one: what is said of both is one question, and what is labelled of one is none."""
    document = people("d1", facts=(Fact(0, 3, "lives"),))
    listed = [
        Suggestion("d1", 0, 1, "lives", 0.9),
        Suggestion("d1", 2, 1, "lives", 0.8),  # the same as the first
        Suggestion("d1", 2, 3, "lives", 0.7),  # labelled of the other
        Suggestion("d1", 0, 2, "knows", 0.6),  # of an entity and itself
        Suggestion("d1", 1, 2, "knows", 0.5),
    ]
    store = opened(tmp_path, suggested(tmp_path, [document], listed))
    ada, bo = Authors("Ada"), Authors("Bo")
    store.decide(bo(), 1, Verdict.REJECT)
    assert store.merge(ada(), "d1", 2, 0).items == ()
    assert states(store) == ["merged", "rejected", "merged", "merged", "open"]  # what was decided is asked
    store.decide(ada(), 0, Verdict.ACCEPT)  # by somebody who had it on the page
    assert states(store)[:2] == ["merged", "disagreed"]
    assert [each["reviewer"] for each in store.decisions_of(1)] == ["Bo", "Ada"]
    assert store.same_as("d1") == (0, 1, 0, 3) and store.merges() == {"d1": [(2, 0)]}
    for one, other in ((0, 2), (0, 9), (3, 3)):
        with pytest.raises(InvalidDecision):
            store.merge(ada(), "d1", one, other)
    with pytest.raises(InvalidDecision):
        store.add_fact(ada(), "d1", (2, 0, "lives"))
    store.undo(ada())
    store.undo(ada())
    assert states(store) == ["open", "rejected", "open", "open", "open"] and store.merges() == {}
    store.close()


def test_entities_with_different_ids_are_not_merged(tmp_path):
    document = people("d1")
    entities = tuple(replace(each, id=f"Q{n}" if n < 2 else None) for n, each in enumerate(document.entities))
    listed = [Suggestion("d1", 2, 3, "lives", 0.9)]
    store = opened(tmp_path, suggested(tmp_path, [replace(document, entities=entities)], listed))
    store.merge(Authors()(), "d1", 0, 2)
    with pytest.raises(InvalidDecision, match="ids"):
        store.merge(Authors("Bo")(), "d1", 1, 2)
    store.close()


@settings(max_examples=20)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from("AB"), st.integers(0, 2), st.sampled_from(Verdict)),
            st.tuples(st.sampled_from("AB"), st.none(), st.none()),
        ),
        max_size=12,
    )
)
def test_what_stands_follows_from_the_log(tmp_path_factory, events):
    """Against a plain replay: a stack of events for each reviewer."""
    store = opened(tmp_path_factory.mktemp("replay"))
    keys = {name: Authors(name) for name in "AB"}
    stacks = {"A": [], "B": []}
    for reviewer, item, verdict in events:
        if item is None:
            store.undo(keys[reviewer]())
            stacks[reviewer] = stacks[reviewer][:-1]
        else:
            store.decide(keys[reviewer](), item, verdict)
            stacks[reviewer].append((item, verdict))
    last = [dict(stacks[name]) for name in "AB"]
    expected = [combine([said[item] for said in last if item in said]) for item in range(5)]
    assert states(store) == expected
    store.close()


def test_a_file_appears_when_it_is_complete(tmp_path):
    found = suggested(tmp_path)
    broken = suggested(tmp_path, suggestions=[found.suggestions[0]] * 2)  # the same fact twice
    with pytest.raises(sqlite3.IntegrityError):
        create_store(tmp_path / "x.db", broken, "s.jsonl", "0")
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.jsonl"}
    create_store(tmp_path / "x.db", found, "s.jsonl", "0")
    with pytest.raises(ValueError, match=r"x\.db"):
        create_store(tmp_path / "x.db", found, "s.jsonl", "0")


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.db"
    path.write_text("no database at all, but long enough to be read as one" * 20)
    with pytest.raises(ValueError, match=r"other\.db"):
        ReviewStore(path)
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises(ValueError, match=r"empty\.db"):
        ReviewStore(tmp_path / "empty.db")


def test_threads_that_come_and_go_leave_no_connection_open(store):
    def count_open():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count_open()
    for _ in range(20):
        thread = threading.Thread(target=lambda: store.query("SELECT count(*) FROM items"))
        thread.start()
        thread.join()
    assert count_open() <= before


def save_suggestions(folder):
    path = folder / "s.jsonl"
    suggested(folder).save(path)
    return path


def test_a_review_is_continued(tmp_path):
    path = save_suggestions(tmp_path)
    open_review(path).close()
    store = open_existing(path)
    store.decide(Authors()(), 0, Verdict.ACCEPT)
    store.close()
    for file in (path, review_path(path)):
        store = open_review(file)
        assert store.path == review_path(path) and states(store)[0] == "accepted"
        store.close()


def test_other_suggestions_do_not_get_into_a_review(tmp_path):
    path = save_suggestions(tmp_path)
    open_review(path).close()
    path.write_text(path.read_text().replace("a model", "another model"))
    with pytest.raises(ValueError, match=r"s\.review\.db"):
        open_review(path)
    (tmp_path / "x.db").write_text("something")
    with pytest.raises(ValueError, match=r"x\.db"):
        open_review(path, tmp_path / "x.db")
    with pytest.raises(ValueError, match="nothing"):
        open_existing(tmp_path / "nothing.jsonl")
