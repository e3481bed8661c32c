from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import documents
from tests.unit.report.making import fact, predicted, words
from tests.unit.report.markup import parse

from unnoted.data.visualization import entity_types
from unnoted.report.drawing import draw_document, legend
from unnoted.report.judged_facts import State, judge

HOSTILE = '<script>alert("1")</script>'
TAGS = {
    *("article", "h3", "p", "span", "div", "small", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("button", "figure", "figcaption", "svg", "g", "title", "rect", "path", "text"),
}
ATTRIBUTES = {
    *("class", "id", "title", "type", "scope", "colspan", "role", "tabindex"),
    *("aria-labelledby", "aria-label", "aria-hidden", "aria-pressed"),
    *("data-entity", "data-type", "data-sentence", "data-fact", "data-head", "data-tail", "data-sentences"),
    *("viewbox", "width", "height", "x", "y", "rx", "d", "text-anchor"),
}


def draw(document, hidden=(), names=None, number=1, **extractions):
    return parse(draw_document(document, judge(document, hidden, extractions), names, number))


def squeezed(text):
    return "".join(text.split())


def test_a_document_with_every_state():
    document = words(
        "Ada met Bo in Rome .",
        (0, 1, "PER", "Ada"),
        (2, 3, "PER", "Bo"),
        (4, 5, "LOC", "Rome"),
        facts=[fact(0, 1, "spouse", 0)],
    )
    root = draw(
        document,
        [fact(1, 0, "spouse", 0), fact(0, 2, "home")],
        {"spouse": "is married to"},
        A=predicted(document, (1, 0, "spouse", 0.934), (1, 2, "home", 0.6)),
        B=predicted(document, (0, 2, "home", 0.2), decided=False),
    )
    groups = [(body.classes, squeezed(next(body.all("tr")).text)) for body in root.all("tbody")]
    assert groups == [
        (["state-labelled"], "●Labelled(1)"),
        (["state-found"], "✓Hidden,found(1)"),
        (["state-missed"], "○Hidden,missed(1)"),
        (["state-wrong"], "✗Predicted,butwrong(1)"),
    ]
    rows = {row.attributes["id"]: row for row in root.all("tr", class_="fact")}
    found = rows["document-1-fact-2"]
    assert squeezed(found.only("button").text) == "✓Bo1ismarriedto→Ada0"
    assert squeezed(found.only("span", class_="evidence").text) == "sentence0"
    assert [squeezed(td.text) for td in found.all("td")] == ["predicted✓0.93", "notpredicted–"]
    missed, wrong = rows["document-1-fact-3"], rows["document-1-fact-4"]
    assert [squeezed(td.text) for td in missed.all("td")] == ["notpredicted–", "notpredicted(0.20)"]
    assert not list(missed.all("span", class_="evidence"))
    assert [squeezed(td.text) for td in wrong.all("td")] == ["predicted✗0.60", "notpredicted–"]


def test_a_fact_points_at_mentions_and_sentences_that_are_there():
    document = words("Ada met Bo .", (0, 1, "PER", "Ada"), (2, 3, "PER", "Bo"), facts=[fact(1, 0, "r", 0)])
    root = draw(document, number=7)
    row = root.only("tr", class_="fact")
    assert row.attributes["id"] == "document-7-fact-1"
    assert root.only("span", data_entity=row.attributes["data-head"]).without("small") == "Bo"
    assert root.only("span", data_entity=row.attributes["data-tail"]).without("small") == "Ada"
    assert root.only("p", data_sentence=row.attributes["data-sentences"]).without("small") == "Ada met Bo."


def test_no_facts_and_one_entity():
    root = draw(words("Ada left .", (0, 1, "PER", "Ada")))
    assert "No fact is labelled, hidden or predicted here." in root.text
    assert not list(root.all("table"))


def test_everything_hostile_is_escaped():
    document = words(
        f"{HOSTILE} x",
        (0, 1, HOSTILE, HOSTILE),
        (1, 2, '"><img src=x>', '"><img src=x>'),
        facts=[fact(0, 1, HOSTILE, 0), fact(1, 0, "named", 0)],
        id=HOSTILE,
    )
    root = draw(
        document, names={"named": "{{ 7 * 7 }}"}, **{HOSTILE: predicted(document, (0, 1, HOSTILE, 0.5))}
    )
    assert not list(root.all("script")) and not list(root.all("img"))
    assert root.only("h3").text == HOSTILE
    relations = [span.text for span in root.all("span", class_="relation")]
    assert relations == [f"{HOSTILE} →", "{{ 7 * 7 }} →"]
    assert next(root.all("th", class_="verdict")).text == HOSTILE
    assert not list(parse(legend(entity_types([document]))).all("script"))


@given(documents, st.data())
def test_any_document_is_drawn_whole_and_as_text_only(document, data):
    hide = [data.draw(st.booleans()) for _ in document.facts]
    hidden = [one for one, away in zip(document.facts, hide, strict=True) if away]
    shown = document.with_facts(one for one, away in zip(document.facts, hide, strict=True) if not away)
    root = draw(shown, hidden, A=predicted(shown, *((*one.triple, 0.7) for one in hidden[:1])))
    assert {element.tag for element in root.all()} <= TAGS
    assert {name for element in root.all() for name in element.attributes} <= ATTRIBUTES
    lines = [squeezed(line.without("small")) for line in root.all("p", class_="sentence")]
    assert lines == [squeezed("".join(sentence)) for sentence in document.sentences]
    assert len(list(root.all("tr", class_="fact"))) == len({one.triple for one in document.facts})


def test_probabilities_are_not_rounded_up_to_certainty():
    def shown(probability):
        document = words("Ada Bo", (0, 1, "PER", "Ada"), (1, 2, "PER", "Bo"), facts=[fact(0, 1, "r")])
        root = draw(document, A=predicted(document, (0, 1, "r", probability)))
        return root.only("td", class_="verdict").text.split("predicted ")[1].strip()

    assert (shown(0.9999), shown(1.0), shown(0.0)) == ("✓ 0.99", "✓ 1.00", "✓ 0.00")


def test_the_legend_names_each_state_and_type():
    root = parse(legend(["LOC", "PER"]))
    assert [squeezed(dt.text) for dt in root.all("dt")] == [
        state.symbol + squeezed(state.title) for state in State
    ]
    assert [span.text for span in root.all("span", class_="mention")] == ["LOC", "PER"]
    assert not list(parse(legend([])).all("span", class_="mention"))
