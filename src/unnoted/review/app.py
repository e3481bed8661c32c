"""The web application of a review: the page, and the JSON API behind it.

What a reviewer waits for is answered in the event loop itself: it takes SQLite a few milliseconds; to hand it
to a thread and back takes a busy machine longer than that. Figures, which take longer, have threads.
"""

import json
import time
from collections.abc import Callable
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from unnoted.data.visualization import SCRIPT, STYLE
from unnoted.review.item import show_item
from unnoted.review.progress import CompletenessEstimate, count_progress
from unnoted.review.queue import FIRST, Filters, count_queue, read_queue
from unnoted.review.store import Author, Event, InvalidDecision, ReviewStore, Verdict
from unnoted.suggestions import FEW_LABELS, Order
from unnoted.utils import require_extra
from unnoted.web import ASGIApp, Guard, add_error_handlers, listen, new_token, server_names

if TYPE_CHECKING:
    from fastapi import FastAPI

LOOPBACK = "127.0.0.1"
LONGEST_PAGE = 200
MAX_BODY = 16_384
"""Bytes. A decision has a few hundred."""
LOOKING_SECONDS = 120.0
"""Who has looked at a fact for longer without deciding has gone for coffee."""


def _check_printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("a name has letters, and no control characters")
    return name


Reviewer = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    AfterValidator(_check_printable),
]
Key = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[\w-]+$")]
Note = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Number = Annotated[int, Field(ge=0, lt=2**63)]
"""What SQLite can hold."""


class QueueRequest(Filters):
    """The queue as a reviewer sees it."""

    reviewer: Reviewer = Field(alias="as")
    order: Order = Order.SCORE
    after: int = Field(FIRST, ge=FIRST, lt=2**62)
    limit: int = Field(100, ge=1, le=LONGEST_PAGE)


class EventRequest(BaseModel):
    """What every request that writes has: who, a key of its own, and how the fact was shown."""

    model_config = ConfigDict(extra="forbid")
    reviewer: Reviewer
    key: Key
    order: Order = Order.SCORE
    filters: Filters = Filters()
    note: Note = ""
    picked: bool = False
    """The reviewer chose the fact from the list, instead of taking the next one."""

    @property
    def author(self) -> Author:
        """Who decides, and how the fact was shown."""
        shown = self.filters.model_dump(exclude_defaults=True, mode="json")
        shown |= {"picked": True} if self.picked else {}
        filters = json.dumps(shown, ensure_ascii=False)
        return Author(self.reviewer, self.key, self.order, filters, self.note)


class DecisionRequest(EventRequest):
    """A verdict on an item."""

    item: Number
    verdict: Verdict


class MergeRequest(EventRequest):
    """Two entities that are one."""

    document: str
    one: Number
    other: Number


class FactRequest(EventRequest):
    """A fact that a reviewer adds."""

    document: str
    head: Number
    tail: Number
    relation: str
    instead_of: Number | None = None


