"""Rules: parsing, and the closure against plain loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import make_document
from tests.reference.rules import closure

from unnoted.data.corpus import RelationVocabulary
from unnoted.errors import DataError
from unnoted.rules import Rule, RuleKind, deductive_closure, load_rules, parse_rules

NAMES = st.text("abz ()0", min_size=1).map(str.strip).filter(bool)
RELATIONS = st.sampled_from(["r", "s", "q"])
UNTIL_NOTHING_FOLLOWS = 200


def rules_of(names):
    one = st.builds(
        Rule, st.sampled_from([RuleKind.SUBSUMPTION, RuleKind.INVERSION]), st.tuples(names), names
    )
    two = st.builds(Rule, st.just(RuleKind.COMPOSITION), st.tuples(names, names), names)
    return st.lists(one | two, unique=True, max_size=5)


@st.composite
def documents(draw):
    count = draw(st.integers(2, 5))
    entity = st.integers(0, count - 1)
    triple = st.tuples(entity, entity, RELATIONS).filter(lambda fact: fact[0] != fact[1])
    facts, negatives = draw(st.sets(triple, max_size=6)), draw(st.sets(triple, max_size=2))
    return make_document(["PER"] * count, sorted(facts), negatives=tuple(sorted(negatives - facts)))


@given(rules_of(NAMES))
def test_what_is_shown_can_be_read(rules):
    assert list(parse_rules("\n".join(map(str, rules)))) == rules
    assert [Rule.from_json(rule.to_json()) for rule in rules] == rules


@given(documents(), rules_of(RELATIONS), st.integers(0, 4))
def test_the_closure_is_that_of_plain_loops(document, rules, rounds):
    (closed,) = deductive_closure([document], rules, rounds)
    plain = [(str(rule.kind), rule.premises, rule.conclusion) for rule in rules]
    rejected = set(document.negatives)
    assert closed.document.labels == closure(document.labels, len(document.entities), plain, rejected, rounds)


@given(documents(), rules_of(RELATIONS), st.integers(0, 3))
def test_more_rounds_are_never_less(document, rules, rounds):
    (less,), (more,) = (
        deductive_closure([document], rules, rounds),
        deductive_closure([document], rules, rounds + 1),
    )
    assert document.labels <= less.document.labels <= more.document.labels
    assert more.derived[: len(less.derived)] == less.derived


@given(documents(), rules_of(RELATIONS))
def test_nothing_follows_from_what_is_closed(document, rules):
    (closed,) = deductive_closure([document], rules, UNTIL_NOTHING_FOLLOWS)
    (again,) = deductive_closure([closed.document], rules, UNTIL_NOTHING_FOLLOWS)
    assert again.derived == () and again.document.labels == closed.document.labels


@given(documents(), rules_of(RELATIONS), st.integers(1, 4))
def test_a_derived_fact_says_how_it_follows(document, rules, rounds):
    (closed,) = deductive_closure([document], rules, rounds)
    known = set(document.labels)
    for each in closed.derived:
        assert each.rule in rules and each.fact.relation == each.rule.conclusion
        assert tuple(name for *_, name in each.premises) == each.rule.premises
        assert known.issuperset(each.premises)
        known.add(each.fact.triple)


def test_evidence_comes_along():
    document = make_document(["PER"] * 3, [(0, 1, "child"), (1, 2, "child")], evidence=(0,))
    rules = parse_rules("child(h, k) & child(k, t) -> grandchild(h, t)\ngrandchild(t, h) -> forebear(h, t)")
    (closed,) = deductive_closure([document], rules)
    assert [(each.fact.triple, each.fact.evidence) for each in closed.derived] == [
        ((0, 2, "grandchild"), (0,)),
        ((2, 0, "forebear"), (0,)),
    ]


@pytest.mark.parametrize(
    "line",
    ["a(h, t)", "a(h, t) -> b(t, h)", "a(h, k) -> b(h, t)", "a -> b", "a(k, t) & b(h, k) -> c(h, t)", "->"],
)
def test_a_line_that_is_no_rule_is_located(line, tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(f"a(h, t) -> b(h, t)\n{line}\n")
    with pytest.raises(DataError, match=r"line 2") as caught:
        load_rules(path, RelationVocabulary(("a", "b", "c")))
    assert caught.value.defect.file == str(path)


def test_relations_go_by_id_or_by_name_and_others_are_left_out(tmp_path):
    path, lines = tmp_path / "own.txt", []
    relations = RelationVocabulary(("P17", "P131"), {"P17": "country", "P131": "located in"})
    path.write_text("P17(h, t) -> countri(h, t)\n\ncountry(h, t) -> P131(h, t)  # a comment\n", "utf-8")
    assert load_rules(path, relations, lines.append) == (Rule(RuleKind.SUBSUMPTION, ("P17",), "P131"),)
    assert len(lines) == 1 and "line 1" in lines[0] and "'country'" in lines[0]
    path.write_text("P17(h, t) -> countri(h, t)\n", "utf-8")
    with pytest.raises(DataError) as caught:
        load_rules(path, relations)
    assert caught.value.defect.file == str(path)


@pytest.mark.shared
def test_the_example_is_about_relations_that_there_are(shared, request):
    relations = RelationVocabulary.from_file(shared / "data" / "docred" / "rel_info.json")
    path = request.config.rootpath / "examples" / "docred-rules.txt"
    assert load_rules(path, relations) == parse_rules(path.read_text("utf-8"))
