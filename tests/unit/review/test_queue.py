import pytest
from tests.unit.review.factories import Authors

from unnoted.review.queue import Filters, View, count_queue, read_queue
from unnoted.review.store import Verdict
from unnoted.suggestions import Order


def ids(store, filters=None, order=Order.SCORE, reviewer="Ada", **options):
    return [row["id"] for row in read_queue(store, reviewer, order, filters or Filters(), **options)]


def test_orders(store):
    assert ids(store) == [0, 1, 2, 3, 4]
    assert ids(store, order=Order.DOCUMENT) == [0, 2, 3, 1, 4]
    for order in Order:
        assert sorted(ids(store, order=order)) == [0, 1, 2, 3, 4]


def test_pages_go_on_after_a_rank(store):
    queue = store, "Ada", Order.RANDOM, Filters()
    found, after = [], -1
    while page := read_queue(*queue, after=after, limit=2):
        found += page
        after = page[-1]["rank"]
    assert found == read_queue(*queue) and count_queue(store, "Ada", Filters()) == 5


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(relation="knows"), [2]),
        (Filters(document="d3"), [2, 3]),
        (Filters(low=0.4, high=0.8), [1, 2]),
        (Filters(suspicious=True), [4]),
        (Filters(suspicious=False, document="d2"), [1]),
        (Filters(relation="' OR 1=1 --"), []),
    ],
)
def test_filters(store, filters, expected):
    assert ids(store, filters) == expected
    assert count_queue(store, "Ada", filters) == len(expected)


def test_views(store):
    ada, bo = Authors("Ada"), Authors("Bo")
    store.decide(ada(), 0, Verdict.ACCEPT)
    store.decide(ada(), 1, Verdict.REJECT)
    store.decide(bo(), 1, Verdict.ACCEPT)
    store.decide(bo(), 2, Verdict.SKIP)
    store.add_fact(bo(), "d1", (3, 0, "knows"))
    seen = {view.value: ids(store, Filters(view=view)) for view in View}
    assert seen == {
        "open": [3, 4], "not-by-me": [2, 3, 4], "decided": [0, 1, 5], "accepted": [0, 5], "rejected": [],
        "skipped": [2], "disagreed": [1], "added": [5], "all": [0, 1, 2, 3, 4, 5],
    }  # fmt: skip
    assert ids(store, Filters(view=View.ALL, by="Bo")) == [1, 2, 5]
    assert ids(store, Filters(view=View.MINE), reviewer="Bo") == [0, 3, 4]
    assert ids(store, Filters(view=View.ALL), held=[0, 2]) == [1, 3, 4, 5]
    store.undo(bo())
    assert all(5 not in ids(store, Filters(view=view)) for view in View)
