"""A real browser for pages that are opened from disk."""

import shutil
import subprocess

import pytest
from tests.markup import parse

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def opened(tmp_path):
    """Opens a page and gives what the browser made of it."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")

    def open_page(path, fragment=""):
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1200,1000",
            "--virtual-time-budget=3000",  # for what a script does a moment later
            "--dump-dom",
        ]
        command = [CHROMIUM, *options, path.as_uri() + fragment]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return parse(ran.stdout)

    return open_page
