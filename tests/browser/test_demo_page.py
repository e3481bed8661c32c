"""The page of the demonstration in a real browser, opened from disk."""

import pytest
from tests.browser.pages import framed, with_script
from tests.unit.report.making import SECTIONS, demonstration, fact, predicted, with_shown, words

from unnoted.experiments.demonstrate import ShownDocument
from unnoted.report import demo_page

FACT = "document-1-fact-2"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "demo.html"
    path.write_text(demo_page(demonstration()), "utf-8")
    return path


def shown(root, article="document-1"):
    drawing = root.only("div", id=article)
    return {
        name: sorted(element.attributes[attribute] for element in drawing.all(class_=name))
        for name, attribute in (
            ("head", "data-entity"),
            ("tail", "data-entity"),
            ("supports", "data-sentence"),
        )
    }


def expected(root, name=FACT):
    row = root.only("tr", id=name)
    drawing = root.only("div", id="document-1")
    head, tail = row.attributes["data-head"], row.attributes["data-tail"]
    return {
        "head": [head] * len(list(drawing.all("span", data_entity=head))),
        "tail": [tail] * len(list(drawing.all("span", data_entity=tail))),
        "supports": sorted(row.attributes["data-sentences"].split()),
    }


NOTHING = {"head": [], "tail": [], "supports": []}


def test_everything_is_there_and_nothing_is_shown_yet(page, opened):
    root = opened(page)
    sections = [section.attributes["id"] for section in root.only("main").all("section")]
    assert sections == SECTIONS
    assert len(list(root.all("table"))) == 4
    assert [len(list(figure.all("path"))) > 10 for figure in root.all("figure", class_="plot")] == [True] * 3
    assert shown(root, "document-1") == shown(root, "document-2") == NOTHING


def test_a_click_shows_the_fact_in_its_own_document(page, opened, tmp_path):
    root = opened(
        with_script(page, tmp_path / "click.html", f"document.querySelector('#{FACT} button').click()")
    )
    assert shown(root) == expected(root) != NOTHING
    assert shown(root, "document-2") == NOTHING
    assert "shown" in root.only("tr", id=FACT).classes


def test_a_second_click_takes_it_back_and_another_fact_replaces_it(page, opened, tmp_path):
    click = f"document.querySelector('#{FACT} button').click();"
    assert shown(opened(with_script(page, tmp_path / "twice.html", click * 2))) == NOTHING
    other = FACT.replace("fact-2", "fact-1")
    root = opened(with_script(page, tmp_path / "other.html", click + click.replace(FACT, other)))
    assert shown(root) == expected(root, other) != expected(root)
    assert [row.attributes["id"] for row in root.all("tr", class_="shown")] == [other]


def test_pointing_shows_a_fact_for_the_moment(page, opened, tmp_path):
    enter = f"const row = document.querySelector('#{FACT}'); row.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}));"
    root = opened(with_script(page, tmp_path / "enter.html", enter))
    assert shown(root) == expected(root)
    leave = enter + "document.body.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));"
    assert shown(opened(with_script(page, tmp_path / "leave.html", leave))) == NOTHING


def test_an_address_that_names_a_fact_shows_it(page, opened):
    root = opened(page, f"#{FACT}")
    assert shown(root) == expected(root)
    assert shown(opened(page, "#document-1")) == shown(opened(page, "#no-such-thing")) == NOTHING


@pytest.fixture(scope="module")
def long_page(tmp_path_factory):
    """A page with names that are longer than any line."""
    name = "x" * 3000
    document = words(f"{name} y", (0, 1, name, name), (1, 2, "T", "y"), facts=[fact(0, 1, name, 0)], id=name)
    path = tmp_path_factory.mktemp("page") / "long.html"
    shown = ShownDocument(document, (), {"A": predicted(document, (1, 0, name, 0.9))})
    path.write_text(demo_page(with_shown(shown)), "utf-8")
    return path


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("which", ["page", "long_page"])
def test_nothing_is_wider_than_the_window(which, width, opened, tmp_path, request):
    frame = framed(request.getfixturevalue(which), tmp_path, width)
    assert opened(frame).only("title").text == "over by 0"


def test_the_page_forbids_itself_the_network(page, opened, tmp_path):
    script = "fetch('data:,x').then(() => document.title = 'reached', () => document.title = 'refused')"
    strict = with_script(page, tmp_path / "strict.html", script)
    assert opened(strict).only("head").only("title").text == "refused"
    lax = tmp_path / "lax.html"
    lax.write_text(strict.read_text("utf-8").replace("Content-Security-Policy", "none"), "utf-8")
    assert (
        opened(lax).only("head").only("title").text == "reached"
    )  # so that the first answer means something
