"""Cases are tried in a process of their own, which may hang, die or take all memory without harm."""

import base64
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path

from tests.attacks.judging import SECONDS, Files, Outcome, judged, limit_memory
from tests.attacks.targets import target_named

PATIENCE = 6 * SECONDS
"""After so many seconds by the clock a case is ended from outside: it waits for something, or will not end."""


def write_case(folder: Path, files: Files) -> int:
    """Put the files of a case into an empty folder; returns their size."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return sum(map(len, files.values()))


def _serve(connection, name: str) -> None:
    """Try cases until there are no more: a (seed, number) to be made here, or files."""
    target = target_named(name)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    with tempfile.TemporaryDirectory(prefix="attack-") as top:
        target.prepare(Path(top) / "base")
        limit_memory()
        connection.send("ready")
        while (asked := connection.recv()) is not None:
            seed, number, files, only_made = asked
            if files is None:
                files = target.case(random.Random(f"{name} {seed} {number}"))
            if only_made:
                connection.send((files, None))
                continue
            size = write_case(Path(top) / "case", files)
            outcome = judged(target, Path(top) / "case", size)
            connection.send((files if outcome.failed else None, outcome))


class Worker:
    """A process that tries the cases of one target; one that has died is replaced."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.name), daemon=True)
        self.process.start()
        theirs.close()
        assert self.connection.recv() == "ready"

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):
            self.connection.send(None)
        self.process.join(5)
        self.process.kill()

    def attempt(self, seed: int, number: int) -> tuple[Files | None, Outcome]:
        """Make a case and try it; its files are given if it failed."""
        files, outcome = self._ask(seed, number, None)
        if outcome.failed and files is None:
            self.connection.send((seed, number, None, True))
            files, _ = self.connection.recv()
        return files, outcome

    def try_files(self, files: Files) -> Outcome:
        return self._ask(0, 0, files)[1]

    def _ask(self, seed: int, number: int, files: Files | None) -> tuple[Files | None, Outcome]:
        self.connection.send((seed, number, files, False))
        try:
            if self.connection.poll(PATIENCE):
                return self.connection.recv()
            outcome = Outcome("hang", f"more than {PATIENCE:.0f} s")
        except (EOFError, ConnectionResetError):
            self.process.join()
            outcome = Outcome("crash", f"exit code {self.process.exitcode}")
        self.process.kill()
        self.process.join()
        self._start()
        return None, outcome


def shrunk(worker: Worker, files: Files, outcome: Outcome, seconds: float = 60) -> Files:
    """A smaller case with the same fault: pieces are taken out of the files as long as it stays."""
    files, end = dict(files), time.monotonic() + seconds
    for name in sorted(files, key=lambda name: -len(files[name])):
        content, piece = files[name], max(1, len(files[name]) // 2)
        while piece and time.monotonic() < end:
            start = 0
            while start < len(content) and time.monotonic() < end:
                smaller = content[:start] + content[start + piece :]
                if worker.try_files(files | {name: smaller}).fault == outcome.fault:
                    content = smaller
                    files[name] = content
                else:
                    start += piece
            piece //= 2
    return files


def keep_case(folder: Path, target: str, files: Files, outcome: Outcome) -> Path:
    """Keep a case as a fixture, under a name that says what it did."""
    folder.mkdir(parents=True, exist_ok=True)
    what = "".join(letter if letter.isalnum() else "-" for letter in f"{outcome.kind}-{outcome.place}").strip(
        "-"
    )
    path = folder / f"{target}-{what}.json"
    content = {
        "target": target,
        "was": f"{outcome.kind}: {outcome.detail}"[:200],
        "files": {name: base64.b64encode(zlib.compress(data, 9)).decode() for name, data in files.items()},
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return path


def kept_case(path: Path) -> tuple[str, Files]:
    """A fixture's target and files."""
    content = json.loads(path.read_text("utf-8"))
    return content["target"], {
        name: zlib.decompress(base64.b64decode(data)) for name, data in content["files"].items()
    }


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
