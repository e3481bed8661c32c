"""A document as a fragment: what is in it, and that nothing of it is taken for markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import fact, words
from tests.markup import parse
from tests.strategies import documents

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.visualization import render_document, render_types
from unnoted.data.visualization.document_html import TYPE_COLOURS, render_sentence, tag_mentions

HOSTILE = '"><script>alert("1")</script><!-- {{ 7 * 7 }} \'&amp;'
TAGS = {*("p", "span", "div", "small", "table", "caption", "thead", "tbody", "tr", "th", "td", "button")}


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


def test_facts_are_listed_with_numbers():
    root = parse(render_document(example(), [fact(0, 1, "P1", 0), fact(1, 0, "P2")], names={"P1": "met"}))
    rows = list(root.all("tr", class_="fact"))
    assert [row.attributes["data-fact"] for row in rows] == ["1", "2"]
    assert [row.only("span", class_="relation").text for row in rows] == ["met →", "P2 →"]
    assert {name: rows[0].attributes[name] for name in ("data-head", "data-tail", "data-sentences")} == {
        "data-head": "0", "data-tail": "1", "data-sentences": "0",
    }  # fmt: skip
    assert rows[0].only("span", class_="evidence").text == "sentence 1"


def test_head_tail_and_supporting_sentences_are_marked():
    root = parse(render_document(example(), highlighted=(1, 0), evidence=[0]))
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


@given(documents)
def test_any_document_is_drawn_whole(document):
    root = parse(render_document(document, document.facts, evidence=range(2), highlighted=(0, 1)))
    assert {element.tag for element in root.all()} <= TAGS
    lines = ["".join(line.without("small").split()) for line in root.all("p", class_="sentence")]
    assert lines == ["".join("".join(sentence).split()) for sentence in document.sentences]
    assert len(list(root.all("tr", class_="fact"))) == len(document.facts)


# Mentions within and across one another

WORDS = tuple("abcdefgh")


def draw(*spans, words=WORDS):
    """A sentence with one entity for each span."""
    entities = tuple(Entity((Mention(0, start, end, "T", "n"),)) for start, end in spans)
    document = Document("d", (words,), entities)
    return parse(render_sentence(words, tag_mentions(document, ["T"])[0]))


def covered(root, entity):
    return [span.without("small") for span in root.all("span", data_entity=str(entity))]


@pytest.mark.parametrize(
    ("spans", "texts"),
    [
        ([(1, 5), (2, 3)], [["b c d e"], ["c"]]),  # nested
        ([(0, 2), (0, 5)], [["a b"], ["a b c d e"]]),  # of two that start together the longer is not split
        ([(0, 3), (1, 5)], [["a b c"], ["b c", "d e"]]),  # of two that cross the second is
        ([(2, 4), (2, 4)], [["c d"], ["c d"]]),
    ],
)
def test_how_mentions_lie(spans, texts):
    root = draw(*spans)
    assert [covered(root, entity) for entity in range(2)] == texts
    assert len(list(root.all("small"))) == 2


@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(1, 8)).map(sorted).filter(lambda s: s[0] < s[1]), max_size=6
    )
)
def test_however_they_lie_every_mention_covers_its_words(spans):
    root = draw(*spans)
    assert root.without("small") == " ".join(WORDS)
    for entity, (start, end) in enumerate(spans):
        assert " ".join(covered(root, entity)) == " ".join(WORDS[start:end])
        numbers = [small for small in root.all("small") if small.text == f"T {entity + 1}"]
        assert len(numbers) == 1


def test_the_first_mention_in_reading_order_shows_the_type():
    entity = Entity((Mention(1, 0, 1, "PER", "x"), Mention(0, 0, 1, "PER", "x")))
    document = Document("d", (("x",), ("x",)), (entity,))
    lines = tag_mentions(document, ["PER"])
    texts = [
        parse(render_sentence(words, line)).only("small").text
        for words, line in zip(document.sentences, lines, strict=True)
    ]
    assert texts == ["PER 1", "1"]


def test_more_types_than_colours():
    types = [f"T{number}" for number in range(TYPE_COLOURS + 1)]
    document = Document("d", (("x",),), tuple(Entity((Mention(0, 0, 1, kind, "x"),)) for kind in types))
    root = parse(render_sentence(("x",), tag_mentions(document, types)[0]))
    colours = {span.attributes["data-entity"]: span.classes[1] for span in root.all("span")}
    expected = [*range(TYPE_COLOURS), 0]
    assert colours == {str(entity): f"type-{colour}" for entity, colour in enumerate(expected)}


def test_spaces_as_in_print():
    sentence = render_sentence(("He", "said", "(", "twice", ")", ":", "no", ",", "never", "."), [])
    assert sentence == "He said (twice): no, never."
