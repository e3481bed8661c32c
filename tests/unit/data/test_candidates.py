"""Candidate pairs equal a plain loop over all pairs, in JSON and on the command line too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import corpora

from unnoted.data import CandidatePairs, Document, Entity, Fact, Mention
from unnoted.data.candidates import labelled_candidates

TYPES = ("Chemical", "Disease", "Gene")
type_pairs = st.none() | st.frozensets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)))


def document_of(types, facts=()):
    entities = tuple(Entity((Mention(0, 0, 1, type, "w"),)) for type in types)
    return Document("d", (("w",),), entities, facts)


def pairs_of(rule, document):
    heads, tails = rule.index_pairs(document)
    assert heads.dtype == tails.dtype == np.int32
    return list(zip(heads.tolist(), tails.tolist(), strict=True))


@given(st.lists(st.sampled_from(TYPES), max_size=8), type_pairs)
def test_pairs_of_types_in_row_order(types, allowed):
    document, rule = document_of(types), CandidatePairs(allowed)
    every = range(len(types))
    expected = [
        (h, t)
        for h in every
        for t in every
        if h != t and (allowed is None or (types[h], types[t]) in allowed)
    ]
    assert pairs_of(rule, document) == expected
    assert rule.count(document) == len(expected)


@given(corpora)
def test_intra_sentence_pairs_share_a_sentence(documents):
    for document in documents:
        for rule in (CandidatePairs(), CandidatePairs.from_facts(documents)):
            near = CandidatePairs(rule.types, intra_sentence=True)
            entities = document.entities
            expected = [
                (h, t)
                for h, t in pairs_of(rule, document)
                if any(a.sentence == b.sentence for a in entities[h].mentions for b in entities[t].mentions)
            ]
            assert pairs_of(near, document) == expected and near.count(document) == len(expected)
            for pair in pairs_of(CandidatePairs(), document):
                assert near.allows(*(entities[i] for i in pair)) == (pair in expected)


def test_the_type_of_the_first_mention_counts():
    mixed = Entity((Mention(0, 0, 1, "Chemical", "w"), Mention(0, 0, 1, "Gene", "w")))
    document = Document("d", (("w",),), (mixed, mixed))
    assert CandidatePairs(frozenset({("Chemical", "Chemical")})).count(document) == 2
    assert pairs_of(CandidatePairs(frozenset({("Gene", "Gene")})), document) == []


@given(type_pairs, st.booleans())
def test_json_and_text_round_trips(allowed, intra_sentence):
    rule = CandidatePairs(allowed, intra_sentence)
    assert CandidatePairs.from_json(rule.to_json()) == rule
    if allowed != frozenset():  # which no text names
        assert CandidatePairs.parse(str(rule)) == rule


@pytest.mark.parametrize(
    "value",
    [
        "some",
        None,
        [["a"]],
        [["a", 1]],
        {"intra_sentence": {"intra_sentence": "all"}},
        {"intra_sentence": "all", "a": "all"},
    ],
)
def test_other_json_is_refused_and_shown(value):
    with pytest.raises(ValueError, match="candidate pairs") as refusal:
        CandidatePairs.from_json(value)
    assert repr(value) in str(refusal.value)


def test_white_space_in_text_does_not_matter():
    types = frozenset({("Chemical", "Disease"), ("Chemical", "Gene")})
    assert CandidatePairs.parse(" Chemical : Gene , Chemical:Disease", known=TYPES) == CandidatePairs(types)
    assert CandidatePairs.parse(" all ") == CandidatePairs()
    assert CandidatePairs.parse("all intra-sentence ") == CandidatePairs(intra_sentence=True)


@pytest.mark.parametrize(
    "text",
    ["", "Chemical", "Chemical:", ":Gene", "a:b:c", "Chemical:Gene,", "All", " intra-sentence", "all intra-sentence intra-sentence"],
)  # fmt: skip
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="HeadType:TailType"):
        CandidatePairs.parse(text)


def test_an_unknown_type_is_refused_with_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"'Gnee'.*nearest: 'Gene'"):
        CandidatePairs.parse("Chemical:Gnee", known=TYPES)


def test_labelled_type_pairs_are_trusted_once_hardly_any_occurs_once():
    often = document_of(["Chemical", "Disease"], (Fact(0, 1, "treats"),))
    rare = document_of(["Gene", "Disease"], (Fact(0, 1, "marks"),))
    both = CandidatePairs(frozenset({("Chemical", "Disease"), ("Gene", "Disease")}))
    assert labelled_candidates([often] * 100 + [rare]) == both
    assert labelled_candidates([often] * 98 + [rare]) is None
    assert labelled_candidates([often]) is None
    assert labelled_candidates([]) is None
