"""The page of predicted facts in a real browser, opened from disk."""

import pytest
from tests.browser.conftest import DESK, PHONE, overflow
from tests.factories import fact, words

from unnoted.data.visualization import (
    DocumentEntry,
    FactGroup,
    FactRow,
    FactTable,
    documents_page,
    render_slider,
)
from unnoted.data.visualization.pages import AT_ONCE

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"
LATE = AT_ONCE + 2
"""The number of a document that is kept as text until it is opened."""
DOCUMENTS = AT_ONCE + 3


def drawn(number):
    document = words(
        "Ada met Bo in Rome and left .",
        (0, 1, "PER", f"Ada {HOSTILE}"),
        (2, 3, "PER", "Bo O'Brien"),
        (4, 5, "LOC", "Rome"),
        facts=[fact(0, 1, "P1", 0), fact(0, 2, "P2", 0)],
        id=f"document {number} {HOSTILE if number == LATE else ''}",
    )
    return DocumentEntry(
        document, FactTable.from_facts(document.facts), {"P1": f"met {HOSTILE}", "P2": "x" * 300}
    )


@pytest.fixture
def opened(open_page, tmp_path):
    path = tmp_path / "facts.html"
    documents = [drawn(number) for number in range(1, DOCUMENTS + 1)]
    path.write_text(documents_page("Predicted facts", ["Some lines."], documents, total=5000), "utf-8")
    return lambda fragment="", **options: open_page(path.as_uri() + fragment, **options)


def test_an_address_opens_a_document_that_was_kept_as_text_and_shows_the_fact(opened):
    page = opened(f"#document-{LATE}-fact-1")
    late = page.locator("details").nth(LATE - 1)
    late.locator("tr.shown[data-fact='1']").wait_for()
    assert late.get_attribute("open") is not None and late.locator("script").count() == 0
    assert {each.get_attribute("data-entity") for each in late.locator("span.head").all()} == {"0"}
    assert {each.get_attribute("data-entity") for each in late.locator("span.tail").all()} == {"1"}
    assert late.locator("p.supports").get_attribute("data-sentence") == "0"
    assert late.locator("svg.pointer").count() > 0  # the arrow in the text
    assert page.title() == "Predicted facts" and page.locator("img").count() == 0  # nothing hostile has run
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0  # and nothing was asked for


def test_by_keyboard_and_pointer(opened):
    page = opened()
    late = page.locator("details").nth(LATE - 1)
    late.locator("summary").first.click()
    page.mouse.move(0, 0)
    first, second = late.locator(".fact button").nth(0), late.locator(".fact button").nth(1)

    def shown():
        return [each.get_attribute("data-fact") for each in late.locator("tr.shown").all()]

    first.focus()
    assert shown() == ["1"]
    page.keyboard.press("Enter")
    second.focus()
    assert shown() == ["2"]
    second.blur()
    assert shown() == ["1"] and first.get_attribute("aria-pressed") == "true"  # it is pinned
    page.keyboard.press("Escape")
    assert shown() == [] and first.get_attribute("aria-pressed") == "false"
    late.locator('.mention[data-entity="0"]').first.hover()
    assert late.locator(".mention.lit").count() == 1
    page.locator("h1").hover()
    assert late.locator(".lit").count() == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [("bo o'brien", DOCUMENTS), ("DOCUMENT 22", 1), ("Ada met  Bo in", DOCUMENTS), ("nowhere", 0)],
)
def test_find_shows_what_is_found_also_in_documents_that_were_not_opened(opened, text, found):
    page = opened()
    page.fill("#find", text)
    page.get_by_text(f"in {found} of {DOCUMENTS} documents").wait_for()
    assert page.locator(".entry:not([hidden])").count() == found
    page.fill("#find", "")
    page.locator("#found:empty").wait_for(state="attached")
    assert page.locator(".entry:not([hidden])").count() == DOCUMENTS


@pytest.fixture
def scored(open_page, tmp_path):
    """A page of facts with the scores 0.9, 0.3 and 0.2, at the threshold 0.25, and of documents without facts."""
    documents = []
    for number in range(1, DOCUMENTS + 1):
        document, _, names = drawn(number)
        pairs = ((0, 1, 0.9), (0, 2, 0.3), (1, 2, 0.2)) if number % 2 else ()
        rows = tuple(FactRow(head, tail, "P1", (0,), (str(score),), score) for head, tail, score in pairs)
        documents.append(DocumentEntry(document, FactTable((FactGroup(rows),), ("Score",), 0.25), names))
    precision = [number / 100 for number in range(100)]
    path = tmp_path / "scored.html"
    path.write_text(
        documents_page("Facts", [], documents, slider=render_slider(0.25, 0.1, precision)), "utf-8"
    )
    return open_page(path.as_uri())


@pytest.mark.parametrize(("score", "facts"), [(None, 2), ("0.15", 3), ("0.5", 1), ("0.95", 0)])
def test_a_slider_shows_the_facts_above_its_score_also_in_documents_that_were_not_opened(
    scored, score, facts
):
    if score:
        scored.locator("#threshold").fill(score)
    with_facts = (DOCUMENTS + 1) // 2
    threshold = float(score or 0.25)
    assert scored.inner_text("#outcome").startswith(f"{threshold:.2f}: {facts * with_facts} facts")
    assert scored.inner_text("#outcome").endswith(f"expected precision {threshold:.2f}")
    for number in (0, LATE):  # documents 1 and LATE + 1; the second is opened now
        entry = scored.locator("details").nth(number)
        if number:
            entry.locator("summary").click()
            entry.locator(".text").wait_for()
        assert entry.locator("tr.fact:visible").count() == facts
        assert entry.locator(".count").inner_text() == f"{facts} fact{'' if facts == 1 else 's'}"


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_is_wider_than_the_window(opened, viewport):
    assert overflow(opened(viewport=viewport)) == 0
