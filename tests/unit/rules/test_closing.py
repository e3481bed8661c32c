"""Closing under rules: against plain loops, and what must hold of any closure."""

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx, raises
from tests.reference.rules import closure
from tests.unit.rules.making import make_document

from unnoted.rules import Constraints, Inverse, Rule, RuleSet, SamePair, TwoStep, close
from unnoted.rules.bodies import body_of

TYPES, RELATIONS = ("PER", "LOC"), ("r", "s", "q")
relation = st.sampled_from(RELATIONS)
kinds = st.one_of(
    st.tuples(st.just("same-pair"), st.tuples(relation)),
    st.tuples(st.just("inverse"), st.tuples(relation)),
    st.tuples(st.just("two-step"), st.tuples(relation, relation)),
)
plain_rules = st.lists(
    st.tuples(kinds, relation, st.sampled_from([0.5, 0.8, 0.9, 1.0])),
    max_size=5,
    unique_by=lambda rule: rule[:2],
)
allowed = st.dictionaries(
    relation, st.sets(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))).map(frozenset)
)
UNTIL_NOTHING_FOLLOWS = 200


@st.composite
def documents(draw):
    types = draw(st.lists(st.sampled_from(TYPES), min_size=2, max_size=5))
    entity = st.integers(0, len(types) - 1)
    triples = draw(
        st.sets(st.tuples(entity, entity, relation).filter(lambda fact: fact[0] != fact[1]), max_size=6)
    )
    return make_document(types, sorted(triples))


some_relations = st.frozensets(relation)


@st.composite
def rule_sets(draw, functional=some_relations):
    rules = [Rule(body_of(*body), conclusion, sure) for body, conclusion, sure in draw(plain_rules)]
    return RuleSet(tuple(rules), Constraints(draw(allowed), draw(functional)))


def facts_of(closed):
    return closed.document.labels


@given(documents(), rule_sets(), st.integers(0, 4))
def test_the_same_facts_and_confidences_as_by_plain_loops(document, rules, depth):
    (closed,) = close([document], rules, depth)
    plain = [(rule.body.kind, rule.body.relations, rule.conclusion, rule.confidence) for rule in rules]
    types = [entity.type for entity in document.entities]
    expected = closure(
        document.labels, types, plain, rules.constraints.types, rules.constraints.functional, depth
    )
    assert facts_of(closed) == expected.keys()
    for each in closed.derived:
        assert each.confidence == approx(expected[each.fact.triple])


@given(documents(), rule_sets(), st.integers(0, 3))
def test_deeper_is_never_less(document, rules, depth):
    (less,), (more,) = close([document], rules, depth), close([document], rules, depth + 1)
    assert document.labels <= facts_of(less) <= facts_of(more)
    assert more.derived[: len(less.derived)] == less.derived


@given(documents(), rule_sets(functional=st.just(frozenset())), st.data())
def test_more_facts_are_never_less_where_no_fact_excludes_another(document, rules, data):
    some = data.draw(st.sets(st.sampled_from(document.facts))) if document.facts else set()
    (less,) = close([document.with_facts(sorted(some, key=lambda fact: fact.triple))], rules)
    (more,) = close([document], rules)
    assert facts_of(less) <= facts_of(more)


@given(documents(), rule_sets())
def test_nothing_follows_from_what_is_closed(document, rules):
    (closed,) = close([document], rules, UNTIL_NOTHING_FOLLOWS)
    (again,) = close([closed.document], rules, UNTIL_NOTHING_FOLLOWS)
    assert again.derived == () and facts_of(again) == facts_of(closed)


@given(documents(), rule_sets(), st.integers(0, 4))
def test_no_derived_fact_breaks_a_constraint(document, rules, depth):
    (closed,) = close([document], rules, depth)
    there = set(document.labels)
    for each in closed.derived:
        head, tail, name = each.fact.triple
        types = document.entities[head].type, document.entities[tail].type
        assert head != tail and types in rules.constraints.types[name]
        if name in rules.constraints.functional:
            assert not any((h, r) == (head, name) for h, _, r in there)
        there.add(each.fact.triple)


@given(documents(), rule_sets(), st.integers(1, 4))
def test_a_derived_fact_says_what_it_is_from(document, rules, depth):
    (closed,) = close([document], rules, depth)
    round_of = {each.fact.triple: each.round for each in closed.derived}
    for each in closed.derived:
        assert each.rule in rules.rules and each.fact.relation == each.rule.conclusion
        assert tuple(name for *_, name in each.premises) == each.rule.body.relations
        assert all(round_of.get(premise, 0) < each.round <= depth for premise in each.premises)
        assert all(premise in facts_of(closed) for premise in each.premises)


def anywhere(*relations, functional=()):
    return Constraints({name: frozenset({("PER", "PER")}) for name in relations}, frozenset(functional))


def test_of_two_tails_that_exclude_each_other_the_surer_one_is_added():
    document = make_document(["PER"] * 3, [(0, 1, "weak"), (0, 2, "strong")])
    rules = (Rule(SamePair("weak"), "father", 0.6), Rule(SamePair("strong"), "father", 0.9))
    (closed,) = close([document], RuleSet(rules, anywhere("father", functional=["father"])))
    assert [each.fact.triple for each in closed.derived] == [(0, 2, "father")]


def test_confidence_goes_down_with_each_step_and_evidence_comes_along():
    document = make_document(["PER"] * 3, [(0, 1, "child"), (1, 2, "child")], evidence=(0,))
    rules = (Rule(TwoStep("child", "child"), "grandchild", 0.5), Rule(Inverse("grandchild"), "forebear", 0.8))
    (closed,) = close([document], RuleSet(rules, anywhere("grandchild", "forebear")))
    first, second = closed.derived
    assert (first.fact.triple, first.confidence, first.round) == ((0, 2, "grandchild"), 0.5, 1)
    assert (second.fact.triple, second.confidence, second.round) == ((2, 0, "forebear"), 0.4, 2)
    assert first.fact.evidence == second.fact.evidence == (0,)


def test_a_negative_depth_is_refused():
    with raises(ValueError, match="depth: found -1"):
        close([], RuleSet(), -1)
