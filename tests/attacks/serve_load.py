"""A service under load: does it answer everybody, keep its memory, and cost little beside `predict`?

`python -m tests.attacks.serve_load --model runs/own --documents dev.json --clients 16 --seconds 60` starts a service, lets
clients post documents one after the other for so long, and computes the same documents with `unnoted predict` before,
between and after, in turns, so that whatever else the machine does befalls both. With `--stop` the service is sent SIGTERM
under load instead, and the answer to every request that it had let in must reach its client.

It prints one line; the exit code is 0 only if there was no error, memory stayed within `--growth`, the documents per
second were at least `--ratio` times those of `predict`, and nothing accepted was lost.
"""

import argparse
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from unnoted.data.formats.jsonl import write
from unnoted.data.loading import load_documents

JSON = {"Content-Type": "application/json"}
COMMAND = [sys.executable, "-m", "unnoted"]


@dataclass
class Load:
    """What the clients of one span saw."""

    documents: int = 0
    statuses: Counter = field(default_factory=Counter)
    broken: list = field(default_factory=list)
    seconds: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, status, documents):
        with self.lock:
            self.statuses[status] += 1
            self.documents += documents

    def fail(self, error):
        with self.lock:
            self.broken.append(f"{type(error).__name__}: {error}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def resident(pid):
    """The memory of a process, in MiB."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


@contextmanager
def service(model, *options, nice=0):
    """A service in a process of its own, ready for requests."""
    port = free_port()
    process = subprocess.Popen(
        ["nice", "-n", str(nice), *COMMAND, "serve", str(model), "--port", str(port), *options],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        for _ in range(1200):
            try:
                if asked(http.client.HTTPConnection("127.0.0.1", port, timeout=5), "GET", "/ready")[0] == 200:
                    break
            except OSError:
                assert process.poll() is None, "the service ended before it was ready"
                time.sleep(0.1)
        yield port, process
    finally:
        process.kill()
        process.wait()


def asked(connection, verb, path, body=None):
    connection.request(verb, path, body, JSON)
    response = connection.getresponse()
    return response.status, response.read()


def client(port, bodies, per_request, ends, load, is_over=lambda: False):
    """Post one request after the other, on one connection, until time is up or the service is gone."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while time.monotonic() < ends and not is_over():
        body = next(bodies)
        try:
            status, answer = asked(connection, "POST", "/extract", body)
            results = json.loads(answer)
            complete = (
                status != 200 or len(results if isinstance(results, list) else [results]) == per_request
            )
            load.add(status if complete else "incomplete", per_request if status == 200 else 0)
        except (OSError, http.client.HTTPException) as error:
            load.fail(error)
            connection.close()
            time.sleep(0.05)


def pounded(port, texts, clients, per_request, seconds, is_over=lambda: False):
    """Let clients ask for so long, each from another place in the documents."""
    load, started = Load(), time.monotonic()
    threads = []
    for number in range(clients):
        stream = islice(cycle(texts), number * len(texts) // clients, None)
        threads.append(
            threading.Thread(
                target=client,
                args=(port, requests_of(stream, per_request), per_request, started + seconds, load, is_over),
            )
        )
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    load.seconds = time.monotonic() - started
    return load


def requests_of(texts, per_request):
    """Bodies of so many documents each."""
    while True:
        some = list(islice(texts, per_request))
        yield (some[0] if per_request == 1 else "[" + ",".join(some) + "]").encode()


PREDICT = """
import sys, time
from pathlib import Path
from unnoted import Extractor
from unnoted.inference.predict_files import predict_files
model, documents, to = sys.argv[1:]
extractor = Extractor.from_pretrained(model)
list(extractor.extract([]))
for line in sys.stdin:
    started = time.perf_counter()
    predict_files(extractor, model, [Path(documents)], Path(to), "jsonl", overwrite=True)
    print(time.perf_counter() - started, flush=True)
"""
"""What `unnoted predict` does when its model is loaded, once for every line that comes in."""


@contextmanager
def predictor(model, documents, folder, nice=0):
    """A process that predicts the documents when it is told to, and says how long it took."""
    process = subprocess.Popen(
        ["nice", "-n", str(nice), sys.executable, "-c", PREDICT, str(model), str(documents), str(folder / "facts.jsonl")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip

    def run():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    try:
        yield run
    finally:
        process.kill()
        process.wait()


def under_load(model, documents, clients, per_request, seconds, turns, nice=0):
    """The figures of a service and of `predict`, measured in turns."""
    with TemporaryDirectory() as folder:
        copied = Path(folder, "documents.jsonl")
        write(copied, [document.with_facts(()) for document in documents])
        texts = copied.read_text("utf-8").splitlines()
        with (
            predictor(model, copied, Path(folder), nice) as predict,
            service(model, nice=nice) as (port, process),
        ):
            predict()
            pid = process.pid
            pounded(port, texts, clients, per_request, min(5, seconds))  # both are warm now
            before, spans, predicted = resident(pid), [], [predict()]
            for _ in range(turns):
                spans.append(pounded(port, texts, clients, per_request, seconds / turns))
                predicted.append(predict())
            after = resident(pid)
    served = sum(span.documents for span in spans) / sum(span.seconds for span in spans)
    statuses = sum((span.statuses for span in spans), Counter())
    return {
        "clients": clients,
        "per_request": per_request,
        "seconds": round(sum(span.seconds for span in spans), 1),
        "served_per_second": round(served, 1),
        "predicted_per_second": round(len(texts) * len(predicted) / sum(predicted), 1),
        "ratio": round(served * sum(predicted) / (len(texts) * len(predicted)), 3),
        "statuses": dict(statuses),
        "broken": [why for span in spans for why in span.broken],
        "mib_before": round(before),
        "mib_after": round(after),
    }


def stopped_under_load(model, documents, clients, per_request, after=2.0, nice=0):
    """What clients see when the service is sent SIGTERM while they ask, and how it ends.

    The service says at its end how many requests it let in. Every one of them must have reached its client. A client
    that is turned away (503), or whose connection the service never took, was not let in.
    """
    with TemporaryDirectory() as folder:
        copied = Path(folder, "documents.jsonl")
        write(copied, [document.with_facts(()) for document in documents])
        texts = copied.read_text("utf-8").splitlines()
        with service(model, nice=nice) as (port, process):
            timer = threading.Timer(after, process.send_signal, (signal.SIGTERM,))
            timer.start()
            load = pounded(port, texts, clients, per_request, after + 120, lambda: process.poll() is not None)
            code = process.wait(60)
            told = process.stdout.read()
    accepted = int(re.search(r"^stopped: ([\d,]+) request", told, re.MULTILINE)[1].replace(",", ""))
    received = sum(count for status, count in load.statuses.items() if status != 503)
    return {
        "clients": clients,
        "accepted": accepted,
        "received": received,
        "lost": accepted - received,
        "other": {status: count for status, count in load.statuses.items() if status not in (200, 503)},
        "turned_away": load.statuses[503],
        "never_taken": Counter(why.partition(":")[0] for why in load.broken),
        "exit_code": code,
    }


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--documents", required=True, help="a file of documents")
    parser.add_argument("--most", type=int, default=200, help="documents of it that are used")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--per-request", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--ratio", type=float, default=0.9)
    parser.add_argument("--growth", type=float, default=1.25, help="memory afterwards, times memory before")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--stop", action="store_true", help="send SIGTERM under load")
    chosen = parser.parse_args()
    documents = list(load_documents(chosen.documents))[: chosen.most]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if chosen.stop:
        found = stopped_under_load(
            chosen.model, documents, chosen.clients, chosen.per_request, nice=chosen.nice
        )
        good = found["lost"] == found["exit_code"] == 0 and not found["other"] and found["received"]
    else:
        found = under_load(
            chosen.model,
            documents,
            chosen.clients,
            chosen.per_request,
            chosen.seconds,
            chosen.turns,
            chosen.nice,
        )
        good = (
            set(found["statuses"]) == {200}
            and not found["broken"]
            and found["ratio"] >= chosen.ratio
            and found["mib_after"] <= chosen.growth * found["mib_before"]
        )
    print(json.dumps(found))
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