class ActiveReviewers:
    """Which fact each reviewer looks at, so that two at one queue do not get the same one.

    Args:
        clock: gives seconds.

    Example:
        >>> active = ActiveReviewers()
        >>> active.look("Ada", 7)
        >>> active.items_of_others("Bo"), active.items_of_others("Ada")
        ([7], [])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looking: dict[str, tuple[int, float]] = {}

    def look(self, reviewer: str, item: int) -> None:
        """A reviewer is shown a fact."""
        self._looking[reviewer] = item, self._clock()

    def items_of_others(self, reviewer: str) -> list[int]:
        """The facts at which others are looking."""
        since = self._clock() - LOOKING_SECONDS
        return [item for name, (item, at) in self._looking.items() if name != reviewer and at >= since]


def create_app(store: ReviewStore, token: str, host: str = LOOPBACK) -> ASGIApp:
    """The application as uvicorn runs it.

    Args:
        store: the review.
        token: must be known to whoever asks for data.
        host: the name under which it listens.

    Raises:
        MissingExtra: FastAPI is not installed.
    """
    app = require_extra("fastapi", "review").FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    active = ActiveReviewers()
    add_error_handlers(app)
    _add_reading(app, store, active)
    _add_queue(app, store, active)
    _add_writing(app, store)
    _add_page(app)
    return Guard(app, token, server_names(host), lambda path: path.startswith("/api/"), MAX_BODY)


def _add_page(app: "FastAPI") -> None:
    """The files of the page, and no other."""
    from fastapi import Response
    from fastapi.staticfiles import StaticFiles

    @app.get("/style.css")
    async def style() -> Response:
        return Response(STYLE, media_type="text/css")

    @app.get("/document.js")
    async def script() -> Response:
        return Response(SCRIPT, media_type="text/javascript")

    app.mount("/", StaticFiles(packages=[("unnoted.review", "page")], html=True))


def _add_reading(app: "FastAPI", store: ReviewStore, active: ActiveReviewers) -> None:
    from fastapi import HTTPException, Path, Query

    relations = [dict(row) for row in store.query("SELECT * FROM relations ORDER BY labelled DESC, name, id")]
    names = {row["id"]: row["name"] or row["id"] for row in relations}
    types = json.loads(store.about["types"])
    completeness = cache(lambda: CompletenessEstimate(store))  # reads all scores: not before somebody asks

    @app.get("/api/session")
    async def session() -> dict[str, Any]:
        """What does not change while the page is open."""
        about = {name: store.about[name] for name in ("suggestions", "source", "model")}
        labels = int(store.about["labels"])
        return about | {
            "calibrated": json.loads(store.about["calibrated"]), "relations": relations, "types": types,
            "labels": labels, "rough": labels < FEW_LABELS,
        }  # fmt: skip

    @app.get("/api/progress")
    def progress() -> dict[str, Any]:
        return count_progress(store) | {"completeness": completeness().to_json()}

    @app.get("/api/documents")
    def documents(search: Annotated[str, Query(max_length=200)] = "") -> list[str]:
        """Documents whose id holds some letters; the first few."""
        sql = "SELECT id FROM documents WHERE instr(lower(id), lower(?)) ORDER BY position LIMIT 50"
        return [row["id"] for row in store.query(sql, (search,))]

    @app.get("/api/changes")
    def changes(since: Annotated[Number, Query()]) -> list[dict[str, Any]]:
        """Items that an event after this one was about, by whomever."""
        sql = "SELECT id, state FROM items WHERE last_event > ? ORDER BY last_event DESC LIMIT 500"
        return [dict(row) for row in store.query(sql, (since,))]

    @app.get("/api/items/{item}")
    async def one(
        item: Annotated[Number, Path()], reviewer: Annotated[Reviewer, Query(alias="as")]
    ) -> dict[str, Any]:
        try:
            shown = show_item(store, item, names, types)
        except LookupError as error:
            raise HTTPException(404, str(error)) from None
        active.look(reviewer, item)
        return shown

    @app.get("/api/usual")
    async def usual(head_type: str, tail_type: str) -> list[str]:
        """Relations that are labelled between two types of entities, the most frequent first."""
        rows = store.query(
            """SELECT relation FROM type_pairs WHERE head_type = ? AND tail_type = ?
               ORDER BY labelled DESC, relation""",
            (head_type, tail_type),
        )
        return [row["relation"] for row in rows]


def _add_queue(app: "FastAPI", store: ReviewStore, active: ActiveReviewers) -> None:
    from fastapi import Query

    @app.get("/api/queue")
    async def page(asked: Annotated[QueueRequest, Query()]) -> dict[str, Any]:
        rows = read_queue(store, asked.reviewer, asked.order, asked, after=asked.after, limit=asked.limit)
        total = {"total": count_queue(store, asked.reviewer, asked)} if asked.after == FIRST else {}
        return {"rows": rows, "more": len(rows) == asked.limit} | total

    @app.get("/api/next")
    async def following(asked: Annotated[QueueRequest, Query()]) -> dict[str, Any]:
        """The next fact that nobody else is looking at."""
        held = active.items_of_others(asked.reviewer)
        rows = read_queue(store, asked.reviewer, asked.order, asked, after=asked.after, limit=1, held=held)
        return {"row": rows[0] if rows else None}


def _add_writing(app: "FastAPI", store: ReviewStore) -> None:
    from fastapi import HTTPException

    def answer(write: Callable[[], Event | None]) -> dict[str, Any]:
        """Record an event; the answer has the facts it is about, as they stand now."""
        try:
            event = write()
        except InvalidDecision as error:
            raise HTTPException(409, str(error)) from None
        if event is None:
            raise HTTPException(409, "There is nothing to undo.")
        items = []
        for item in event.items:
            (row,) = store.query(
                "SELECT id, state, document, head_name, tail_name, relation FROM items WHERE id = ?", (item,)
            )
            items.append(dict(row) | {"decisions": store.decisions_of(item)})
        decided = store.value(
            "SELECT count(*) FROM items WHERE proposed AND state IN ('accepted', 'rejected', 'disagreed')"
        )
        return {"event": event.id, "undoes": event.undoes, "items": items, "decided": decided}

    @app.post("/api/decisions")
    async def decide(asked: DecisionRequest) -> dict[str, Any]:
        return answer(lambda: store.decide(asked.author, asked.item, asked.verdict))

    @app.post("/api/facts")
    async def add_fact(asked: FactRequest) -> dict[str, Any]:
        fact = asked.head, asked.tail, asked.relation
        return answer(lambda: store.add_fact(asked.author, asked.document, fact, asked.instead_of))

    @app.post("/api/merges")
    async def merge(asked: MergeRequest) -> dict[str, Any]:
        return answer(lambda: store.merge(asked.author, asked.document, asked.one, asked.other))

    @app.post("/api/undo")
    async def undo(asked: EventRequest) -> dict[str, Any]:
        return answer(lambda: store.undo(asked.author))


def serve_review(
    store: ReviewStore,
    host: str = LOOPBACK,
    port: int = 0,
    token: str | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve a review until the process is interrupted.

    Args:
        store: the review.
        host: where to listen; by default only this machine can reach it.
        port: 0 takes any that is free.
        token: must be in the address; by default a random one.
        ready: gets the address as soon as it answers.

    Raises:
        MissingExtra: FastAPI or uvicorn is not installed.
        OSError: the port is taken, or the host is not one of this machine.
    """
    uvicorn = require_extra("uvicorn", "review")
    secret = token or new_token()
    app = create_app(store, secret, host)
    with closing(listen(host, port)) as listening:
        ready(make_address(host, listening.getsockname()[1], secret))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        uvicorn.Server(config).run(sockets=[listening])


def make_address(host: str, port: int, token: str) -> str:
    """The address to open. What follows `#` stays in the browser: it is in no log and no referrer.

    Example:
        >>> make_address("127.0.0.1", 8000, "secret")
        'http://127.0.0.1:8000/#token=secret'
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/#token={quote(token, safe='')}"
