"""A review in a real browser, by keyboard and by mouse."""

import re
from contextlib import contextmanager

import pytest
from tests.browser.conftest import DESK, PHONE, overflow, served
from tests.unit.review.factories import HOSTILE, TOKEN, Authors, many, opened, people, states, suggested

from unnoted.data import load_documents
from unnoted.data.document import Fact
from unnoted.review.app import create_app
from unnoted.review.export import export_review
from unnoted.review.store import Verdict
from unnoted.suggestions import Suggestion

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")


class Reviewing:
    """One reviewer's page, and what a test asks of it."""

    def __init__(self, page):
        self.page = page
        self.expect.set_options(timeout=20_000)
        self.expect(page.locator("#do-accept")).to_be_visible()

    expect = staticmethod(playwright.expect)

    def shows(self, head, tail):
        self.expect(self.page.locator("h2.fact .head")).to_contain_text(head)
        self.expect(self.page.locator("h2.fact .tail")).to_contain_text(tail)

    def says(self, text):
        self.expect(self.page.locator("#message")).to_contain_text(text)

    def forget(self):
        self.page.evaluate("document.getElementById('message').replaceChildren()")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, place):
        row = self.page.locator("#rows .row").nth(place)
        row.click()
        self.expect(row).to_have_class(re.compile("current"))

    def counts(self, number):
        self.expect(self.page.locator("#count")).to_have_text(f"{number} fact{'' if number == 1 else 's'}")


@contextmanager
def reviewed(store, open_page):
    """A review that is served; its pages are closed before the server ends."""
    with served(create_app(store, TOKEN)) as address:
        yield address
        open_page.close()
    store.close()


@pytest.fixture
def store_of_people(tmp_path):
    return opened(tmp_path)


@pytest.fixture
def at(open_page, store_of_people):
    with reviewed(store_of_people, open_page) as address:
        yield lambda name="Ada", **options: Reviewing(
            open_page(f"{address}?as={name}&order=score#token={TOKEN}", **options)
        )


def test_by_keyboard_alone(at, store_of_people, tmp_path):
    ada = at()
    ada.shows("Bo", "Ost")
    ada.press("a")
    ada.says("Accepted: Bo – lives in → Ost")
    ada.shows("Bo", "Kelm")
    ada.press("r")
    ada.says("Rejected")
    ada.shows("Ada Lorne", "Bo")
    ada.press("u")
    ada.says("Undone: Bo – lives in → Kelm")
    ada.shows("Bo", "Kelm")
    assert states(store_of_people) == ["accepted", "open", "open", "open", "open"]
    ada.press("r")
    ada.says("Rejected")
    ada.shows("Ada Lorne", "Bo")
    ada.press("o")  # another relation: type, choose, done
    ada.expect(ada.page.locator("#search")).to_be_focused()
    ada.page.keyboard.type("liv")
    ada.expect(ada.page.locator("#relation-fact")).to_have_text("Ada Lorne – lives in → Bo")
    ada.press("Enter")
    ada.says("accepted instead: Ada Lorne – lives in → Bo")
    ada.shows("Ada Lorne", "Kelm")
    ada.press("x")
    ada.says("Swapped: Kelm – lives in → Ada Lorne")
    ada.expect(ada.page.locator(".kind")).to_contain_text("looks wrong")
    ada.press("n")  # a fact that was not proposed
    ada.expect(ada.page.locator("#relation-dialog")).to_be_visible()
    ada.page.locator("#pair-head").focus()
    ada.page.keyboard.type("Ost")
    ada.page.locator("#search").focus()
    ada.page.keyboard.type("knows")
    ada.expect(ada.page.locator("#relation-fact")).to_have_text("Ost – knows → Kelm")
    ada.press("Enter")
    ada.says("Added: Ost – knows → Kelm")
    ada.press("s")
    ada.says("Skipped")
    ada.expect(ada.page.locator(".empty")).to_contain_text("Everything in this view is decided")
    expected = ["accepted", "rejected", "rejected", "rejected", "skipped", "accepted", "accepted", "accepted"]
    assert states(store_of_people) == expected
    report, _ = export_review(store_of_people, tmp_path / "corrected.jsonl")
    assert (report.added, report.rejected) == (4, 3)
    corrected = {each.id: each.labels for each in load_documents(tmp_path / "corrected.jsonl")}
    assert corrected["d2"] == {(0, 1, "lives"), (3, 1, "knows")}


