"""Recognized mentions are clustered into entities."""

from hypothesis import given
from hypothesis import strategies as st

from unnoted.data.ner import EntitySpan, SpacyRecognizer, TextReader
from unnoted.errors import DefectLog

TEXT = "Ada Lorne of the World Bank met Paris. The World Bank's Lorne, ada  lorne, likes Paris and Paris."


def place(name, nth=0, **known):
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(name, start + 1)
    return EntitySpan(start, start + len(name), known.pop("type", "X"), **known)


def build(mentions):
    return TextReader(SpacyRecognizer(None)).build_document("1", TEXT, mentions, DefectLog())


def clustered(*mentions):
    return [[mention.name for mention in entity.mentions] for entity in build(mentions).entities]


def test_names_join_whatever_their_case_blanks_articles_and_endings():
    found = clustered(place("ada  lorne"), place("The World Bank's"), place("World Bank"), place("Ada Lorne"))
    assert found == [["Ada Lorne", "ada  lorne"], ["World Bank", "The World Bank's"]]


def test_one_name_of_two_types_is_two_entities():
    assert clustered(place("Paris", type="PER"), place("Paris", 1, type="LOC")) == [["Paris"], ["Paris"]]


def test_ids_join_and_part():
    person, city = {"kb_id": "Q1"}, {"kb_id": "Q2"}
    assert clustered(place("Ada Lorne", **person), place("Lorne", 1, **person)) == [["Ada Lorne", "Lorne"]]
    assert clustered(place("Paris", **person), place("Paris", 1, **city)) == [["Paris"], ["Paris"]]


def test_clusters_join_but_not_two_ids():
    one, other = place("Ada Lorne", cluster=0), place("Lorne", 1, cluster=0)
    assert clustered(one, other) == [["Ada Lorne", "Lorne"]]
    apart = place("Ada Lorne", cluster=0, kb_id="Q1"), place("Lorne", 1, cluster=0, kb_id="Q2")
    assert clustered(*apart) == [["Ada Lorne"], ["Lorne"]]


def test_blanks_are_cut_off_and_repeats_count_once():
    start = TEXT.index(" met ")
    around = EntitySpan(start, start + 5, "X")
    inner = EntitySpan(start + 1, start + 4, "X")
    assert clustered(around, inner, EntitySpan(3, 4, "X")) == [["met"]]


SPANS = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 12)).map(
    lambda pair: (pair[0], min(pair[0] + pair[1], len(TEXT)))
)
MENTIONS = st.lists(
    st.builds(
        lambda span, type, kb_id, cluster: EntitySpan(*span, type, kb_id, cluster),
        SPANS,
        st.sampled_from("XY"),
        st.sampled_from([None, None, "Q1", "Q2"]),
        st.sampled_from([None, None, 0, 1]),
    ),
    max_size=8,
)


@given(MENTIONS)
def test_every_place_once_and_the_order_of_the_input_does_not_matter(mentions):
    document = build(mentions)
    places = [(*one.span, one.type) for entity in document.entities for one in entity.mentions]
    assert all(one.name.strip() == one.name != "" for entity in document.entities for one in entity.mentions)
    assert [entity.mentions[0].span for entity in document.entities] == sorted(
        entity.mentions[0].span for entity in document.entities
    )
    if len({(one.start, one.end, one.type) for one in mentions}) == len(mentions) == len(set(places)):
        assert build(mentions[::-1]) == document
