import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.review.making import Keys, opened, people, suggested

from unnoted.review.store import NotDecided, ReviewStore
from unnoted.review.store_making import make_store
from unnoted.review.verdict import Verdict, state_of


def states(store):
    return [row["state"] for row in store.reading.execute("SELECT state FROM items ORDER BY id")]


def log(store):
    rows = store.reading.execute(
        "SELECT reviewer, undoes, item, verdict FROM acts LEFT JOIN decisions ON act = acts.id ORDER BY acts.id"
    )
    return [tuple(row) for row in rows]


def test_a_decision_is_written_with_its_reviewer(store):
    act = store.decide(Keys("Ada")(), 0, Verdict.ACCEPT)
    assert (act.id, act.items) == (1, (0,))
    assert states(store) == ["accepted", "open", "open", "open", "open"]
    assert log(store) == [("Ada", None, 0, "accept")]


def test_it_is_on_disk_for_others_at_once(store):
    store.decide(Keys()(), 2, Verdict.REJECT)
    other = ReviewStore(store.path)
    assert states(other)[2] == "rejected"
    other.close()


def test_every_write_waits_for_the_disk(store):
    settings = [
        store._writer.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    ]
    assert settings == ["wal", 2]


def test_an_undo_is_one_more_row_and_gives_back_what_was_said_before(store):
    ada = Keys("Ada")
    store.decide(ada(), 0, Verdict.ACCEPT)
    store.decide(ada(), 0, Verdict.REJECT)
    assert states(store)[0] == "rejected"
    assert store.undo(ada()).undoes == 2
    assert states(store)[0] == "accepted"
    assert store.undo(ada()).undoes == 1
    assert states(store)[0] == "open"
    assert store.undo(ada()) is None
    assert len(log(store)) == 4


def test_an_undo_takes_back_ones_own_act_only(store):
    ada = Keys("Ada")
    store.decide(ada(), 0, Verdict.ACCEPT)
    store.decide(Keys("Bo")(), 0, Verdict.REJECT)
    assert states(store)[0] == "disagreed"
    store.undo(ada())
    assert states(store)[0] == "rejected"


def test_an_act_that_is_sent_twice_counts_once(store):
    ada = Keys("Ada")
    first = ada()
    assert store.decide(first, 0, Verdict.ACCEPT) == store.decide(first, 0, Verdict.ACCEPT)
    undo = ada()
    assert store.undo(undo) == store.undo(undo)
    assert len(log(store)) == 2


def test_another_relation_rejects_one_fact_and_accepts_another_in_one_act(store):
    ada = Keys("Ada")
    act = store.state_fact(ada(), "d1", (2, 3, "knows"), instead_of=0)
    assert act.items == (0, 5)
    assert states(store)[0] == "rejected" and states(store)[5] == "accepted"
    store.undo(ada())
    assert states(store)[0] == states(store)[5] == "open"


def test_a_stated_fact_that_was_proposed_is_that_proposal(store):
    assert store.state_fact(Keys()(), "d3", (0, 1, "lives")).items == (3,)
    assert len(states(store)) == 5


def test_a_stated_fact_that_is_labelled_is_refused_or_only_rejects(store):
    ada = Keys("Ada")
    with pytest.raises(NotDecided, match="labelled already"):
        store.state_fact(ada(), "d1", (0, 1, "lives"))
    assert log(store) == []
    assert store.state_fact(ada(), "d1", (0, 1, "lives"), instead_of=0).items == (0,)


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
    with pytest.raises(NotDecided):
        store.state_fact(Keys()(), document, fact)
    assert log(store) == [] and len(states(store)) == 5


def test_an_unknown_item_is_refused_and_leaves_nothing(store):
    for item in (99, -1, 2**63):
        with pytest.raises((NotDecided, OverflowError)):
            store.decide(Keys()(), item, Verdict.ACCEPT)
    assert log(store) == []


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
def test_what_stands_follows_from_the_log(tmp_path_factory, acts):
    """Against a plain replay: a stack of acts for each reviewer."""
    store = opened(tmp_path_factory.mktemp("replay"))
    keys = {name: Keys(name) for name in "AB"}
    stacks = {"A": [], "B": []}
    for reviewer, item, verdict in acts:
        if item is None:
            store.undo(keys[reviewer]())
            stacks[reviewer] = stacks[reviewer][:-1]
        else:
            store.decide(keys[reviewer](), item, verdict)
            stacks[reviewer].append((item, verdict))
    last = [dict(stacks[name]) for name in "AB"]
    expected = [state_of([said[item] for said in last if item in said]) for item in range(5)]
    assert states(store) == expected
    store.close()


def test_a_file_appears_when_it_is_complete(tmp_path):
    found = suggested(tmp_path)
    broken = suggested(tmp_path, suggestions=[found.suggestions[0]] * 2)  # the same fact twice
    with pytest.raises(sqlite3.IntegrityError):
        make_store(tmp_path / "x.db", broken, "s.jsonl", "0")
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.jsonl"}
    make_store(tmp_path / "x.db", found, "s.jsonl", "0")
    with pytest.raises(ValueError, match=r"x\.db: found a file, expected none"):
        make_store(tmp_path / "x.db", found, "s.jsonl", "0")


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.db"
    path.write_text("no database at all, but long enough to be read as one" * 20)
    with pytest.raises((ValueError, sqlite3.DatabaseError)):
        ReviewStore(path)
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises(
        ValueError, match=r"empty\.db: found no such table: about, expected the file of a review"
    ):
        ReviewStore(tmp_path / "empty.db")


def test_documents_come_back_as_they_were(store):
    assert store.document("d1") == people("d1")
