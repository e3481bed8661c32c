import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import corpora

from unnoted.data.candidates import (
    AllPairs,
    InOneSentence,
    TypePairs,
    from_json,
    labelled_types,
    observed,
    parse,
)
from unnoted.data.document import Document, Entity, Fact, Mention

TYPES = ("Chemical", "Disease", "Gene")
type_pairs = st.frozensets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)))
entity_types = st.lists(st.sampled_from(TYPES), max_size=8)


def document_of(types: list[str], facts: tuple[Fact, ...] = ()) -> Document:
    entities = tuple(Entity((Mention(0, 0, 1, type, "w"),)) for type in types)
    return Document("d", (("w",),), entities, facts)


@given(entity_types)
def test_all_pairs_are_every_head_with_every_other_tail_in_row_order(types):
    document = document_of(types)
    every = range(len(types))
    assert AllPairs().pairs(document) == [(h, t) for h in every for t in every if h != t]
    assert AllPairs().count(document) == len(AllPairs().pairs(document))


@given(entity_types, type_pairs)
def test_type_pairs_are_the_pairs_with_those_types_in_row_order(types, allowed):
    document, rule = document_of(types), TypePairs(allowed)
    every = range(len(types))
    assert rule.pairs(document) == [
        (h, t) for h in every for t in every if h != t and (types[h], types[t]) in allowed
    ]
    assert rule.count(document) == len(rule.pairs(document))


@given(corpora)
def test_pairs_in_one_sentence_are_those_that_some_sentence_mentions_both_of(documents):
    for document in documents:
        for rule in (AllPairs(), observed(documents)):
            met = [
                (h, t)
                for h, t in rule.pairs(document)
                if any(
                    one.sentence == other.sentence
                    for one in document.entities[h].mentions
                    for other in document.entities[t].mentions
                )
            ]
            narrowed = InOneSentence(rule)
            assert narrowed.pairs(document) == met and narrowed.count(document) == len(met)
            entities = document.entities
            assert met == [p for p in rule.pairs(document) if narrowed.allows(*(entities[i] for i in p))]


def test_the_type_of_the_first_mention_counts():
    mixed = Entity((Mention(0, 0, 1, "Chemical", "w"), Mention(0, 0, 1, "Gene", "w")))
    document = Document("d", (("w",),), (mixed, mixed))
    assert TypePairs(frozenset({("Chemical", "Chemical")})).count(document) == 2
    assert TypePairs(frozenset({("Gene", "Gene")})).pairs(document) == []


def test_observed_are_the_type_pairs_of_the_facts():
    documents = [
        document_of(["Chemical", "Disease", "Gene"], (Fact(0, 1, "treats"), Fact(0, 2, "inhibits"))),
        document_of(["Gene", "Gene"]),
    ]
    assert observed(documents) == TypePairs(frozenset({("Chemical", "Disease"), ("Chemical", "Gene")}))
    assert observed([]) == TypePairs(frozenset())


def test_shared_arrays_cannot_be_spoilt():
    heads, _ = AllPairs().arrays(document_of(["Gene", "Gene"]))
    with pytest.raises(ValueError, match="read-only"):
        heads[0] = 5


@given(type_pairs)
def test_json_round_trip(allowed):
    assert from_json(TypePairs(allowed).to_json()) == TypePairs(allowed)
    assert from_json(AllPairs().to_json()) == AllPairs()
    assert from_json(InOneSentence(TypePairs(allowed)).to_json()) == InOneSentence(TypePairs(allowed))


@pytest.mark.parametrize(
    "value",
    [
        "some",
        None,
        {"a": "b"},
        [["a"]],
        [["a", "b", "c"]],
        ["ab"],
        [["a", 1]],
        {"in one sentence": {"in one sentence": "all"}},
        {"in one sentence": "all", "a": "all"},
    ],
)
def test_json_that_is_no_rule_is_refused_and_shown(value):
    with pytest.raises(ValueError, match='expected "all" or a list of') as refusal:
        from_json(value)
    assert repr(value) in str(refusal.value)


def test_command_line_names():
    expected = TypePairs(frozenset({("Chemical", "Disease"), ("Chemical", "Gene")}))
    assert parse("Chemical:Disease,Chemical:Gene") == expected
    assert parse(" Chemical : Gene , Chemical:Disease", known=TYPES) == expected
    assert parse(" all ") == AllPairs()
    assert parse("all in one sentence ") == InOneSentence(AllPairs())
    assert parse("Chemical:Disease, Chemical:Gene in one sentence", known=TYPES) == InOneSentence(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Chemical",
        "Chemical:",
        ":Gene",
        "a:b:c",
        "Chemical:Gene,",
        "All",
        " in one sentence",
        "all in one sentence in one sentence",
    ],
)
def test_command_line_nonsense_is_refused(text):
    with pytest.raises(ValueError, match="expected HeadType:TailType, or all"):
        parse(text)


def test_an_unknown_type_is_refused_with_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"'Gnee'.*nearest: 'Gene'\)$"):
        parse("Chemical:Gnee", known=TYPES)


def test_labelled_types_are_trusted_once_hardly_any_label_is_the_only_one_of_its_types():
    often = document_of(["Chemical", "Disease"], (Fact(0, 1, "treats"),))
    rare = document_of(["Gene", "Disease"], (Fact(0, 1, "marks"),))
    assert labelled_types([often] * 100 + [rare]) == TypePairs(
        frozenset({("Chemical", "Disease"), ("Gene", "Disease")})
    )
    assert labelled_types([often] * 98 + [rare]) is None
    assert labelled_types([often]) is None
    assert labelled_types([]) is None
