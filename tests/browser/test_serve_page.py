"""The page of a service in a real browser: text in, entities and facts out."""

import json
import os
import shutil
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from tests.unit.serve.factories import RECORDS, TEXT, extractor, reader

from unnoted.serve import ExtractionService, create_app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@contextmanager
def served(text=True, token=None):
    """The address of a service in a thread of this process."""
    service = ExtractionService(extractor(), "small", reader() if text else None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(create_app(service, token), port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def address():
    with served() as made:
        yield made


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    made.troubles = []
    made.on("pageerror", lambda error: made.troubles.append(str(error)))
    made.on("console", lambda line: made.troubles.append(line.text) if line.type == "error" else None)
    yield made
    made.close()


def ask(page, address, text, threshold="0"):
    page.goto(address)
    page.fill("#given", text)
    page.fill("#threshold", threshold)
    page.click("#extract")
    page.wait_for_selector("#extract:not([disabled])")


def shoot(page, name):
    """A picture for people, where UNNOTED_SCREENSHOTS names a folder."""
    if folder := os.environ.get("UNNOTED_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.parametrize("width", [1280, 390])
def test_pasted_text_shows_entities_and_facts(page, address, width):
    page.set_viewport_size({"width": width, "height": 800})
    ask(page, address, TEXT)
    found = page.locator("#found")
    assert found.locator(".mention[data-entity]").all_inner_texts()[0].startswith("Ada")
    assert "<b>" in found.locator(".text").inner_text().replace(" ", "") and found.locator("b").count() == 0
    assert found.locator("tr.fact").count() > 5
    found.locator("tr.fact").nth(1).hover()
    assert found.locator(".mention.head").count() >= 1
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over == 0 and page.troubles == []
    shoot(page, f"serve-page-{width}")


def test_the_example_needs_nothing_but_a_click(page, address):
    page.goto(address)
    page.click("#example")
    page.wait_for_selector("#found:not([hidden])")
    assert "Marie Curie" in page.input_value("#given") and page.troubles == []


def test_what_is_wrong_is_said(page, address):
    page.goto(address)
    page.click("#extract")
    assert page.inner_text("#status") == "Paste a text first."
    ask(page, address, "word " * 30_000)
    assert "30,000 words" in page.inner_text("#status") and not page.locator("#found").is_visible()


def test_a_document_with_its_entities_where_nothing_finds_them_and_a_token(page):
    with served(text=False, token="secret") as address:
        page.goto(address)
        page.fill("#token", "wrong")
        page.click("#example")
        page.wait_for_selector("#status.bad")
        assert "token" in page.inner_text("#status")
        page.fill("#token", "secret")
        page.click("#extract")
        page.wait_for_selector("#found:not([hidden])")
        assert page.locator(".mention[data-entity]").count() > 10  # the example knows where its names stand
        page.fill("#given", json.dumps(RECORDS[0]))
        page.fill("#threshold", "0")
        page.click("#extract")
        page.wait_for_selector("tr.fact")


def test_the_page_runs_nothing_that_is_not_its_own(page, address):
    page.goto(address)
    reached = page.evaluate("fetch('https://example.org/').then(() => 'reached', () => 'refused')")
    assert reached == "refused"
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    page.wait_for_timeout(100)
    assert page.title() != "1"
