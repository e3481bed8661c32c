"""The paths of the service: what goes in, what comes out, and which status refuses what."""

import json
import threading
from dataclasses import replace

import pytest
from tests.markup import parse
from tests.unit.inference.making import calibration
from tests.unit.serve.factories import DOCUMENTS, RECORDS, TEXT, client, extractor, lines, reader

from unnoted.data.document import Document
from unnoted.inference import Extraction, FactRecord
from unnoted.serve.extraction import StreamedResponse
from unnoted.serve.schemas import DocumentResponse


@pytest.fixture(scope="module")
def opened():
    with client() as (made, service):
        yield made, service


@pytest.fixture(scope="module")
def web(opened):
    return opened[0]


@pytest.fixture(scope="module")
def expected():
    found = {}
    for line in (None, 0.2):
        results = extractor().extract(DOCUMENTS, threshold=line)
        found[line] = json.loads(json.dumps([result.to_json() for result in results]))
    return found


def same(found, expected):
    """Equal but for the last digits, which depend on the batch."""
    assert [[(fact["head"], fact["tail"], fact["relation"]) for fact in each["facts"]] for each in found] == [
        [(fact["head"], fact["tail"], fact["relation"]) for fact in each["facts"]] for each in expected
    ]
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys() | {"threshold", "expected_precision"} and one["id"] == other["id"]
        for fact, also in zip(one["facts"], other["facts"], strict=True):
            assert fact == {
                **also,
                "score": pytest.approx(also["score"]),
            }


def test_one_document_many_and_a_stream_give_what_the_extractor_gives(web, expected):
    assert sum(len(each["facts"]) for each in expected[None]) > 5
    same([web.post("/extract", json=record).json() for record in RECORDS], expected[None])
    same(web.post("/extract", json=RECORDS).json(), expected[None])
    streamed = web.post("/extract/stream", content=lines(RECORDS))
    assert streamed.headers["content-type"] == "application/x-ndjson"
    same([json.loads(line) for line in streamed.text.splitlines()], expected[None])
    same(web.post("/extract?threshold=0.2", json=RECORDS).json(), expected[0.2])


def test_text_gives_entities_with_their_characters_and_the_facts_of_the_document_made_of_it(web):
    found = web.post("/extract/text?threshold=0", json={"text": TEXT, "id": "t"}).json()
    (document,) = reader().read([("t", TEXT)])
    (result,) = extractor().extract([document], threshold=0.0)
    places = [[TEXT[one["start"] : one["end"]] for one in entity["mentions"]] for entity in found["entities"]]
    assert places == [["Ada", "Ada"], ["Bo"], ["Kelm"]]
    assert [entity["type"] for entity in found["entities"]] == ["PER", "PER", "LOC"]
    del found["entities"]
    same([found], json.loads(json.dumps([result.to_json()])))
    assert [
        each["id"] for each in web.post("/extract/text", json=[{"text": "Ada."}, {"text": "Bo."}]).json()
    ] == ["1", "2"]


def test_a_drawing_is_asked_for_by_its_type_and_everything_in_it_is_escaped(web):
    drawn = web.post("/extract/text?threshold=0", json={"text": TEXT}, headers={"Accept": "text/html"})
    assert drawn.headers["content-type"].startswith("text/html")
    assert "&lt;b&gt;" in drawn.text.replace(" ", "").replace("</span>", "") and "<b>" not in drawn.text
    assert "style=" not in drawn.text and "<script" not in drawn.text


@pytest.fixture(scope="module")
def calibrated():
    """A client of a service whose scores are probabilities, and its extractor."""
    made = extractor()
    made.model.decoder = replace(made.model.decoder, calibration=calibration())
    with client(extractor=lambda: made) as (web, _):
        yield web, made


def test_an_unknown_parameter_is_refused_with_the_nearest(web):
    answer = web.post("/extract?treshold=0.9", json=RECORDS[0])
    assert answer.status_code == 422 and "'threshold'" in answer.json()["error"]


