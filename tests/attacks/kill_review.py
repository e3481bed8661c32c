"""Kill `unnoted review` while reviewers decide, start it again, and look for every decision it acknowledged."""

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from tests.unit.review.factories import many

UNNOTED = (sys.executable, "-c", "from unnoted.cli.main import main; main()")
TOKEN = "a-token-for-kills"
VERDICTS = ("accept", "reject", "skip")
REVIEWERS = 3


def start(file):
    """A server of its own process; gives it and its port."""
    command = (*UNNOTED, "review", "start", str(file), "--token", TOKEN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, urlsplit(process.stdout.readline().strip()).port


class Reviewer(threading.Thread):
    """Decides as fast as it is answered, and remembers what was acknowledged."""

    def __init__(self, port, name, items, count):
        super().__init__(daemon=True)
        self.port, self.person, self.items, self.count = port, name, items, count
        self.acknowledged = {}

    def run(self):
        """Decide until the server is gone."""
        dice = random.Random(self.person)
        with suppress(OSError, HTTPException), closing(HTTPConnection("127.0.0.1", self.port)) as connection:
            for number in range(self.count):
                said = {"item": dice.randrange(self.items), "verdict": dice.choice(VERDICTS)}
                body = said | {"reviewer": self.person, "key": f"{self.person}-{number:06}"}
                headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
                connection.request("POST", "/api/decisions", json.dumps(body), headers)
                answer = connection.getresponse()
                assert answer.status == 200, answer.read()
                answer.read()
                self.acknowledged[body["key"]] = (self.person, said["item"], said["verdict"])


def written(database):
    """Every decision in the file by the key of its event, and whether the file is whole."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "SELECT key, reviewer, item, verdict FROM events JOIN decisions ON event = events.id"
        ).fetchall()
        checked = connection.execute("PRAGMA integrity_check").fetchone()[0]
        # What stands has to follow from the log, as it does without kills.
        last = connection.execute(
            """SELECT count(*) FROM current_decisions AS current WHERE event != (SELECT max(events.id)
               FROM events JOIN decisions ON event = events.id
               WHERE item = current.item AND reviewer = current.reviewer)"""
        ).fetchone()[0]
    return {key: (name, item, verdict) for key, name, item, verdict in rows}, checked == "ok" and last == 0


def kill_review(kills, decisions, seed=1, suggestions=2000):
    """Kill so many times, at moments that a seed chooses; every acknowledged decision is in the file."""
    dice = random.Random(seed)
    acknowledged = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many(folder, suggestions).save(folder / "s.jsonl")
        for turn in range(kills):
            process, port = start(folder / "s.jsonl")
            after = dice.randrange(decisions)
            people = [
                Reviewer(port, f"{turn}-{number}", suggestions, decisions // REVIEWERS + 1)
                for number in range(REVIEWERS)
            ]
            for each in people:
                each.start()
            while sum(len(each.acknowledged) for each in people) < after and any(
                map(threading.Thread.is_alive, people)
            ):
                people[0].join(dice.random() * 0.005)
            process.kill()
            process.wait()
            process.stdout.close()
            for each in people:
                each.join()
                acknowledged |= each.acknowledged
            found, sound = written(folder / "s.review.db")
            assert sound
    assert acknowledged and acknowledged.items() <= found.items()
