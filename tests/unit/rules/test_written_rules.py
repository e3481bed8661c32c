"""Rules as people write them."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.data.corpus import RelationVocabulary
from unnoted.errors import DataError
from unnoted.rules import Inverse, Rule, RuleSet, SamePair, TwoStep, load_rules, written_rules

names = st.text("abz ()0", min_size=1).map(str.strip).filter(bool)
bodies = st.one_of(st.builds(SamePair, names), st.builds(Inverse, names), st.builds(TwoStep, names, names))


@given(st.lists(st.builds(Rule, bodies, names), unique=True))
def test_what_is_shown_can_be_read(rules):
    assert list(written_rules("\n".join(map(str, rules)))) == rules


def test_relations_go_by_id_or_by_name():
    relations = RelationVocabulary(("P17", "P131"), {"P17": "country", "P131": "located in"})
    text = "country(h, t) -> P131(h, t)  # a remark\n\nP17(h, t) -> unheard of(h, t)"
    assert list(written_rules(text, relations)) == [Rule(SamePair("P17"), "P131")]


@pytest.mark.parametrize(
    "line",
    ["a(h, t)", "a(h, t) -> b(t, h)", "a(h, k) -> b(h, t)", "a -> b", "a(k, t) & b(h, k) -> c(h, t)"],
)  # fmt: skip
def test_a_line_that_is_none_is_named(line, tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(f"a(h, t) -> b(h, t)\n{line}\n")
    with pytest.raises(DataError, match=r"rules\.txt.*line 2"):
        load_rules(path, RelationVocabulary(("a", "b", "c")))


def test_rules_about_other_relations_are_refused():
    with pytest.raises(DataError, match="no rule about spouse"):
        load_rules("docred", RelationVocabulary(("spouse",)))


@pytest.mark.shared
def test_those_of_the_package_are_about_relations_that_there_are(shared):
    relations = RelationVocabulary.from_file(shared / "data" / "docred" / "rel_info.json")
    text = (files("unnoted.rules") / "docred.txt").read_text("utf-8")
    assert list(load_rules("docred", relations)) == list(written_rules(text))


def test_a_saved_set_stays_free(tmp_path):
    rules = written_rules("a(h, t) -> b(h, t)")
    rules.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json") == rules


def test_a_misspelt_relation_is_told(tmp_path):
    path, told = tmp_path / "own.txt", []
    relations = RelationVocabulary(("spouse_of", "born_in"))
    path.write_text("spouse_of(t, h) -> spuse_of(h, t)\nspouse_of(t, h) -> spouse_of(h, t)\n", "utf-8")
    assert len(load_rules(path, relations, told.append)) == 1
    (line,) = told
    assert (
        "own.txt: 1 rule about other relations left out" in line
        and "line 1: 'spuse_of' (nearest: 'spouse_of')" in line
    )
    path.write_text("spouse_of(t, h) -> spuse_of(h, t)\n", "utf-8")
    with pytest.raises(DataError, match=r"line 1: 'spuse_of' .nearest: 'spouse_of'."):
        load_rules(path, relations)
    load_rules("docred", RelationVocabulary(("P17", "P131")), told.append)
    assert len(told) == 1  # the package's rules name what other documents have
