"""The page of a service in a real browser: text in, entities and facts out."""

import json
from dataclasses import replace

import pytest
from tests.browser.conftest import DESK, PHONE, overflow, served
from tests.unit.inference.making import calibration
from tests.unit.serve.factories import RECORDS, TEXT, extractor, reader

from unnoted.serve import ExtractionService, create_app


@pytest.fixture(scope="module")
def address():
    made = extractor()
    made.model.decoder = replace(made.model.decoder, calibration=calibration(0.1))
    with served(create_app(ExtractionService(made, "small", reader()), None)) as address:
        yield address


def ask(page, text):
    page.fill("#given", text)
    page.click("#extract")
    page.wait_for_selector("#extract:not([disabled])")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_pasted_text_shows_entities_and_facts(open_page, address, viewport):
    page = open_page(address, viewport)
    ask(page, TEXT)
    found = page.locator("#found")
    assert found.locator(".mention[data-entity]").all_inner_texts()[0].startswith("Ada")
    assert "<b>" in found.locator(".text").inner_text().replace(" ", "") and found.locator("b").count() == 0
    lowest = page.get_attribute("#threshold", "min")
    page.locator("#threshold").fill(lowest)
    assert found.locator("tr.fact:visible").count() == found.locator("tr.fact").count() > 3
    scores = [float(row.get_attribute("data-score")) for row in found.locator("tr.fact").all()]
    page.locator("#threshold").fill("0.6")
    above = sum(score > 0.6 for score in scores)
    assert found.locator("tr.fact:visible").count() == above
    assert f"0.60: {above} fact" in page.inner_text("#outcome")
    page.locator("#threshold").fill(lowest)
    found.locator("tr.fact").nth(1).hover()
    assert found.locator(".mention.head").count() >= 1
    assert overflow(page) == 0


def test_the_example_needs_nothing_but_a_click(open_page, address):
    page = open_page(address)
    page.click("#example")
    page.wait_for_selector("#found:not([hidden])")
    assert "Marie Curie" in page.input_value("#given")


def test_what_is_wrong_is_said(open_page, address):
    page = open_page(address)
    page.click("#extract")
    assert page.inner_text("#status") == "Paste a text first."
    ask(page, "word " * 30_000)
    assert "30,000 words" in page.inner_text("#status") and not page.locator("#found").is_visible()
    open_page.wrong.clear()  # the browser reports the refusal, too


def test_a_document_with_its_entities_where_nothing_finds_them_and_a_token(open_page):
    with served(create_app(ExtractionService(extractor(), "small", None), "secret")) as address:
        page = open_page(address)
        page.fill("#token", "wrong")
        page.click("#example")
        page.wait_for_selector("#status.bad")
        assert "token" in page.inner_text("#status")
        open_page.wrong.clear()
        page.fill("#token", "secret")
        page.click("#extract")
        page.wait_for_selector("#found:not([hidden])")
        assert page.locator(".mention[data-entity]").count() > 10  # the example knows where its names stand
        ask(page, json.dumps(RECORDS[0]))
        page.wait_for_selector("tr.fact")


def test_the_page_runs_nothing_that_is_not_its_own(open_page, address):
    page = open_page(address)
    reached = page.evaluate("fetch('https://example.org/').then(() => 'reached', () => 'refused')")
    assert reached == "refused"
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    page.wait_for_timeout(100)
    assert page.title() != "1"
    open_page.wrong.clear()  # the browser reports what the policy forbids
