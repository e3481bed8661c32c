"""A data team's path: a folder of brat, checked, suggested, reviewed in a browser, and a folder of brat again."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from tests.browser.conftest import CHROMIUM, OPTIONS
from tests.unit.training.factories import tiny_encoder

from unnoted.data import load_documents, write_documents
from unnoted.data.synthetic import generate_documents

UNNOTED = (sys.executable, "-m", "unnoted")
TOKEN = "a-token-for-tests"
TEXT = "Ada Lorne was born in Kelm. Lorne and her brother Bo Lorne sailed the North and South Sea to the University of Ost.\n"
SPANS = [
    "PER 0 9",
    "LOC 22 26",
    "PER 28 33",
    "PER 50 58",
    "LOC 70 75;86 89",
    "LOC 80 89",
    "ORG 97 114",
    "LOC 111 114",
]
"""A split mention (T5, across T6), and a nested one (T8 in T7)."""


def annotations():
    for number, span in enumerate(SPANS, start=1):
        pieces = [tuple(map(int, piece.split())) for piece in span.split(" ", 1)[1].split(";")]
        yield f"T{number}\t{span}\t{' '.join(TEXT[start:end] for start, end in pieces)}"
    yield "R1\tborn_in Arg1:T1 Arg2:T2\t"
    yield "A1\tNegation R1"
    yield "#1\tAnnotatorNotes T5\tboth seas?"
    yield "E1\tLOC:T2 Theme:T1"


def write_corpus(folder):
    """Generated documents, and one as people make them."""
    write_documents(folder, generate_documents(12), "brat")
    (folder / "own.txt").write_text(TEXT)
    (folder / "own.ann").write_text("".join(f"{line}\n" for line in annotations()))
    (folder / "annotation.conf").write_text("[entities]\nPER\nLOC\nORG\n")


def call(folder, *arguments, code=0):
    done = subprocess.run(
        [*UNNOTED, *arguments], cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


def defects(folder, path):
    """What `data check` finds, by severity."""
    (report,) = json.loads(call(folder, "data", "check", path, "--json"))
    assert report["usable"]
    return {each["kind"]: each["severity"] for each in report["defects"]}


@contextmanager
def reviewing(folder):
    """The address of a running review."""
    command = (*UNNOTED, "review", "start", "suggestions.jsonl", "--token", TOKEN)
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def decide_in_browser(address, playwright):
    """Accept the first, reject the second, and merge two entities of our own document."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        page = browser.new_page()
        page.goto(address.replace("#", "?as=Ada&order=score&document=own#"))
        for key, said in (("a", "Accepted"), ("r", "Rejected")):
            page.wait_for_selector("#do-accept")
            page.keyboard.press(key)
            page.locator("#message", has_text=said).wait_for()
        page.keyboard.press("m")
        page.select_option("#merge-one", "0")
        page.select_option("#merge-other", "2")
        page.click("#merge-dialog .primary")
        page.locator("#message", has_text="Merged").wait_for()
        browser.close()


def decide_by_requests(address):
    """The same without a browser."""
    place = urlsplit(address)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def ask(method, path, **values):
        connection = HTTPConnection(place.hostname, place.port)
        connection.request(method, path, json.dumps(values) if values else None, headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        return json.loads(answer.read())

    for verdict in ("accept", "reject"):
        item = ask("GET", "/api/next?as=Ada&document=own")["row"]["id"]
        ask("POST", "/api/decisions", reviewer="Ada", key=f"key-{verdict}", item=item, verdict=verdict)
    ask("POST", "/api/merges", reviewer="Ada", key="key-merge", document="own", one=0, other=2)


@pytest.fixture(scope="module")
def suggested(tmp_path_factory):
    """A folder with a corpus of brat and its suggestions."""
    folder = tmp_path_factory.mktemp("brat")
    write_corpus(folder / "corpus")
    severities = defects(folder, "corpus")
    assert set(severities.values()) == {"note"} and {"split-mention", "likely-duplicate"} <= set(severities)
    encoder = tiny_encoder(folder / "encoder")
    tiny = [f"--set={key}={value}" for key, value in (("embedding", 16), ("epochs", 1), ("markers", "plain"))]
    call(
        folder, "suggest", "corpus", "--config", "small", "--encoder", str(encoder), "--min-score", "0",
        *tiny, "--to", "suggestions.jsonl",
    )  # fmt: skip
    return folder


@pytest.mark.parametrize("way", ["browser", "requests"])
def test_from_brat_to_brat(tmp_path, suggested, way):
    shutil.copytree(suggested, tmp_path, dirs_exist_ok=True)
    corpus = tmp_path / "corpus"
    with reviewing(tmp_path) as address:
        if way == "browser":
            playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
            if CHROMIUM is None:
                pytest.skip("no Chromium on this machine")
            decide_in_browser(address, playwright)
        else:
            decide_by_requests(address)
    call(tmp_path, "review", "export", "suggestions.review.db", "--to", "corrected")
    assert set(defects(tmp_path, "corrected").values()) == {"note"}  # clean
    before, after = (
        {each.id: each for each in load_documents(tmp_path / name)} for name in ("corpus", "corrected")
    )
    assert {name: after[name] for name in after if name != "own"} == {
        name: before[name] for name in before if name != "own"
    }
    own = after["own"]
    assert [entity.name for entity in own.entities] == [
        "Ada Lorne", "Kelm", "Bo Lorne", "North Sea", "South Sea", "University of Ost", "Ost",
    ]  # fmt: skip
    assert own.entities[0].names == {"Ada Lorne", "Lorne"}
    assert (0, 1, "born_in") in own.labels and len(own.labels) == 2 and len(own.negatives) == 1
    lines = (corpus / "own.ann").read_text().splitlines()
    written = (tmp_path / "corrected" / "own.ann").read_text().splitlines()
    assert written[: len(lines)] == lines  # what people wrote stays, also what is not read here
    assert (tmp_path / "corrected" / "annotation.conf").read_bytes() == (
        corpus / "annotation.conf"
    ).read_bytes()


@pytest.mark.parametrize(
    "kept", [[], ["generated-0-0.txt", "generated-0-0.ann"]], ids=["alone", "beside others"]
)
def test_annotations_without_their_text_are_named(tmp_path, kept):
    write_corpus(tmp_path / "corpus")
    (tmp_path / "lone").mkdir()
    for name in ["own.ann", *kept]:
        shutil.copy(tmp_path / "corpus" / name, tmp_path / "lone")
    for path in ("lone", "lone/own.ann"):
        (report,) = json.loads(call(tmp_path, "data", "check", path, "--json", code=1))
        (defect,) = (each for each in report["defects"] if each["severity"] == "error")
        assert "own.txt" in defect["examples"][0]
