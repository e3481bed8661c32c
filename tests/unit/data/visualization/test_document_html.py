"""A document as a fragment: what is in it, and that nothing of it is taken for markup."""

from hypothesis import given
from tests.strategies import documents
from tests.unit.report.making import fact, words
from tests.unit.report.markup import parse

from unnoted.data.document import Document
from unnoted.data.visualization import FactTable, notebook_html, render_document, render_types

HOSTILE = '"><script>alert("1")</script><!-- {{ 7 * 7 }} \'&amp;'
TAGS = {
    *("p", "span", "div", "small", "table", "caption", "thead", "tbody", "tr", "th", "td", "button"),
    *("figure", "figcaption", "svg", "g", "title", "rect", "path", "text"),
}


def example(**options):
    return words("Ada met Bo .", (0, 1, "PER", "Ada"), (2, 3, "LOC", "Bo"), **options)


def test_sentences_and_mentions_say_what_they_are():
    root = parse(render_document(example()))
    sentence = root.only("p", class_="sentence")
    assert sentence.attributes["data-sentence"] == "0" and sentence.without("small") == "Ada met Bo."
    ada, bo = root.all("span", class_="mention")
    assert (ada.attributes["data-entity"], ada.attributes["data-type"]) == ("0", "PER")
    assert (bo.attributes["data-entity"], bo.attributes["data-type"]) == ("1", "LOC")
    assert ada.classes[1] != bo.classes[1]  # the colour of its type


def test_without_facts_there_is_only_the_text():
    root = parse(render_document(example(facts=[fact(0, 1, "met")])))
    assert not list(root.all("table")) and not list(root.all("svg"))


def test_facts_are_listed_and_drawn_under_one_number():
    root = parse(render_document(example(), [fact(0, 1, "P1", 0), fact(1, 0, "P2")], names={"P1": "met"}))
    rows, arcs = list(root.all("tr", class_="fact")), list(root.all("g", class_="arc"))
    assert [row.attributes["data-fact"] for row in rows] == ["1", "2"]
    assert [arc.attributes["data-fact"] for arc in arcs] == ["1", "2"]
    assert [arc.only("text").text for arc in arcs] == ["met", "P2"]
    assert {name: rows[0].attributes[name] for name in ("data-head", "data-tail", "data-sentences")} == {
        "data-head": "0", "data-tail": "1", "data-sentences": "0",
    }  # fmt: skip
    assert rows[0].only("span", class_="evidence").text == "sentence 0"
    assert not list(parse(render_document(example(), [fact(0, 1, "P1")], arcs=False)).all("svg"))


def test_head_tail_and_supporting_sentences_are_marked():
    root = parse(render_document(example(), outlined=(1, 0), supporting=[0]))
    assert root.only("span", class_="head").without("small") == "Bo"
    assert root.only("span", class_="tail").without("small") == "Ada"
    assert "supports" in root.only("p").classes
    # The script goes back to these when nothing is pointed at.
    whole = root.only("div", class_="unnoted-document").attributes
    assert (whole["data-head"], whole["data-tail"], whole["data-sentences"]) == ("1", "0", "0")


def test_ids_only_where_the_page_gives_a_name():
    assert not [
        each for each in parse(render_document(example(), [fact(0, 1, "r")])).all() if "id" in each.attributes
    ]
    root = parse(render_document(example(), [fact(0, 1, "r")], anchor="d7"))
    assert {each.attributes["id"] for each in root.all() if "id" in each.attributes} == {"d7", "d7-fact-1"}


def test_colours_by_type_are_those_of_the_page():
    root = parse(render_document(example(), types=["GENE", "LOC", "PER"]))
    assert [span.classes[1] for span in root.all("span", class_="mention")] == ["type-2", "type-1"]
    legend = parse(render_types(["GENE", "LOC", "PER"]))
    assert [(span.text, span.classes[1]) for span in legend.all("span")] == [
        ("GENE", "type-0"), ("LOC", "type-1"), ("PER", "type-2"),
    ]  # fmt: skip


def test_everything_hostile_stays_text():
    document = words(
        f"{HOSTILE.replace(' ', '')} x", (0, 1, HOSTILE, HOSTILE), (1, 2, HOSTILE + "2", "x"),
        facts=[fact(0, 1, HOSTILE, 0), fact(1, 0, "named", 0)], id=HOSTILE,
    )  # fmt: skip
    for html in (
        render_document(document, document.facts, names={"named": HOSTILE}, anchor=HOSTILE),
        render_types([HOSTILE]),
    ):
        root = parse(html)
        assert {element.tag for element in root.all()} <= TAGS
        assert not [name for element in root.all() for name in element.attributes if name.startswith("on")]
    assert root.only("span").text == HOSTILE
    root = parse(render_document(document, document.facts, names={"named": HOSTILE}))
    assert [span.text for span in root.all("span", class_="relation")] == [f"{HOSTILE} →"] * 2
    assert next(root.all("span", class_="mention")).attributes["data-type"] == HOSTILE
    assert root.only("caption").text == f"Facts of {HOSTILE}"
    titles = [title.text for title in root.all("title")]
    assert f"{HOSTILE} – {HOSTILE} → x" in titles and f"{HOSTILE} ({HOSTILE})" in titles


def test_a_notebook_gets_all_of_it_and_the_title_is_text():
    html = notebook_html(Document(HOSTILE, (("x",),), ()))
    root = parse(html)
    assert root.only("p", class_="title").text == f"{HOSTILE}: 1 sentence, 0 entities, 0 facts"
    assert len(list(root.all("style"))) == len(list(root.all("script"))) == 1


@given(documents)
def test_any_document_is_drawn_whole(document):
    root = parse(render_document(document, document.facts, supporting=range(2), outlined=(0, 1)))
    assert {element.tag for element in root.all()} <= TAGS
    lines = ["".join(line.without("small").split()) for line in root.all("p", class_="sentence")]
    assert lines == ["".join("".join(sentence).split()) for sentence in document.sentences]
    assert (
        len(list(root.all("tr", class_="fact")))
        == len(list(root.all("g", class_="arc")))
        == len(document.facts)
    )


def test_a_table_stays_what_it_is():
    table = FactTable.of([fact(0, 1, "r")])
    assert FactTable.of(table) is table
