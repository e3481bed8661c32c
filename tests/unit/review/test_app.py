from pathlib import Path

import pytest
from tests.unit.review.factories import HOST, HOSTILE, TOKEN, client, opened, people, suggested

from unnoted.data.document import Fact
from unnoted.review import app
from unnoted.review.app import LOOKING_SECONDS, ActiveReviewers
from unnoted.suggestions import Suggestion

NAME = {"as": "Ada"}
PAGES = Path(app.__file__).parent / "page"


def said(number=1, reviewer="Ada", **values):
    return {"reviewer": reviewer, "key": f"{reviewer}-{number:08}", **values}


@pytest.mark.parametrize("name", ["", "style.css", "document.js", *(file.name for file in PAGES.iterdir())])
def test_the_page_and_its_files_need_no_token_and_run_no_other_script(asking, name):
    answer = asking.get(f"/{name}", headers={"authorization": ""})
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert not name.endswith(".html") or ("<script>" not in answer.text and " style=" not in answer.text)
    if (PAGES / name).is_file():
        assert answer.content == (PAGES / name).read_bytes()


def test_documents_and_relations_to_choose_from(asking):
    assert asking.get("/api/documents", params={"search": "D2"}).json() == ["d2"]
    assert asking.get("/api/documents", params={"search": "%"}).json() == []
    assert asking.get("/api/usual", params={"head_type": "PER", "tail_type": "LOC"}).json() == ["lives"]


def test_the_session(asking):
    found = asking.get("/api/session").json()
    assert found["model"] == "a model" and found["types"] == ["LOC", "PER"]
    assert [each["id"] for each in found["relations"]] == ["lives", "knows"]


def test_an_item_has_what_helps_to_decide(asking):
    found = asking.get("/api/items/0", params=NAME).json()
    assert found["score"] == 0.9 and found["rule"] == "a rule" and found["evidence"] == [0]
    assert [fact for fact in found["facts"]] == [[0, 1, "lives"]]
    assert 'class="mention type-1 head" data-entity="2"' in found["text"]
    # Two labels, none of them in this document unless there is no other.
    assert [each["document"] for each in found["examples"]] == ["d2", "d1"]
    assert asking.get("/api/items/99", params=NAME).status_code == 404
    assert asking.get("/api/items/99999999999999999999999", params=NAME).status_code == 422
    assert asking.get("/api/changes", params={"since": 2**64}).status_code == 422


def test_decide_and_undo(asking):
    answer = asking.post("/api/decisions", json=said(1, item=0, verdict="accept")).json()
    assert answer["items"][0]["state"] == "accepted"
    assert [each["reviewer"] for each in answer["items"][0]["decisions"]] == ["Ada"]
    assert asking.get("/api/next", params=NAME).json()["row"]["id"] == 1
    found = asking.get("/api/items/0", params=NAME).json()
    assert [2, 3, "lives"] in found["facts"]  # shown with what is known
    assert asking.post("/api/undo", json=said(2)).json()["undoes"] == answer["event"]
    assert asking.post("/api/undo", json=said(3)).status_code == 409


def test_a_fact_in_place_of_another(asking):
    values = {"document": "d1", "head": 3, "tail": 2, "relation": "lives", "instead_of": 0}
    answer = asking.post("/api/facts", json=said(1, **values)).json()
    assert [each["state"] for each in answer["items"]] == ["rejected", "accepted"]
    again = {"document": "d1", "head": 0, "tail": 1, "relation": "lives"}
    refused = asking.post("/api/facts", json=said(2, **again))
    assert (refused.status_code, refused.json()["error"]) == (409, "This fact is labelled already.")


def test_two_reviewers_are_not_given_the_same_fact(asking):
    asking.get("/api/items/0", params={"as": "Ada"})
    assert asking.get("/api/next", params={"as": "Bo"}).json()["row"]["id"] == 1
    assert asking.get("/api/next", params={"as": "Ada"}).json()["row"]["id"] == 0


def test_progress(asking):
    for number, (name, verdict) in enumerate([("Ada", "accept"), ("Bo", "reject")]):
        asking.post("/api/decisions", json=said(number, name, item=0, verdict=verdict))
    asking.post("/api/decisions", json=said(7, item=1, verdict="accept"))
    found = asking.get("/api/progress").json()
    assert found["states"] == dict(open=3, accepted=1, rejected=0, skipped=0, disagreed=1, merged=0)
    assert found["agreement"] == [{"reviewers": ["Ada", "Bo"], "both": 1, "agreed": 0, "kappa": 0.0}]
    complete = found["completeness"]
    assert complete["found"] == 3 and 0 <= complete["low"] <= complete["estimate"] <= complete["high"] <= 1
    assert {each["id"] for each in asking.get("/api/changes", params={"since": 2}).json()} == {1}


def test_completeness_counts_what_is_added_and_what_is_rejected(asking):
    def labels():
        return asking.get("/api/progress").json()["completeness"]["found"]

    assert labels() == 2
    asking.post("/api/facts", json=said(1, document="d1", head=3, tail=0, relation="knows"))
    assert labels() == 3
    asking.post("/api/decisions", json=said(2, item=4, verdict="reject"))  # a label
    assert labels() == 2
    asking.post("/api/decisions", json=said(3, item=4, verdict="accept"))
    asking.post("/api/decisions", json=said(4, item=2, verdict="accept"))
    assert labels() == 4
    asking.post("/api/undo", json=said(5))
    assert labels() == 3


