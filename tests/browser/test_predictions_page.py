"""The page of predicted facts in a real browser, opened from disk."""

import json

import pytest
from tests.browser.pages import framed, with_script
from tests.factories import fact, words

from unnoted.data.visualization import DocumentEntry, FactTable, documents_page
from unnoted.data.visualization.pages import AT_ONCE

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"
LATE = AT_ONCE + 2
"""The number of a document that is kept as text until it is opened."""


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


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "facts.html"
    documents = [drawn(number) for number in range(1, AT_ONCE + 4)]
    path.write_text(documents_page("Predicted facts", ["Some lines."], documents, total=5000), "utf-8")
    return path


def entry(root, number):
    return list(root.all("details"))[number - 1]


def test_an_address_opens_a_document_that_was_kept_as_text_and_shows_the_fact(page, opened):
    root = opened(page, f"#document-{LATE}-fact-1")
    late = entry(root, LATE)
    assert "open" in late.attributes and not list(late.all("script"))
    assert late.only("tr", class_="shown").attributes["data-fact"] == "1"
    assert {span.attributes["data-entity"] for span in late.all("span", class_="head")} == {"0"}
    assert {span.attributes["data-entity"] for span in late.all("span", class_="tail")} == {"1"}
    assert late.only("p", class_="supports").attributes["data-sentence"] == "0"
    assert list(late.all("svg", class_="pointer"))  # the arrow in the text
    assert root.only("head").only("title").text == "Predicted facts"  # nothing hostile has run
    assert not list(root.all("img"))


def test_by_keyboard_and_pointer(page, opened, tmp_path):
    script = f"""
        const late = document.querySelectorAll('details')[{LATE - 1}], seen = {{}};
        const shown = (root) => [...root.querySelectorAll('tr.shown')].map((row) => row.dataset.fact).join();
        late.querySelector('summary').click();
        setTimeout(() => {{
            const root = late.querySelector('.unnoted-document');
            const [first, second] = root.querySelectorAll('.fact button');
            first.focus();
            seen.focused = shown(root);
            first.click(); // what Enter does
            second.focus();
            seen.other = shown(root);
            second.blur();
            seen.pinned = shown(root) + first.getAttribute('aria-pressed');
            document.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Escape' }}));
            seen.escaped = shown(root) + first.getAttribute('aria-pressed');
            root.querySelector('.mention[data-entity="0"]').dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}));
            seen.lit = root.querySelectorAll('.mention.lit').length;
            document.body.dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}));
            seen.left = root.querySelectorAll('.lit').length;
            document.title = JSON.stringify(seen);
        }}, 300);
    """
    root = opened(with_script(page, tmp_path / "keys.html", script))
    seen = json.loads(root.only("head").only("title").text)
    assert seen == {
        "focused": "1", "other": "2", "pinned": "1true", "escaped": "false", "lit": 1, "left": 0,
    }  # fmt: skip


def test_find_shows_what_is_found_also_in_documents_that_were_not_opened(page, opened, tmp_path):
    script = """
        const field = document.getElementById('find'), told = [];
        const ask = (text, then) => {
            field.value = text;
            field.dispatchEvent(new Event('input'));
            setTimeout(() => {
                const visible = [...document.querySelectorAll('.entry')].filter((entry) => !entry.hidden).length;
                told.push([visible, document.getElementById('found').textContent]);
                then();
            }, 300);
        };
        ask("bo o'brien", () => ask('DOCUMENT 22', () => ask('Ada met  Bo in', () => ask('nowhere', () => ask('', () => {
            document.title = JSON.stringify(told);
        })))));
    """
    root = opened(with_script(page, tmp_path / "find.html", script))
    documents = AT_ONCE + 3
    assert json.loads(root.only("head").only("title").text) == [
        [documents, f"in {documents} of {documents} documents"],
        [1, f"in 1 of {documents} documents"],
        [documents, f"in {documents} of {documents} documents"],
        [0, f"in 0 of {documents} documents"],
        [documents, ""],
    ]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(page, width, opened, tmp_path):
    assert opened(framed(page, tmp_path, width)).only("head").only("title").text == "over by 0"


def test_the_page_asks_for_nothing(page, opened, tmp_path):
    script = "document.title = performance.getEntriesByType('resource').length + ' asked for'"
    root = opened(with_script(page, tmp_path / "asked.html", script))
    assert root.only("head").only("title").text == "0 asked for"