def test_help_opens_closes_and_keys_can_be_turned_off(at, store_of_people):
    ada = at()
    ada.press("?")
    ada.expect(ada.page.locator("#help-dialog")).to_be_visible()
    ada.press("a")  # decides nothing behind a dialog
    ada.page.locator("#keys-on").uncheck()
    ada.press("Escape")
    ada.expect(ada.page.locator("#help-dialog")).to_be_hidden()
    ada.press("a")
    ada.page.reload()
    ada.expect(ada.page.locator("#do-accept")).to_be_visible()
    ada.press("a")
    assert set(states(store_of_people)) == {"open"}
    ada.page.locator("#do-accept").focus()
    ada.press("Enter")  # a button is still a button, and keeps the focus
    ada.says("Accepted: Bo – lives in → Ost")
    ada.expect(ada.page.locator("#do-accept")).to_be_focused()
    ada.press("Enter")
    ada.says("Accepted: Bo – lives in → Kelm")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_the_list_scrolls_and_the_page_does_not(open_page, tmp_path, viewport):
    with reviewed(opened(tmp_path, many(tmp_path, 300)), open_page) as address:
        ada = Reviewing(open_page(f"{address}?as=Ada#token={TOKEN}", viewport=viewport))
        for _ in range(3):
            ada.press("a")
            ada.says("Accepted")
            ada.forget()
        page = "document.scrollingElement"
        if viewport is DESK:
            assert ada.page.evaluate(f"{page}.scrollHeight <= {page}.clientHeight")
        assert ada.page.locator(".card").bounding_box()["y"] >= 0  # the fact is in sight
        if viewport is PHONE:
            ada.expect(ada.page.locator("#queue")).to_be_hidden()
            ada.page.click("#show-queue")
            ada.expect(ada.page.locator("#rows .row.current")).to_be_in_viewport()
        ada.expect(ada.page.locator("#rows .row")).to_have_count(100)
        ada.page.evaluate("document.getElementById('rows').scrollTop = 1e6")
        ada.expect(ada.page.locator("#rows .row")).to_have_count(200)
        ada.choose(150)
        ada.expect(ada.page.locator("h2.fact .head")).to_be_visible()
        if viewport is PHONE:
            ada.expect(ada.page.locator("#queue")).to_be_hidden()


def test_by_mouse(at, store_of_people):
    ada = at()
    ada.page.click("#do-accept")
    ada.says("Accepted")
    ada.page.click("#do-reject")
    ada.says("Rejected")
    ada.page.click("#do-undo")
    ada.says("Undone")
    ada.page.click("#more-filters summary")
    ada.page.select_option("#relation", "knows")
    ada.counts(1)
    ada.shows("Ada Lorne", "Bo")
    ada.page.click("#clear-filters")
    ada.counts(4)
    ada.page.fill("#low", "0.25")
    ada.page.fill("#high", "0.4")
    ada.page.locator("#high").blur()
    ada.counts(1)
    ada.shows("Ada Lorne", "Kelm")
    ada.page.click("#clear-filters")
    ada.page.select_option("#view", "accepted")
    ada.counts(1)
    ada.page.select_option("#view", "open")
    ada.page.fill("#of-document", "d3")
    ada.page.locator("#of-document").blur()
    ada.counts(2)
    ada.choose(1)
    ada.shows("Ada Lorne", "Kelm")
    # A fact by two clicks: the head, then the tail.
    ada.page.click("#text .text .mention[data-entity='2']")
    ada.says("Head: Bo")
    ada.expect(ada.page.locator("#text .mention.chosen")).to_have_count(1)
    ada.page.click("#text .text .mention[data-entity='3']")
    ada.page.click("#choices [data-relation='knows']")
    ada.says("Added: Bo – knows → Ost")
    assert states(store_of_people) == ["accepted", "open", "open", "open", "open", "accepted"]