def test_an_answer_says_which_threshold_is_in_use_and_what_precision_is_expected(web, calibrated):
    assert web.post("/extract", json=RECORDS[0]).json()["expected_precision"] is None
    web, made = calibrated
    default, wanted = (
        web.post(f"/extract{query}", json=RECORDS[0]).json() for query in ("", "?target_precision=0.8")
    )
    assert default["threshold"] == made.model.decoder.threshold < wanted["threshold"]
    assert default["expected_precision"] == pytest.approx(made.decision().precision)
    assert wanted["expected_precision"] == pytest.approx(0.8, abs=0.01)
    score = {(fact["head"], fact["tail"], fact["relation"]): fact["score"] for fact in default["facts"]}
    for fact in wanted["facts"]:  # the target chooses facts, and changes no score
        assert fact["score"] == pytest.approx(score[fact["head"], fact["tail"], fact["relation"]])
    assert 0 < len(wanted["facts"]) < len(score)


def test_a_drawing_has_less_probable_facts_hidden(calibrated):
    web, made = calibrated
    drawn = parse(web.post("/extract", json=RECORDS[0], headers={"Accept": "text/html"}).text)
    rows = [
        (float(row.attributes["data-score"]), "hidden" in row.attributes)
        for row in drawn.all("tr", class_="fact")
    ]
    threshold = made.model.decoder.threshold
    assert all(hidden == (score <= threshold) and score > threshold / 2 for score, hidden in rows)
    assert len({hidden for _, hidden in rows}) == 2
    (found,) = made.extract([DOCUMENTS[0]])
    assert drawn.only("p", class_="count").text.startswith(f"{len(found.facts)} fact")


def test_what_was_ignored_is_noted(web):
    found = web.post("/extract", json={**RECORDS[0], "colour": "red"}).json()
    (note,) = found["notes"]
    assert RECORDS[0]["id"] in note and "colour" in note


def refused(web, status, content, path="/extract"):
    """Why a request is refused."""
    answer = web.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    return answer.json()["error"]


