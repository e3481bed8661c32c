"""A service under load: does it answer everybody, keep its memory, and lose nothing that it accepted?"""

import http.client
import json
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
def service(model, *options):
    """A service in a process of its own, ready for requests."""
    port = free_port()
    process = subprocess.Popen(
        [*COMMAND, "serve", str(model), "--port", str(port), *options],
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


def texts_of(documents, folder):
    """The documents as requests hold them."""
    path = Path(folder, "documents.jsonl")
    write(path, [document.with_facts(()) for document in documents])
    return path.read_text("utf-8").splitlines()


def under_load(model, documents, clients, seconds):
    """What clients see, and the memory of the service before and after, in MiB."""
    with TemporaryDirectory() as folder, service(model) as (port, process):
        texts = texts_of(documents, folder)
        pounded(port, texts, clients, 1, min(5, seconds))  # now it is warm
        before = resident(process.pid)
        load = pounded(port, texts, clients, 1, seconds)
        return load, before, resident(process.pid)


def stopped_under_load(model, documents, clients, per_request, after=2.0):
    """What clients see when the service is sent SIGTERM while they ask, and how it ends.

    The service says at its end how many requests it let in. Every one of them must have reached its client. A client
    that is turned away (503), or whose connection the service never took, was not let in.
    """
    with TemporaryDirectory() as folder:
        texts = texts_of(documents, folder)
        with service(model) as (port, process):
            timer = threading.Timer(after, process.send_signal, (signal.SIGTERM,))
            timer.start()
            load = pounded(port, texts, clients, per_request, after + 120, lambda: process.poll() is not None)
            code = process.wait(60)
            told = process.stdout.read()
    accepted = int(re.search(r"^stopped: ([\d,]+) request", told, re.MULTILINE)[1].replace(",", ""))
    received = sum(count for status, count in load.statuses.items() if status != 503)
    other = {status: count for status, count in load.statuses.items() if status not in (200, 503)}
    return {"received": received, "lost": accepted - received, "other": other, "exit_code": code}