def test_the_last_choice_wins_whichever_answer_comes_last(at):
    """A row that is clicked while a filter still looks for its first fact stays."""
    ada = at()
    held = []
    ada.page.route("**/api/next?*", lambda route: held.append(route))
    ada.page.click("#more-filters summary")
    ada.page.fill("#of-document", "d3")
    ada.page.locator("#of-document").blur()
    ada.counts(2)
    ada.choose(1)
    ada.shows("Ada Lorne", "Kelm")
    (first,) = held
    with ada.page.expect_response("**/api/next?*"):
        first.continue_()
    ada.page.wait_for_timeout(500)  # time enough to show the wrong one
    ada.shows("Ada Lorne", "Kelm")


def test_whoever_is_fast_answers_before_the_usual_relations_have_come(at, store_of_people):
    ada = at()
    ada.page.route("**/api/usual?*", lambda route: None)  # never answered
    ada.press("o")
    ada.expect(ada.page.locator("#search")).to_be_focused()
    ada.page.keyboard.type("kno")
    ada.expect(ada.page.locator("#relation-fact")).to_have_text("Bo – knows → Ost")
    ada.press("Enter")
    ada.says("accepted instead: Bo – knows → Ost")


def test_a_click_counts_though_the_list_is_drawn_again_between_press_and_release(at):
    ada = at()
    ada.shows("Bo", "Ost")
    ada.page.hover("#rows .row >> nth=1")
    ada.page.mouse.down()
    ada.page.locator("#rows").dispatch_event("scroll")
    ada.page.mouse.up()
    ada.shows("Bo", "Kelm")


def test_mentions_of_an_entity_are_lit_together(at):
    ada = at()
    ada.page.hover("#text .text .mention[data-entity='1']")
    ada.expect(ada.page.locator("#text .mention.lit")).to_have_count(1)
    ada.page.hover("#do-accept")
    ada.expect(ada.page.locator("#text .mention.lit")).to_have_count(0)


def test_two_reviewers_and_a_reload(at, store_of_people):
    ada, bo = at("Ada"), at("Bo")
    ada.shows("Bo", "Ost")
    bo.shows("Bo", "Kelm")  # not what Ada is looking at
    ada.press("a")
    ada.says("Accepted")
    bo.page.select_option("#view", "not-by-me")
    bo.choose(0)
    bo.shows("Bo", "Ost")
    bo.expect(bo.page.locator(".decisions")).to_contain_text("Ada accepts")
    bo.press("r")
    bo.says("Rejected")
    ada.page.select_option("#view", "disagreed")
    ada.counts(1)
    ada.page.reload()
    ada.counts(1)  # the address keeps the view
    ada.shows("Bo", "Ost")
    ada.expect(ada.page.locator(".decisions li")).to_have_count(2)
    ada.expect(ada.page.locator("#kappa-figure")).to_be_visible()
    ada.page.click("#kappa")
    ada.expect(ada.page.locator("#agreements tbody")).to_contain_text("Ada and Bo")
    assert states(store_of_people)[0] == "disagreed"


def test_the_name_is_asked_once(open_page, store_of_people):
    with reviewed(store_of_people, open_page) as address:
        page = open_page(f"{address}#token={TOKEN}")
        page.fill("#name", "Cy")
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#who")).to_have_text("Cy")
        page.goto(f"{address}#token={TOKEN}")
        playwright.expect(page.locator("#do-accept")).to_be_visible()
        page.goto("about:blank")
        page.goto(f"{address}#token=wrong")
        playwright.expect(page.locator("#proposal")).to_contain_text("This address has no token")
        open_page.wrong.clear()  # the browser reports the refusal, too


