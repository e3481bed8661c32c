from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.review.making import Keys

from unnoted.review.presence import HELD_FOR, Presence
from unnoted.review.review_figures import PACE_WINDOW, pace
from unnoted.review.verdict import Verdict


def test_who_has_gone_holds_nothing():
    now = [0.0]
    presence = Presence(lambda: now[0])
    presence.look("Ada", 1)
    presence.look("Ada", 2)
    presence.look("Bo", 3)
    assert presence.held_from("Cy") == [2, 3] and presence.held_from("Bo") == [2]
    now[0] = HELD_FOR + 1
    assert presence.held_from("Cy") == []


def test_pace_counts_the_last_minutes(store):
    keys = Keys("Ada")
    assert pace(store, "Ada", datetime.now(UTC)) is None
    for item in range(4):
        store.decide(keys(), item, Verdict.ACCEPT)
    store.undo(keys())
    first = datetime.fromisoformat(store.reading.execute("SELECT min(at) FROM acts").fetchone()[0])
    assert pace(store, "Ada", first + timedelta(minutes=2)) == pytest.approx(1.5)
    assert pace(store, "Bo", first) is None
    assert pace(store, "Ada", first + PACE_WINDOW + timedelta(minutes=5)) is None
