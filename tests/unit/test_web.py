"""Who may ask: tokens, hosts, origins, sizes; headers and errors of answers."""

import pytest
from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient

from unnoted.web import SECURITY_HEADERS, Guard, add_error_handlers, listen, server_names

TOKEN = "token-of-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def client():
    app = FastAPI()
    add_error_handlers(app)

    @app.get("/")
    async def index() -> str:
        return "page"

    @app.get("/api/items/{item}")
    async def item(item: int) -> int:
        if item == 0:
            raise HTTPException(404, "there is no item 0")
        return item

    @app.post("/api/items")
    async def add(item: dict[str, int]) -> int:
        return len(item)

    guard = Guard(app, TOKEN, server_names("127.0.0.1"), lambda path: path.startswith("/api/"), 1000)
    with TestClient(guard, base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/", {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"}, 200),  # a link in another tool
        ("/", {"sec-fetch-site": "cross-site"}, 200),
        ("/", {"host": "localhost:9"}, 200),
        ("/", {"host": "[::1]:9"}, 200),
        ("/", {"host": "evil.example"}, 421),
        ("/", {"host": "http://[x"}, 421),
        ("/", {"origin": "http://evil.example"}, 403),
        ("/", {"origin": "null"}, 403),
        ("/", {"origin": "http://[x"}, 403),
        ("/", {"origin": "http://127.0.0.1:8000"}, 200),
        ("/api/items/1", {}, 401),
        ("/api/items/1", {"authorization": "Bearer wrong"}, 401),
        ("/api/items/1", {"authorization": "Bearer größer".encode()}, 401),
        ("/api/items/1", BEARER, 200),
        ("/api/items/1", BEARER | {"sec-fetch-site": "same-origin"}, 200),
        ("/api/items/1", BEARER | {"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_who_is_let_in(client, path, headers, status):
    answer = client.get(path, headers=headers)
    assert answer.status_code == status
    assert SECURITY_HEADERS.items() <= dict(answer.headers).items()
    assert status == 200 or answer.json()["error"]


def test_sizes_of_requests(client):
    assert client.post("/api/items", json={"a": 1}, headers=BEARER).status_code == 200
    assert client.post("/api/items", json={"a" * 1000: 1}, headers=BEARER).status_code == 413
    assert client.post("/api/items", content=iter([b"{}"]), headers=BEARER).status_code == 411
    many = BEARER | {"content-length": "9" * 5000}
    assert client.post("/api/items", content=b"{}", headers=many).status_code == 413


def test_errors_are_one_sentence_that_names_the_field(client):
    assert client.get("/api/items/0", headers=BEARER).json() == {"error": "there is no item 0"}
    invalid = client.get("/api/items/x", headers=BEARER)
    assert invalid.status_code == 422
    assert invalid.json()["error"].startswith("item: ")


def test_without_token_and_hosts_everybody_is_let_in_but_pages_of_other_sites():
    guard = Guard(None, None, None, lambda path: True)
    assert guard.refusal("/extract", {"host": "anything"}) is None
    assert guard.refusal("/extract", {"host": "a", "origin": "http://proxy.example"}) is None
    assert guard.refusal("/extract", {"host": "a", "sec-fetch-site": "cross-site"})[0] == 403


def test_a_taken_port_is_named():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=r"127\.0\.0\.1") as error:
            listen("127.0.0.1", port)
    assert error.value.filename == f"127.0.0.1:{port}"