def test_two_entities_are_merged_by_keyboard_and_a_note_goes_with_a_decision(open_page, tmp_path):
    document = people("d1", ("Ada Lorne", "Kelm", "Lorne", "Ost"), ())
    listed = [
        Suggestion("d1", 2, 3, "lives", 0.9),
        Suggestion("d1", 0, 3, "lives", 0.8),
        Suggestion("d1", 0, 1, "lives", 0.7),
    ]
    store = opened(tmp_path, suggested(tmp_path, [document], listed))
    with reviewed(store, open_page) as address:
        ada = Reviewing(open_page(f"{address}?as=Ada&order=score#token={TOKEN}"))
        ada.expect(ada.page.locator(".alike")).to_contain_text("Ada Lorne (PER 1) and Lorne (PER 3)")
        ada.press("m")
        ada.expect(ada.page.locator("#merge-dialog")).to_be_visible()
        assert ada.page.input_value("#merge-one"), ada.page.input_value("#merge-other") == ("0", "2")
        ada.press("Tab", "Tab", "Enter")  # over Cancel to the button
        ada.says("Merged: Ada Lorne (PER 1) and Lorne (PER 3)")
        ada.counts(2)
        ada.press("c")
        ada.expect(ada.page.locator("#note")).to_be_focused()
        ada.page.keyboard.type("as the last line says")
        ada.press("Enter", "a")
        ada.says("Accepted: Lorne – lives in → Ost")
        ada.shows("Ada Lorne", "Kelm")
        ada.expect(ada.page.locator("#note")).to_have_value("")
        ada.press("k")
        ada.expect(ada.page.locator(".decisions")).to_contain_text("as the last line says")
        assert states(store) == ["accepted", "merged", "open"]
        ada.press("u")
        ada.says("Undone: Lorne")
        ada.press("u")
        ada.says("two again")
        assert states(store) == ["open", "open", "open"]


def test_few_labels_are_said_in_large_type_and_the_queue_begins_at_random(open_page, tmp_path):
    with reviewed(opened(tmp_path), open_page) as address:
        ada = Reviewing(open_page(f"{address}?as=Ada#token={TOKEN}"))
        ada.expect(ada.page.locator("#rough")).to_contain_text("Only 2 labels: scores are rough")
        assert (
            ada.page.evaluate("parseFloat(getComputedStyle(document.getElementById('rough')).fontSize)") >= 18
        )
        ada.expect(ada.page.locator("#order")).to_have_value("random")
        ada.expect(ada.page.locator("#why")).to_have_text("rough: 0 of 4 random decisions")
        grey = "getComputedStyle(document.getElementById('complete')).color"
        before = ada.page.evaluate(grey)
        for number in range(4):
            ada.press("a")
            ada.says("Accepted")
            ada.forget()
            ada.expect(ada.page.locator("#decided")).to_have_text(f"{number + 1} of 5")
        ada.expect(ada.page.locator("#why")).to_have_text("")
        assert ada.page.evaluate(grey) != before


def test_the_first_fifty_are_a_goal(open_page, tmp_path):
    store = opened(tmp_path, many(tmp_path, 60))
    author = Authors("Bo")
    for item in range(48):
        store.decide(author(), item, Verdict.ACCEPT)
    with reviewed(store, open_page) as address:
        ada = Reviewing(open_page(f"{address}?as=Ada#token={TOKEN}"))
        ada.expect(ada.page.locator("#goal")).to_have_text("The first 50")
        ada.expect(ada.page.locator("#decided")).to_have_text("48 of 50")
        ada.press("a")
        ada.says("Accepted")
        ada.press("r")
        ada.expect(ada.page.locator(".empty")).to_contain_text("49 hold and 1 do not")
        ada.expect(ada.page.locator("#go-on")).to_be_focused()
        ada.press("Enter")
        ada.expect(ada.page.locator("#do-accept")).to_be_visible()
        ada.expect(ada.page.locator("#decided")).to_have_text("50 of 60")


