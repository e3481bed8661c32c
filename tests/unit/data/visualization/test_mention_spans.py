from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.markup import parse

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.visualization.mention_spans import TYPE_COLOURS, drawn_mentions, drawn_sentence

WORDS = tuple("abcdefgh")


def draw(*spans, words=WORDS):
    """A sentence with one entity for each span."""
    entities = tuple(Entity((Mention(0, start, end, "T", "n"),)) for start, end in spans)
    document = Document("d", (words,), entities)
    return parse(drawn_sentence(words, drawn_mentions(document, ["T"])[0]))


def covered(root, entity):
    return [span.without("small") for span in root.all("span", data_entity=str(entity))]


def test_a_nested_mention_lies_within_the_other():
    root = draw((1, 5), (2, 3))
    assert covered(root, 0) == ["b c d e"] and covered(root, 1) == ["c"]
    assert root.only("span", data_entity="1").parent.attributes["data-entity"] == "0"


def test_of_two_that_start_together_the_longer_is_not_split():
    root = draw((0, 2), (0, 5))
    assert covered(root, 0) == ["a b"] and covered(root, 1) == ["a b c d e"]


def test_a_crossing_mention_is_split_and_numbered_once():
    root = draw((0, 3), (1, 5))
    assert covered(root, 0) == ["a b c"] and covered(root, 1) == ["b c", "d e"]
    assert [small.text for small in root.all("small")] == ["T 0", "T 1"]


def test_two_entities_at_one_place():
    root = draw((2, 4), (2, 4))
    assert covered(root, 0) == covered(root, 1) == ["c d"]


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
        numbers = [small for small in root.all("small") if small.text == f"T {entity}"]
        assert len(numbers) == 1


def test_the_first_mention_in_reading_order_shows_the_type():
    entity = Entity((Mention(1, 0, 1, "PER", "x"), Mention(0, 0, 1, "PER", "x")))
    document = Document("d", (("x",), ("x",)), (entity,))
    lines = drawn_mentions(document, ["PER"])
    texts = [
        parse(drawn_sentence(words, line)).only("small").text
        for words, line in zip(document.sentences, lines, strict=True)
    ]
    assert texts == ["PER 0", "0"]


def test_a_mention_that_is_listed_twice_is_drawn_once():
    mention = Mention(0, 0, 1, "PER", "x")
    document = Document("d", (("x",),), (Entity((mention, mention)),))
    assert len(drawn_mentions(document, ["PER"])[0]) == 1


def test_more_types_than_colours():
    types = [f"T{number}" for number in range(TYPE_COLOURS + 1)]
    document = Document("d", (("x",),), tuple(Entity((Mention(0, 0, 1, kind, "x"),)) for kind in types))
    root = parse(drawn_sentence(("x",), drawn_mentions(document, types)[0]))
    colours = {span.attributes["data-entity"]: span.classes[1] for span in root.all("span")}
    expected = [*range(TYPE_COLOURS), 0]
    assert colours == {str(entity): f"type-{colour}" for entity, colour in enumerate(expected)}


def test_spaces_as_in_print():
    sentence = drawn_sentence(("He", "said", "(", "twice", ")", ":", "no", ",", "never", "."), [])
    assert sentence == "He said (twice): no, never."


def test_an_empty_sentence():
    assert drawn_sentence((), []) == ""
