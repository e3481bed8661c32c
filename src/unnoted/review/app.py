"""The routes of the application: pages, what they read, and the few things that they write.

What a reviewer waits for is answered in the event loop itself: it takes SQLite a few milliseconds; to hand
it to a thread and back takes a busy machine longer than that. Figures, which take longer, have threads.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from unnoted.data.visualization import SCRIPT, STYLE
from unnoted.review.guard import Application, Guard
from unnoted.review.live_completeness import LiveCompleteness
from unnoted.review.presence import Presence
from unnoted.review.queue import FIRST, VIEWS, Filters, Queue
from unnoted.review.review_figures import progress
from unnoted.review.shown_item import likely_relations, said_of, shown_item
from unnoted.review.store import Act, NotDecided, ReviewStore, Signature
from unnoted.review.verdict import Verdict
from unnoted.suggestions.ranking import Order

if TYPE_CHECKING:
    from fastapi import FastAPI

MISSING_EXTRA = "reviewing needs FastAPI and uvicorn: pip install 'unnoted[review]'"
LONGEST_PAGE = 200
PAGES = files("unnoted.review") / "page"
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("expected letters, no control characters")
    return name


Reviewer = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    AfterValidator(_printable),
]
Key = Annotated[str, StringConstraints(min_length=8, max_length=64, pattern=r"^[\w-]+$")]


class Written(BaseModel):
    """What every request that writes has: who, a key of its own, and how the queue was seen."""

    model_config = ConfigDict(extra="forbid")
    reviewer: Reviewer
    key: Key
    order: Order = Order.SCORE
    filtered: bool = True

    @property
    def signature(self) -> Signature:
        """Who acts."""
        return Signature(self.reviewer, self.key, self.order, self.filtered)


class Decided(Written):
    """A verdict on an item."""

    item: int
    verdict: Verdict


class Stated(Written):
    """A fact that a reviewer states."""

    document: str
    head: int
    tail: int
    relation: str
    instead_of: int | None = None


@dataclass
class Desk:
    """What the routes share."""

    store: ReviewStore
    presence: Presence = field(default_factory=Presence)

    def __post_init__(self) -> None:
        rows = self.store.reading.execute("SELECT * FROM relations ORDER BY labelled DESC, name, id")
        self.relations = [dict(row) for row in rows]
        self.names = {row["id"]: row["name"] or row["id"] for row in self.relations}
        self.types = json.loads(self.store.about["types"])

    @cached_property
    def completeness(self) -> LiveCompleteness:
        """Reads all suggestions, so not before somebody asks."""
        return LiveCompleteness(self.store)

    def written(self, act: Act) -> dict[str, Any]:
        """The answer to something that was written."""
        marks = ", ".join("?" * len(act.items))
        rows = self.store.reading.execute(
            f"SELECT id, state, document, head_name, tail_name, relation FROM items WHERE id IN ({marks})",
            act.items,
        )
        items = {row["id"]: dict(row) | {"said": said_of(self.store, row["id"])} for row in rows}
        return {"act": act.id, "undoes": act.undoes, "items": [items[item] for item in act.items]}


def make_app(store: ReviewStore, token: str, host: str = "127.0.0.1") -> Application:
    """The application as uvicorn runs it.

    Args:
        store: the review.
        token: what every request must know.
        host: the name under which it listens.

    Raises:
        ValueError: FastAPI is not installed.
    """
    try:
        from fastapi import FastAPI
    except ImportError:
        raise ValueError(MISSING_EXTRA) from None
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    desk = Desk(store)
    for add in (_add_pages, _add_session, _add_queue, _add_items, _add_writing):
        add(app, desk)
    return Guard(app, token, host)


def _add_pages(app: "FastAPI", desk: Desk) -> None:
    """The files of the page: these, read once, and no other."""
    from fastapi import Response

    contents = {f"/{file.name}": file.read_bytes() for file in PAGES.iterdir() if file.is_file()}
    contents |= {
        "/": contents["/index.html"],
        "/document.css": STYLE.encode(),
        "/document.js": SCRIPT.encode(),
    }

    def route(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
        async def answer() -> Response:
            return Response(content, media_type=kind)

        return answer

    for path, content in contents.items():
        suffix = path.rpartition(".")[2] if path != "/" else "html"
        app.get(path)(route(content, KINDS[suffix]))


def _add_session(app: "FastAPI", desk: Desk) -> None:
    from fastapi import Query

    @app.get("/api/session")
    async def session() -> dict[str, Any]:
        """What does not change while the page is open."""
        about = desk.store.about
        calibrated = desk.store.reading.execute("SELECT 1 FROM items WHERE probability IS NOT NULL LIMIT 1")
        return {
            "suggestions": about["suggestions"],
            "source": about["source"],
            "model": about["model"],
            "relations": desk.relations,
            "types": desk.types,
            "calibrated": calibrated.fetchone() is not None,
        }

    @app.get("/api/progress")
    def figures(reviewer: Annotated[Reviewer, Query(alias="as")]) -> dict[str, Any]:
        return progress(desk.store, reviewer) | {"completeness": desk.completeness.estimate()}

    @app.get("/api/documents")
    def documents(search: Annotated[str, Query(max_length=200)] = "") -> list[str]:
        """Documents whose id holds some letters; the first few."""
        rows = desk.store.reading.execute(
            "SELECT id FROM documents WHERE instr(lower(id), lower(?)) ORDER BY position LIMIT 50", (search,)
        )
        return [row["id"] for row in rows]

    @app.get("/api/changes")
    def changes(since: int) -> list[dict[str, Any]]:
        """Items of which something was said after an act, by whomever."""
        rows = desk.store.reading.execute(
            "SELECT id, state FROM items WHERE last_act > ? ORDER BY last_act DESC LIMIT 500", (since,)
        )
        return [dict(row) for row in rows]


def _add_queue(app: "FastAPI", desk: Desk) -> None:
    from fastapi import Depends, HTTPException, Query

    async def queue(
        reviewer: Annotated[Reviewer, Query(alias="as")],
        order: Order = Order.SCORE,
        view: str = "open",
        relation: str | None = None,
        document: str | None = None,
        low: Annotated[float, Query(ge=0, le=1)] = 0.0,
        high: Annotated[float, Query(ge=0, le=1)] = 1.0,
        doubtful: bool | None = None,
        by: str | None = None,
    ) -> Queue:
        if view not in VIEWS:
            raise HTTPException(422, f"view: found {view}, expected one of {', '.join(VIEWS)}")
        filters = Filters(VIEWS[view], relation, document, low, high, doubtful, by)
        return Queue(desk.store, reviewer, order, filters)

    Asked = Annotated[Queue, Depends(queue)]
    Rank = Annotated[int, Query(ge=FIRST, lt=2**62)]

    @app.get("/api/queue")
    async def page(
        asked: Asked, after: Rank = FIRST, limit: Annotated[int, Query(ge=1, le=LONGEST_PAGE)] = 100
    ) -> dict[str, Any]:
        rows = asked.page(after, limit)
        total = {"total": asked.count()} if after == FIRST else {}
        return {"rows": rows, "more": len(rows) == limit} | total

    @app.get("/api/next")
    async def following(asked: Asked, after: Rank = FIRST) -> dict[str, Any]:
        """The next fact that nobody else is looking at."""
        rows = asked.page(after, 1, desk.presence.held_from(asked.reviewer))
        return {"row": rows[0] if rows else None}


def _add_items(app: "FastAPI", desk: Desk) -> None:
    from fastapi import HTTPException, Query

    @app.get("/api/items/{item}")
    async def one(item: int, reviewer: Annotated[Reviewer, Query(alias="as")]) -> dict[str, Any]:
        try:
            shown = shown_item(desk.store, item, desk.names, desk.types)
        except (NotDecided, OverflowError) as error:
            raise HTTPException(404, str(error)) from None
        desk.presence.look(reviewer, item)
        return shown

    @app.get("/api/likely")
    async def likely(head_type: str, tail_type: str) -> list[str]:
        return likely_relations(desk.store, head_type, tail_type)


def _add_writing(app: "FastAPI", desk: Desk) -> None:
    from fastapi import HTTPException

    def done(act: Callable[[], Act | None]) -> dict[str, Any]:
        try:
            found = act()
        except (NotDecided, OverflowError) as error:
            raise HTTPException(409, str(error)) from None
        if found is None:
            raise HTTPException(409, "There is nothing to undo.")
        return desk.written(found)

    @app.post("/api/decisions")
    async def decide(said: Decided) -> dict[str, Any]:
        return done(lambda: desk.store.decide(said.signature, said.item, said.verdict))

    @app.post("/api/facts")
    async def state_fact(said: Stated) -> dict[str, Any]:
        fact = said.head, said.tail, said.relation
        return done(lambda: desk.store.state_fact(said.signature, said.document, fact, said.instead_of))

    @app.post("/api/undo")
    async def undo(said: Written) -> dict[str, Any]:
        return done(lambda: desk.store.undo(said.signature))