REACHABLE = """() => [...document.querySelectorAll("button, input, select, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility() && !each.disabled && !each.closest("dialog")).map((each) => each.id || each.outerHTML.slice(0, 60))"""


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_every_control_is_reached_by_tab_and_is_seen_when_it_has_the_focus(at, viewport):
    ada = at(viewport=viewport)
    wanted, seen = set(ada.page.evaluate(REACHABLE)), set()
    for _ in range(2 * len(wanted) + 10):
        ada.press("Tab")
        found = ada.page.evaluate(
            """() => {
              const each = document.activeElement, style = getComputedStyle(each);
              return [each.id || each.outerHTML.slice(0, 60), style.outlineStyle, parseFloat(style.outlineWidth)];
            }"""
        )
        if found[0] in wanted:
            assert found[1] == "solid" and found[2] >= 2, found
            seen.add(found[0])
    assert seen == wanted


def test_hostile_text_stays_text(open_page, tmp_path):
    document = people(HOSTILE, (HOSTILE, "Kelm", "Bo"), (Fact(1, 0, HOSTILE),))
    listed = [Suggestion(HOSTILE, 0, 1, HOSTILE, 0.5, (), HOSTILE)]
    store = opened(tmp_path, suggested(tmp_path, [document], listed, {HOSTILE: (HOSTILE, HOSTILE)}))
    with reviewed(store, open_page) as address:
        ada = Reviewing(open_page(f"{address}?as=Ada#token={TOKEN}"))
        for place in ("h2.fact", ".about", ".examples", "#text", "#rows", ".title"):
            ada.expect(ada.page.locator(place).first).to_contain_text("<img src=x onerror=")
        assert ada.page.locator("img, main script").count() == 0
        assert ada.page.title() == "Review – unnoted"


COLOURS = """() => {
  const seen = [];
  const solid = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/rgba\\(.*, 0\\)$/.test(colour)) return colour;
    }
    return getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "rgb(0,0,0)" : "rgb(255,255,255)";
  };
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("svg, .unseen, noscript, option")) continue;
    const style = getComputedStyle(element);
    seen.push([element.textContent.trim().slice(0, 30), style.color, solid(element), parseFloat(style.fontSize), style.fontWeight]);
  }
  return seen;
}"""

UNNAMED = """() => [...document.querySelectorAll("button, input, select, [role=listbox], [role=option], dialog, section")]
  .filter((each) => {
    const by = (each.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
    const labels = each.labels ? [...each.labels].map((label) => label.textContent).join("") : "";
    const own = each.matches("button, [role=option]") ? each.textContent : "";
    const nested = each.matches("section section");
    return !nested && !(each.getAttribute("aria-label") || by || labels || own).trim();
  }).map((each) => each.outerHTML.slice(0, 80))"""


def luminance(colour):
    parts = [float(each) / 255 for each in re.findall(r"[\d.]+", colour)[:3]]
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_it_can_be_read_and_has_names(at, viewport):
    ada = at(viewport=viewport)
    ada.press("a")
    ada.says("Accepted")
    ada.forget()  # it fades
    for scheme in ("light", "dark"):
        ada.page.emulate_media(color_scheme=scheme)
        weak = [
            each for each in ada.page.evaluate(COLOURS)
            if contrast(each[1], each[2]) < (3 if each[3] >= 24 or (each[3] >= 18.66 and int(each[4]) >= 700) else 4.5)
        ]  # fmt: skip
        assert weak == [], scheme
    assert ada.page.evaluate(UNNAMED) == []
    ids = ada.page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))
    assert overflow(ada.page) == 0
    for name in ("accept", "reject", "skip", "undo", "other", "swap", "add"):
        box = ada.page.locator(f"#do-{name}").bounding_box()
        assert box["height"] >= 24 and box["width"] >= 24
    ada.page.locator("#do-accept").focus()
    ada.page.keyboard.press("Tab")
    outline = ada.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "what has the focus is not seen"
