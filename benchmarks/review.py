"""How fast a review answers with 200,000 suggestions: pages, decisions and figures."""

import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from itertools import count
from json import dumps, loads
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from psutil import Process

from benchmarks.measure import seconds
from unnoted.data import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.review import open_review, serve_review
from unnoted.suggestions import Suggestion, SuggestionSet

SUGGESTIONS = 200_000
DOCUMENTS = 3_000
DECISIONS = 300
TOKEN = "a-token-for-benchmarks"


def run(shared: Path | None) -> dict[str, float]:
    """Seconds and milliseconds, as the browser sees them."""
    with TemporaryDirectory() as name:
        file = Path(name) / "suggestions.jsonl"
        _suggestions(Path(name) / "corpus.jsonl").save(file)
        begun = time.process_time()
        open_review(file).close()
        begin = time.process_time() - begun
        results = {"begin a review of 200,000 suggestions (s of CPU)": begin, **_answers(file)}
        bare = _bare_commit(Path(name) / "bare.db")
    median = results["decision, median (ms)"]
    return results | {"bare SQLite commit, median (ms)": bare, "decision ÷ bare commit": median / bare}


def _suggestions(source: Path) -> SuggestionSet:
    documents = list(generate_documents(DOCUMENTS))
    write_documents(source, documents)
    relations = sorted({fact.relation for document in documents for fact in document.facts})
    listed: list[Suggestion] = []
    for turn in count():
        for document in documents:
            size = len(document.entities)
            head, tail, number = turn % size, turn // size % size, turn // size**2
            if head == tail or number >= len(relations):
                continue
            fact = head, tail, relations[number]
            if fact not in document.labels:
                chance = 1 - len(listed) / (SUGGESTIONS + DOCUMENTS)
                listed.append(Suggestion(document.id, *fact, chance, (0,)))
        if len(listed) >= SUGGESTIONS:
            break
    names = {relation: (relation, "") for relation in relations}
    by_id = {document.id: document for document in documents}
    return SuggestionSet(
        str(source), "jsonl", "0" * 64, "generated", names, by_id, tuple(listed[:SUGGESTIONS]), ()
    )


def _serve(file: Path, told: Any) -> None:
    serve_review(open_review(file), token=TOKEN, ready=told.send)


@contextmanager
def _server(file: Path) -> Iterator[tuple[int, Process]]:
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(file, there), daemon=True)
    process.start()
    try:
        yield int(here.recv().partition("//")[2].partition("/")[0].rpartition(":")[2]), Process(process.pid)
    finally:
        process.kill()
        process.join()


def _answers(file: Path) -> dict[str, float]:
    with _server(file) as (port, process), closing(HTTPConnection("127.0.0.1", port)) as connection:

        def ask(method: str, path: str, body: dict[str, object] | None = None) -> Any:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {content[:200]!r}")
            return loads(content) if path.startswith("/api/") else content

        def first_page() -> None:
            for path in ("session", "queue?as=a", "next?as=a", "items/0?as=a"):
                ask("GET", f"/api/{path}")

        def decide(number: int) -> None:
            body = {"item": number * 7, "verdict": "accept", "reviewer": "a", "key": f"decision-{number:06}"}
            ask("POST", "/api/decisions", body)

        results = {"first page: session, queue, document (s)": _timed(first_page)}
        before = sum(process.cpu_times()[:2])
        taken = [_timed(lambda number=number: decide(number)) for number in range(DECISIONS)]
        worked = sum(process.cpu_times()[:2]) - before
        empty = [_timed(lambda: ask("GET", "/icon.svg") and None) for _ in range(DECISIONS)]
        results["decision, median (ms)"] = 1000 * statistics.median(taken)
        results["decision, 95 of 100 (ms)"] = 1000 * statistics.quantiles(taken, n=20)[-1]
        results["decision, CPU of the server (ms)"] = 1000 * worked / DECISIONS
        results["an answer without work, median (ms)"] = 1000 * statistics.median(empty)
        for name, path in {
            "page at the end of the queue (ms)": "queue?as=a&after=199000",
            "page with every filter (ms)": "queue?as=a&view=all&low=0.001&high=0.002&by=a&order=random",
            "next fact of the open (ms)": "next?as=a",
            "figures, with completeness (ms)": "progress?as=a",
        }.items():
            results[name] = 1000 * seconds(lambda path=path: ask("GET", f"/api/{path}"))
    return results


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _bare_commit(path: Path) -> float:
    """One row in a file with nothing else, written as safely as a decision."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE a (b INTEGER)")
        taken = [
            _timed(lambda: connection.execute("INSERT INTO a VALUES (1)") and None) for _ in range(DECISIONS)
        ]
    return 1000 * statistics.median(taken)