SMALL = {"text": "Ada.", "entities": []}
MENTION = {"start": 0, "end": 3}
PERSON = {"type": "PER", "mentions": [MENTION]}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (
            {"id": "d", "text": "Ada.", "entities": [{"type": "PER", "mentions": [{"start": 0, "end": 99}]}]},
            "'d'",
        ),
        (
            {"text": "Ada.", "entities": [{"type": "PER", "mentions": [{"start": "0", "end": 3}]}]},
            "mentions.0.start",
        ),
        ({"text": "Ada.", "entities": [{"type": "PER", "mentions": []}]}, "entities.0.mentions"),
        ({"text": "Ada.", "entities": [{"mentions": [MENTION]}]}, "entities.0.type"),
        ({"text": "Ada."}, "entities"),
        ({"entities": []}, "sentences"),
        ([{"text": "Ada.", "entities": []}, {"text": 3, "entities": []}], "list.1.text"),
        (3, "dictionary"),
        ([], "list"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(web, content, place):
    assert place in refused(web, 422, json.dumps(content))
    (line,) = web.post("/extract/stream", content=json.dumps(content)).text.splitlines()
    assert json.loads(line)["status"] == 422 and json.loads(line)["line"] == 1


def test_bad_bodies_options_and_paths(web):
    refused(web, 422, '{"a": ')
    refused(web, 400, b'"\xff"')
    assert "threshold" in refused(web, 422, json.dumps(SMALL), "/extract?threshold=2")
    assert "threshold" in refused(web, 422, json.dumps(SMALL), "/extract?threshold=0.5&target_recall=0.5")
    assert "not calibrated" in refused(web, 422, json.dumps(SMALL), "/extract?target_recall=0.5")
    for text in ("[]", '{"text": 3}', '{"text": "a", "colour": 1}', '{"text": " "}', '{"text": "\\ud800"}'):
        refused(web, 422, text, "/extract/text")
    assert web.get("/extract").status_code == 405 and web.get("/nothing").status_code == 404


def test_a_bad_line_does_not_hide_the_next(web):
    body = lines(RECORDS[:1]) + "\nno json\n" + lines([{"id": "x"}]) + lines(RECORDS[1:2])
    answers = [json.loads(line) for line in web.post("/extract/stream", content=body).text.splitlines()]
    assert [answer.get("id") for answer in answers] == [RECORDS[0]["id"], None, None, RECORDS[1]["id"]]
    assert [(answer.get("line"), answer.get("status")) for answer in answers[1:3]] == [(2, 422), (3, 422)]


def test_sizes_are_limited():
    with client(body=4000, documents=2, words=20, entities=3) as (web, _):
        assert "4,000 bytes" in refused(web, 413, "x" * 5000)

        def parts():
            yield from (b"[" + b" " * 3000, b" " * 3000)

        assert web.post("/extract", content=parts()).status_code == 413
        assert "2 documents" in refused(web, 413, json.dumps([SMALL] * 3))
        assert "words" in refused(web, 422, json.dumps({"text": "a " * 30, "entities": []}))
        assert "words" in refused(web, 422, json.dumps({"text": "a " * 30}), "/extract/text")
        assert "characters" in refused(web, 422, json.dumps({"text": "a" * 401}), "/extract/text")
        assert "4 entities" in refused(web, 422, json.dumps({"text": "Ada.", "entities": [PERSON] * 4}))
        answer = web.post("/extract/stream", content=lines([SMALL]) + "x" * 5000).text.splitlines()
        assert [json.loads(line).get("status") for line in answer] == [None, 413]


class Blocking:
    """An extractor that waits until it may go on, and fails at what it is told to."""

    device = "cuda"  # where one thread of the queue computes
    entity_types = ()

    def __init__(self):
        self.model, self.decision = extractor().model, extractor().decision
        self.may_go, self.began, self.sizes = threading.Event(), threading.Event(), []

    def extract(self, documents, **asked):
        self.began.set()
        assert self.may_go.wait(30)
        self.sizes.append(len(documents))
        if any(document.id == "bad" for document in documents):
            raise RuntimeError("boom")
        return [Extraction(document, ()) for document in documents]


def post_aside(web, *args, **kwargs):
    """A request in a thread of its own; what it was answered, when it is."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(web.post(*args, **kwargs)))
    thread.start()
    return lambda: (thread.join(30), answers[0])[1]


def test_what_waits_is_computed_together_and_a_failure_hits_its_document_alone():
    slow = Blocking()
    with client(extractor=lambda: slow) as (web, service):
        first = post_aside(web, "/extract", json=SMALL)
        assert slow.began.wait(10)
        others = [post_aside(web, "/extract", json={**SMALL, "id": name}) for name in ("a", "bad", "b")]
        while service.queue.free > service.limits.queue - 4:
            pass
        slow.may_go.set()
        assert first().status_code == 200
        assert [other().status_code for other in others] == [200, 500, 200]
        assert slow.sizes == [1, 3, 1, 1, 1]
        assert "RuntimeError" in others[1]().json()["error"] and service.queue.free == service.limits.queue
        assert "unnoted_failed_documents_total 1.0" in web.get("/metrics").text


def test_a_full_queue_is_told_with_a_time_to_come_again():
    slow = Blocking()
    with client(extractor=lambda: slow, queue=1) as (web, _):
        first = post_aside(web, "/extract", json=SMALL)
        assert slow.began.wait(10)
        full = web.post("/extract", json=SMALL)
        assert full.status_code == 429 and int(full.headers["retry-after"]) > 0
        assert web.get("/ready").status_code == 503 and web.get("/health").status_code == 200
        slow.may_go.set()
        assert first().status_code == 200 and web.get("/ready").status_code == 200


def test_too_many_requests_are_turned_away():
    slow = Blocking()
    with client(extractor=lambda: slow, requests=1) as (web, _):
        first = post_aside(web, "/extract", json=SMALL)
        assert slow.began.wait(10)
        busy = web.post("/extract", json=SMALL)
        assert busy.status_code == 503 and busy.headers["retry-after"]
        slow.may_go.set()
        assert first().status_code == 200


def test_time_is_bounded_and_what_nobody_waits_for_is_not_computed():
    slow = Blocking()
    with client(extractor=lambda: slow, seconds=0.2) as (web, service):
        late = web.post("/extract", json=SMALL)
        assert late.status_code == 504 and "0.2 s" in late.json()["error"]
        assert web.post("/extract", json=[SMALL] * 5).status_code == 504
        slow.may_go.set()
        while service.queue.free < service.limits.queue:
            pass
        assert web.post("/extract", json=SMALL).status_code == 200
        assert slow.sizes == [1, 1]


@pytest.mark.parametrize("error", [RuntimeError("boom"), OSError("gone"), KeyError("x")])
def test_a_stream_whose_reader_dies_ends(monkeypatch, error):
    """It answers what it had, says that it failed, and gives its place back."""
    read = StreamedResponse._next

    async def die(self, lines):
        line = await read(self, lines)
        if line is not None and b"last" in line:
            raise error
        return line

    monkeypatch.setattr(StreamedResponse, "_next", die)
    with client(seconds=5) as (web, service):
        answer = web.post("/extract/stream", content=lines([SMALL, {**SMALL, "id": "last"}, SMALL]))
        assert [json.loads(line).get("status") for line in answer.text.splitlines()] == [None, 500]
        assert service.in_flight == 0 and service.queue.free == service.limits.queue


def test_a_stream_longer_than_the_queue_waits_its_turn():
    slow = Blocking()
    slow.may_go.set()
    with client(extractor=lambda: slow, queue=2, unsent=3) as (web, _):
        answer = web.post("/extract/stream", content=lines([SMALL] * 40))
        assert [json.loads(line)["id"] for line in answer.text.splitlines()] == [str(n) for n in range(1, 41)]


def test_a_service_that_stops_finishes_what_it_has_and_takes_nothing_more():
    slow = Blocking()
    with client(extractor=lambda: slow) as (web, service):
        first = post_aside(web, "/extract", json=SMALL)
        assert slow.began.wait(10)
        service.is_stopping = lambda: True
        turned = web.post("/extract", json=SMALL)
        assert turned.status_code == 503 and turned.headers["retry-after"]
        assert web.get("/ready").status_code == 503 and web.get("/health").status_code == 200
        slow.may_go.set()
        assert first().status_code == 200
    assert not service.queue.is_working and service.in_flight == 0


def test_a_closed_queue_has_computed_everything():
    slow = Blocking()
    with client(extractor=lambda: slow) as (_, service):
        results = service.queue.submit([Document(str(n), (), ()) for n in range(3)], 0.5)
        slow.may_go.set()
    assert [one.result(0).document.id for one in results] == ["0", "1", "2"]


def test_a_token_is_asked_for_where_documents_are_read():
    with client(token="secret") as (web, _):
        assert web.post("/extract", json=SMALL).status_code == 401
        assert web.get("/metrics").status_code == 401
        assert web.post("/extract", json=SMALL, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert web.post("/extract", json=SMALL, headers={"Authorization": "Bearer secret"}).status_code == 200
        open_paths = ("/", "/health", "/ready", "/docs", "/static/page.js", "/openapi.json")
        assert {web.get(path).status_code for path in open_paths} == {200}
        assert 'id="token"' in web.get("/").text


def test_only_its_own_names_are_answered_on_the_loopback_address():
    with client(hosts={"localhost"}) as (web, _):
        assert web.get("/health").status_code == 421
        for name in ("localhost:8000", "[::1]:8000", "LOCALHOST"):
            assert web.get("/health", headers={"Host": name}).status_code == 200


def test_what_was_counted(web, expected):
    counted = web.get("/metrics")
    assert counted.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "unnoted_documents_total" in counted.text and 'path="/extract",status="200"' in counted.text
    assert "unnoted_queue_documents 0.0" in counted.text


def test_pages_are_complete_and_strict(web):
    page = web.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "<script src=" in page.text and "<script>" not in page.text and " style=" not in page.text
    assert "child of" in page.text and 'data-text="yes"' in page.text
    for name in ("style.css", "highlight.js", "icon.svg", "slider.js", "page.js"):
        assert web.get(f"/static/{name}").status_code == 200
    assert web.get("/static/../secret").status_code == 404
    docs = web.get("/docs")
    assert "openapi.json" in docs.text and "connect-src 'self'" in docs.headers["content-security-policy"]


def test_openapi_describes_every_key_of_an_answer(web, expected):
    """Also those that only some facts have, such as the rule that implies one."""
    schemas = web.get("/openapi.json").json()["components"]["schemas"]
    fact = schemas["FactRecord"]
    assert fact["properties"].keys() == FactRecord.__annotations__.keys() >= {"rule", "head_offsets"}
    assert set(fact["required"]) == FactRecord.__required_keys__
    assert all(each.keys() <= fact["properties"].keys() for one in expected[None] for each in one["facts"])
    assert schemas["DocumentResponse"]["properties"].keys() == DocumentResponse.__annotations__.keys()


def test_without_a_pipeline_documents_bring_their_entities():
    with client(text=False) as (web, _):
        refused = web.post("/extract/text", json={"text": TEXT})
        assert refused.status_code == 404 and "--entities" in refused.json()["error"]
        assert "/extract/text" not in web.get("/openapi.json").json()["paths"]
        assert 'data-text="no"' in web.get("/").text
