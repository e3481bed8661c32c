"""Mining: what is counted, what is corrected, and what is refused."""

import random

from pytest import approx
from tests.unit.rules.making import make_document

from unnoted.data.synthetic import generate_documents
from unnoted.priors import Priors
from unnoted.rules import (
    Constraints,
    Inverse,
    MiningLimits,
    Rule,
    SamePair,
    TwoStep,
    close,
    mine,
    noted_shares,
)
from unnoted.rules.mining import TypeRates, count, supports

PEOPLE = ["PER"] * 4


def couples(noted, total):
    """Documents with one couple each; in some, both directions are noted."""
    both = [(0, 1, "spouse"), (1, 0, "spouse")]
    return [make_document(PEOPLE, both if i < noted else both[:1], f"d{i}") for i in range(total)]


def test_confidence_is_divided_by_the_noted_share():
    # Of 20 couples 5 are noted both ways: 30 bodies, 10 of them with their conclusion.
    documents = couples(10, 20)
    (plain,) = mine(documents, {}, MiningLimits(confidence=0.0))
    (rule,) = mine(documents, {"spouse": 0.8}, MiningLimits(confidence=0.0))
    assert (rule.body, rule.conclusion) == (Inverse("spouse"), "spouse")
    assert (rule.support, rule.pairs) == (20, 30)
    assert plain.confidence == approx(2 / 3) and rule.confidence == approx(2 / 3 / 0.8)
    assert rule.low == approx(plain.low / 0.8) and rule.low < rule.confidence


def test_supports_do_not_count_a_relation_that_says_itself():
    found = supports([make_document(PEOPLE, [(0, 1, "r"), (0, 1, "s"), (1, 2, "r"), (0, 2, "s")])])
    assert found == {
        (SamePair("r"), "s"): 1, (SamePair("s"), "r"): 1, (TwoStep("r", "r"), "s"): 1, (TwoStep("s", "r"), "s"): 1,
    }  # fmt: skip


def test_what_constraints_forbid_is_not_counted_against_a_rule():
    document = make_document(["PER", "PER", "LOC"], [(0, 1, "r"), (0, 1, "s"), (1, 2, "r")])
    constraints = Constraints({"s": frozenset({("PER", "PER")})})
    counted = count([document], constraints, 1)[SamePair("r"), "s"]
    assert (counted.noted.pairs, counted.noted.hits) == (1, 1)
    full = Constraints({"s": frozenset({("PER", "PER"), ("PER", "LOC")})})
    assert count([document], full, 1)[SamePair("r"), "s"].noted.pairs == 2


def test_what_the_types_alone_explain_is_no_rule():
    # Every person has every place as s, and some as r: s is noted with r as often as without.
    triples = [(person, place, "s") for person in (0, 1) for place in (2, 3)]
    documents = [
        make_document(["PER", "PER", "LOC", "LOC"], [*triples, (0, 2, "r")], f"d{i}") for i in range(9)
    ]
    counted = count(documents, Constraints.of(documents, {}), 1)[SamePair("r"), "s"]
    assert counted.lift == approx(1.0)
    assert all(rule.body != SamePair("r") for rule in mine(documents, {}))


def test_rates_are_of_all_pairs_of_the_types():
    document = make_document(["PER", "PER", "LOC"], [(0, 1, "r"), (0, 2, "r")])
    rates = TypeRates.of([document])
    assert rates.rate(document, (1, 0, "r")) == 0.5 and rates.rate(document, (1, 2, "r")) == 0.5
    assert rates.rate(document, (2, 0, "r")) == 0.0


def test_a_relation_is_functional_by_what_was_not_noted_too():
    def documents(with_two):
        second = [(0, 2, "father")]
        return [
            make_document(PEOPLE, [(0, 1, "father"), *second * (i < with_two)], f"d{i}") for i in range(40)
        ]

    assert Constraints.of(documents(2), {}).functional == {"father"}
    assert Constraints.of(documents(2), {"father": 0.3}).functional == set()
    assert Constraints.of(documents(0)[:19], {}).functional == set()


def test_shares_are_read_off_priors():
    assert noted_shares(Priors(("a", "b"), (0.02, 0.01), (0.06, 0.01))) == {"a": approx(1 / 3), "b": 1.0}


def test_rules_of_a_generated_world_are_found_where_labels_are_missing_at_random():
    complete = list(generate_documents(150))
    dice = random.Random(0)
    thin = [document.with_facts(f for f in document.facts if dice.random() < 0.5) for document in complete]
    relations = {fact.relation for document in complete for fact in document.facts}
    rules = mine(thin, dict.fromkeys(relations, 0.5), MiningLimits(confidence=0.6))
    truth = {document.id: document.labels for document in complete}
    derived = [(each.document.id, one.fact.triple) for each in close(thin, rules) for one in each.derived]
    right = sum(triple in truth[name] for name, triple in derived)
    missing = sum(len(truth[document.id]) - len(document.facts) for document in thin)
    assert right / len(derived) > 0.95 and right / missing > 0.2
    assert not mine(
        thin, {}, MiningLimits(confidence=0.8)
    ).rules  # no rule looks sure if what is missing is false


def test_the_surest_rule_comes_first():
    rules = mine(couples(10, 20), {}, MiningLimits(confidence=0.0)).kept(
        [Rule(SamePair("a"), "b", 0.9, 0.2), Rule(SamePair("c"), "b", 0.5, 0.4)]
    )
    assert [rule.low for rule in rules] == [0.4, 0.2]
