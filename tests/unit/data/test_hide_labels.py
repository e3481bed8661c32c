"""Labels are hidden by the settings of the paper, from the seed and the document alone."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import corpora

from unnoted.data import Document, Entity, Fact, Mention
from unnoted.data.hide_labels import (
    LABELLING_SETTINGS,
    HideReport,
    PopularityBiasedLabelDropout,
    UniformLabelDropout,
    fit_setting,
    hide_labels,
    keep_one_per_relation,
)


def document(name, facts, entities=6, mentions=1):
    words = tuple(f"w{index}" for index in range(entities * mentions))
    places = [range(start * mentions, (start + 1) * mentions) for start in range(entities)]
    made = tuple(Entity(tuple(Mention(0, i, i + 1, "T", words[i]) for i in place)) for place in places)
    return Document(name, (words,), made, tuple(Fact(*fact) for fact in facts))


@given(corpora, st.integers())
def test_extreme_keeps_exactly_one_fact_of_each_relation(documents, seed):
    for before, after in zip(documents, hide_labels(documents, keep_one_per_relation, seed), strict=True):
        assert Counter(fact.relation for fact in after.facts) == dict.fromkeys(
            {fact.relation for fact in before.facts}, 1
        )
        assert [fact for fact in before.facts if fact in after.facts] == list(after.facts)
        assert (before.entities, before.sentences) == (after.entities, after.sentences)


def test_extreme_is_uniform_over_a_relations_facts():
    facts = [(0, 1, "r"), (1, 2, "r"), (2, 3, "r")]
    chosen = Counter(
        next(iter(hide_labels([document(f"d{number}", facts)], keep_one_per_relation))).facts[0].head
        for number in range(3_000)
    )
    assert all(900 < chosen[head] < 1_100 for head in range(3))  # 1,000 each; 100 is four standard deviations


@pytest.mark.parametrize("name", [*LABELLING_SETTINGS, "uniform"])
def test_a_document_loses_the_same_labels_in_any_part_and_order(name):
    documents = [document(f"d{n}", [(0, t, f"r{t % 2}") for t in range(1, 6)]) for n in range(20)]
    rule = UniformLabelDropout(0.5) if name == "uniform" else fit_setting(name, documents)
    once = list(hide_labels(documents, rule, 1))
    assert once[7:9] == list(hide_labels(documents[7:9], rule, 1))
    assert once[::-1] == list(hide_labels(documents[::-1], rule, 1))
    assert (name == "full") == (once == list(hide_labels(documents, rule, 2)))
    assert (name == "full") == (once == documents)


def test_popularity_bias_keeps_its_share_and_prefers_the_popular():
    frequent = [(h, t, "often") for h in range(3) for t in range(3, 6)]
    documents = [document(f"d{n}", [*frequent, (0, 1, "rare")]) for n in range(1_000)]
    report = HideReport()
    rule = PopularityBiasedLabelDropout.fit(documents, 0.35, bias=0.5)
    list(hide_labels(documents, rule, 0, report))
    assert abs(report.share - 0.35) < 0.02
    assert report.after["rare"] / report.before["rare"] < 0.5 * report.after["often"] / report.before["often"]
    fact = Fact(0, 1, "often")
    often, seldom = (rule.probability(document("d", [], mentions=m), fact) for m in (2, 1))
    assert often > seldom


@given(corpora, st.floats(0.05, 1.0))
def test_popularity_bias_expects_the_share_asked_for(documents, share):
    rule = PopularityBiasedLabelDropout.fit(documents, share)
    facts = [(owner, fact) for owner in documents for fact in owner.facts]
    expected = sum(rule.probability(owner, fact) for owner, fact in facts)
    assert expected == pytest.approx(share * len(facts), abs=1e-6)


def test_relations_without_a_label_are_listed():
    report = HideReport()
    once = [document("d", [(0, 1, "r"), (1, 2, "s")])]
    list(hide_labels(once, UniformLabelDropout(1e-9), 0, report))
    assert report.unlabelled_relations == ["r", "s"] and report.share == 0
    assert HideReport().share == 1


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
def test_impossible_shares_and_biases_are_refused(share):
    with pytest.raises(ValueError, match="share"):
        UniformLabelDropout(share)
    with pytest.raises(ValueError, match="share"):
        PopularityBiasedLabelDropout.fit([], share)
    with pytest.raises(ValueError, match="bias"):
        PopularityBiasedLabelDropout.fit([], 0.5, float("inf"))


def test_an_unknown_setting_names_the_nearest():
    with pytest.raises(ValueError, match="nearest: 'extreme'"):
        fit_setting("extrem", [])
