"""Pages of the documentation that messages and docstrings name exist, with their anchors; no page is left out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TROUBLESHOOTING = "docs/guides/troubleshooting.md"
TARGET = re.compile(r"docs/[\w/-]+\.md(?:#[\w-]+)?")
SOURCES = [path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".yaml", ".j2", ".js"}]
TARGETS = sorted({found for path in SOURCES for found in TARGET.findall(path.read_text("utf-8"))})


def anchors(page):
    """The anchors of a page: those of its headings, as the site makes them, and those written out."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}
    return slugs | set(re.findall(r'<a id="([\w-]+)">', text))


@pytest.mark.parametrize("target", TARGETS)
def test_what_messages_name_exists(target):
    page, _, anchor = target.partition("#")
    assert (ROOT / page).is_file()
    assert not anchor or anchor in anchors(ROOT / page)


def test_anchors_of_troubleshooting_are_those_that_messages_name():
    named = {target.partition("#")[2] for target in TARGETS if target.startswith(f"{TROUBLESHOOTING}#")}
    assert named == set(re.findall(r'<a id="([\w-]+)">', (ROOT / TROUBLESHOOTING).read_text("utf-8")))


def test_every_page_is_in_the_navigation():
    listed = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if f"- {page}" not in listed]