def test_merged_entities_are_shown_as_one_under_their_own_numbers(asking):
    assert asking.post("/api/merges", json=said(1, document="d1", one=2, other=0)).json()["items"] == []
    found = asking.get("/api/items/0", params=NAME).json()
    assert (found["head"], found["tail"]) == (0, 3)
    assert [each["same_as"] for each in found["entities"]] == [0, 1, 0, 3]
    assert found["text"].count('data-entity="0"') == 2 and 'data-entity="2"' not in found["text"]
    assert asking.post("/api/merges", json=said(2, document="d1", one=2, other=0)).status_code == 409
    assert asking.post("/api/undo", json=said(3)).status_code == 200
    assert asking.get("/api/items/0", params=NAME).json()["head"] == 2


def test_a_note_is_kept_with_its_decision(asking):
    asking.post("/api/decisions", json=said(1, item=0, verdict="accept", note="  see the footnote "))
    assert asking.get("/api/items/0", params=NAME).json()["decisions"][0]["note"] == "see the footnote"
    assert asking.post("/api/undo", json=said(2, note="x" * 501)).status_code == 422


WRITES = [
    ("/api/decisions", said(item=0, verdict="accept")),
    ("/api/facts", said(document="d1", head=3, tail=0, relation="knows")),
    ("/api/undo", said()),
    ("/api/merges", said(document="d1", one=0, other=2)),
]
READS = ["/api/session", "/api/progress", "/api/queue?as=a", "/api/next?as=a", "/api/items/0?as=a",
         "/api/documents", "/api/changes?since=0", "/api/usual?head_type=PER&tail_type=LOC"]  # fmt: skip


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "é"])
def test_nothing_is_read_or_written_without_the_token(asking, store, token):
    headers = {"authorization": f"Bearer {token}".encode()}
    for path, body in WRITES:
        assert asking.post(path, json=body, headers=headers).status_code == 401
    for path in READS:
        assert asking.get(path, headers=headers).status_code == 401
    assert store.value("SELECT count(*) FROM events") == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1.evil.example"},
        {"host": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_refused_even_with_the_token(asking, store, headers):
    for path, body in WRITES:
        assert asking.post(path, json=body, headers=HOST | headers).status_code in (403, 421)
    for path in READS:
        assert asking.get(path, headers=HOST | headers).status_code in (403, 421)
    assert store.value("SELECT count(*) FROM events") == 0


def test_its_own_pages_and_links_of_other_tools_are_not_refused(asking):
    own = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert asking.post(WRITES[0][0], json=WRITES[0][1], headers=own).status_code == 200
    for headers in (
        {"host": "localhost:9000"},
        {"host": "[::1]:9000"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ):
        assert asking.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/%2e%2e/store.py", "/page/app.js", "/store.py", "//etc/passwd", "/etc/passwd",
     "/..%2fstore.py", "/s.review.db", "/openapi.json", "/docs", "/app.js/../../store.py", "/api/../../x"],
)  # fmt: skip
def test_nothing_else_is_served(asking, path):
    assert asking.get(path).status_code in (404, 405)


@pytest.mark.parametrize(
    "body",
    [
        said(item="x", verdict="accept"),
        said(item=0, verdict="maybe"),
        said(reviewer="", item=0, verdict="accept"),
        said(reviewer="a\nb", item=0, verdict="accept"),
        said(reviewer="x" * 61, item=0, verdict="accept"),
        said(item=0, verdict="accept") | {"key": "short"},
        said(item=0, verdict="accept", order="sideways"),
        said(item=2**63, verdict="accept"),
        said(item=0, verdict="accept", filters={"view": "sideways"}),
        said(item=0, verdict="accept", admin=True),
        [],
    ],
)
def test_what_cannot_be_read_is_refused(asking, store, body):
    assert asking.post("/api/decisions", json=body).status_code == 422
    assert store.value("SELECT count(*) FROM events") == 0


def test_too_much_is_refused(asking):
    body = said(document="d" * 20_000, head=0, tail=1, relation="lives")
    assert asking.post("/api/facts", json=body).status_code == 413


def test_hostile_names_words_and_relations_stay_text(tmp_path):
    document = people(HOSTILE, (HOSTILE, "Kelm", "Bo"), (Fact(1, 2, HOSTILE),))
    listed = [Suggestion(HOSTILE, 0, 1, HOSTILE, 0.5, (), HOSTILE)]
    store = opened(tmp_path, suggested(tmp_path, [document], listed, {HOSTILE: (HOSTILE, HOSTILE)}))
    with client(store) as asking:
        found = asking.get("/api/items/0", params={"as": HOSTILE[:40]})
        assert found.headers["content-type"] == "application/json"
        assert "<img" not in found.json()["text"] and "<script" not in found.json()["text"]
        assert "&lt;img" in found.json()["text"]
        rows = asking.get("/api/queue", params=NAME | {"relation": HOSTILE, "document": HOSTILE}).json()[
            "rows"
        ]
        assert [row["head_name"] for row in rows] == [HOSTILE]
    store.close()


def test_a_decision_is_kept_with_the_filters_that_were_on(asking, store):
    shown = {"order": "random", "filters": {"relation": "lives", "low": 0.5}, "picked": True}
    asking.post("/api/decisions", json=said(1, item=0, verdict="accept", **shown))
    asking.post("/api/decisions", json=said(2, item=1, verdict="accept", order="random", filters={"high": 1}))
    rows = store.query("SELECT queue_order, filters FROM events ORDER BY id")
    assert [tuple(row) for row in rows] == [
        ("random", '{"relation": "lives", "low": 0.5, "picked": true}'),
        ("random", "{}"),
    ]


def test_who_has_gone_holds_nothing():
    now = [0.0]
    active = ActiveReviewers(lambda: now[0])
    active.look("Ada", 1)
    active.look("Ada", 2)
    active.look("Bo", 3)
    assert active.items_of_others("Cy") == [2, 3] and active.items_of_others("Bo") == [2]
    now[0] = LOOKING_SECONDS + 1
    assert active.items_of_others("Cy") == []
