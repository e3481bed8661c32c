"""A real browser, and applications in a thread of this process."""

import shutil
import threading
from contextlib import contextmanager

import pytest
from uvicorn import Config, Server

from unnoted.web import listen

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 860}


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture
def open_page(browser):
    """Opens pages, each in a context of its own; none may have an error when the test ends."""
    pages, wrong = [], []

    def open_page(address, viewport=DESK):
        page = browser.new_page(viewport=viewport)
        page.set_default_timeout(20_000)  # a busy machine takes its time
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.goto(address)
        pages.append(page)
        return page

    def close():
        while pages:
            pages.pop().close()

    open_page.wrong, open_page.close = wrong, close
    yield open_page
    close()
    assert wrong == []


@contextmanager
def served(app):
    """An application in a thread; gives its address."""
    listening = listen("127.0.0.1", 0)
    server = Server(Config(app, log_level="error", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


def overflow(page):
    """By how much a page is wider than its window."""
    root = "document.documentElement"
    return page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
