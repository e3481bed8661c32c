"""Thinning, levels, comparison and splitting."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import corpora

from unnoted.data import Document, Entity, Fact, Mention
from unnoted.data.comparison import compare, match_entities
from unnoted.data.levels import level
from unnoted.data.splitting import split_documents
from unnoted.data.thinning import OnePerRelation, PopularShare, ThinningReport, UniformShare, thin


def document(name, facts, entities=6, mentions=1):
    words = tuple(f"w{index}" for index in range(entities * mentions))
    places = [range(start * mentions, (start + 1) * mentions) for start in range(entities)]
    made = tuple(Entity(tuple(Mention(0, i, i + 1, "T", words[i]) for i in place)) for place in places)
    return Document(name, (words,), made, tuple(Fact(*fact) for fact in facts))


@given(corpora, st.integers())
def test_extreme_keeps_exactly_one_fact_of_each_relation(documents, seed):
    for before, after in zip(documents, thin(documents, OnePerRelation(), seed), strict=True):
        assert Counter(fact.relation for fact in after.facts) == dict.fromkeys(
            {fact.relation for fact in before.facts}, 1
        )
        assert [fact for fact in before.facts if fact in after.facts] == list(after.facts)
        assert (before.entities, before.sentences) == (after.entities, after.sentences)


def test_extreme_is_uniform_over_a_relations_facts():
    facts = [(0, 1, "r"), (1, 2, "r"), (2, 3, "r")]
    chosen = Counter(
        next(iter(thin([document(f"d{number}", facts)], OnePerRelation()))).facts[0].head
        for number in range(3_000)
    )
    assert all(900 < chosen[head] < 1_100 for head in range(3))  # 1,000 each; 100 is four standard deviations


def test_thinning_depends_on_seed_and_document_only():
    documents = [document(f"d{n}", [(0, t, "r") for t in range(1, 6)]) for n in range(20)]
    once = list(thin(documents, UniformShare(0.5), 1))
    assert once[7:9] == list(thin(documents[7:9], UniformShare(0.5), 1))
    assert once != list(thin(documents, UniformShare(0.5), 2))


def test_popular_share_keeps_its_share_and_prefers_the_popular():
    frequent = [(h, t, "often") for h in range(3) for t in range(3, 6)]
    documents = [document(f"d{n}", [*frequent, (0, 1, "rare")]) for n in range(1_000)]
    report = ThinningReport()
    rule = PopularShare.fit(documents, 0.35, bias=0.5)
    list(thin(documents, rule, 0, report))
    assert abs(report.share - 0.35) < 0.02
    assert report.after["rare"] / report.before["rare"] < 0.5 * report.after["often"] / report.before["often"]
    fact = Fact(0, 1, "often")
    often, seldom = (rule.probability(document("d", [], mentions=m), fact) for m in (2, 1))
    assert often > seldom


@given(corpora, st.floats(0.05, 1.0))
def test_popular_share_expects_the_share_asked_for(documents, share):
    rule = PopularShare.fit(documents, share)
    facts = [(owner, fact) for owner in documents for fact in owner.facts]
    expected = sum(rule.probability(owner, fact) for owner, fact in facts)
    assert expected == pytest.approx(share * len(facts), abs=1e-6)


@pytest.mark.parametrize("share", [0, -1, 1.5])
def test_impossible_shares_are_refused(share):
    with pytest.raises(ValueError, match="expected more than 0 and at most 1"):
        UniformShare(share)
    with pytest.raises(ValueError, match="expected more than 0 and at most 1"):
        PopularShare.fit([], share)


def test_unknown_level_names_the_nearest():
    with pytest.raises(ValueError, match="nearest: 'extreme'"):
        level("extrem", list)
    everything = document("d", [(0, 1, "r")])
    assert list(level("full", list).kept(everything, Random(0))) == list(everything.facts)


def test_comparison_matches_entities_by_place():
    a = document("1", [(0, 1, "r"), (2, 3, "s")])
    b = document("1", [])
    order = [5, 4, 3, 2, 1, 0]
    facts = (Fact(5, 4, "r"), Fact(4, 5, "r"), Fact(0, 1, "t"))
    b = Document("1", b.sentences, tuple(b.entities[i] for i in order), facts)
    assert match_entities(a, b) == order
    result = compare([a], [b])
    assert [
        (r.relation, r.in_a, r.in_b, r.in_both, r.missed, r.only_a, r.ratio) for r in result.relations
    ] == [
        ("r", 1, 2, 1, 1, 0, 2.0),
        ("t", 0, 1, 0, 1, 0, None),
        ("s", 1, 0, 0, 0, 1, 0.0),
    ]
    assert (result.overall.in_a, result.overall.in_b, result.median_ratio) == (2, 3, 1.0)


def test_two_entities_mentioned_in_one_place_are_told_apart_by_type_then_order():
    a = document("1", [(0, 1, "r")])
    person, *rest = a.entities
    thing = Entity(tuple(replace(mention, type="MISC") for mention in person.mentions))
    both = replace(a, entities=(person, thing, *rest[1:]))
    swapped = replace(both, entities=(thing, person, *rest[1:]))
    assert match_entities(both, both) == list(range(6))
    assert match_entities(both, swapped) == [1, 0, 2, 3, 4, 5]
    twice = replace(a, entities=(person, person, *rest[1:]))
    assert match_entities(twice, twice) == list(range(6))
    assert match_entities(twice, a) is None and match_entities(a, twice) is None


def test_documents_that_cannot_be_compared_are_listed():
    same, fewer, other = document("1", []), document("2", [], entities=5), document("3", [])
    changed = Document("3", (("x",),), ())
    missing = Document("2", fewer.sentences, fewer.entities[:4])
    result = compare([same, fewer, other, document("4", [])], [same, missing, changed, document("5", [])])
    assert result.compared == 1
    assert (result.entities_differ, result.words_differ) == (["2"], ["3"])
    assert (result.only_in_a, result.only_in_b) == (["4"], ["5"])


@given(st.integers(2, 60), st.integers(), st.floats(0.1, 0.9))
def test_split_parts_are_disjoint_and_whole(count, seed, share):
    documents = [Document(str(number), (), ()) for number in range(count)]
    try:
        parts = split_documents(documents, [share, 1 - share], seed)
    except ValueError as error:
        assert "a part would be empty" in str(error) and min(share, 1 - share) * count < 1
        return
    assert sorted(int(d.id) for part in parts for d in part) == list(range(count))
    assert abs(len(parts[0]) - share * count) <= 0.5 + 1e-9
    assert parts == split_documents(documents, [share, 1 - share], seed)


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [1.5, -0.5]])
def test_impossible_splits_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        split_documents([], shares)
