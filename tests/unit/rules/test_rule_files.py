"""Rules as people and as files have them."""

import json

from pytest import mark, raises

from unnoted.errors import DataError
from unnoted.rules import Constraints, Inverse, Rule, RuleSet, SamePair, TwoStep

RULES = RuleSet(
    (
        Rule(TwoStep("P19", "P17"), "P27", 0.9, 0.8, 40, 49, 13.2),
        Rule(Inverse("P26"), "P26", 1.0, 0.9, 48, 53, 148.8),
        Rule(SamePair("P17"), "P131", 0.8, 0.7, 201, 1659, 6.3),
    ),
    Constraints(
        {"P26": frozenset({("PER", "PER")}), "P27": frozenset({("PER", "LOC")})}, frozenset({"P569"})
    ),
)
NAMES = {
    "P19": "place of birth",
    "P17": "country",
    "P27": "country of citizenship",
    "P26": "spouse",
    "P131": "in",
}


def test_rules_can_be_read():
    assert [rule.line(NAMES.__getitem__) for rule in RULES] == [
        "place of birth(h, k) & country(k, t) -> country of citizenship(h, t)",
        "spouse(t, h) -> spouse(h, t)",
        "country(h, t) -> in(h, t)",
    ]
    assert RULES.lines()[0] == "0.90 (at least 0.80, 40 of 49 noted)  P19(h, k) & P17(k, t) -> P27(h, t)"


def test_rules_are_read_as_they_were_written(tmp_path):
    RULES.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json") == RULES


def broken(change):
    content = {"format": 1, "rules": [RULES[0].to_json()], "types": {}, "functional": []}
    change(content)
    return json.dumps(content)


@mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(format=2), "format"),
        (lambda content: content.pop("rules"), "rules: "),
        (
            lambda content: content["rules"][0].update(kind="two-steps"),
            r"rules\[0\]: .unknown kind of rule",
        ),
        (lambda content: content["rules"][0].update(premises=["P19"]), r"rules\[0\]"),
        (lambda content: content["rules"][0].update(confidence=1.5), r"rules\[0\]: .confidence"),
        (lambda content: content["rules"][0].update(colour="red"), r"rules\[0\]"),
        (lambda content: content["types"].update(P26=[["PER"]]), "types: .not enough"),
        (lambda content: content["functional"].append(3), "functional: "),
    ],
)
def test_a_broken_file_is_named(tmp_path, change, message):
    path = tmp_path / "rules.json"
    path.write_text(broken(change), "utf-8")
    with raises(DataError, match=message) as error:
        RuleSet.load(path)
    assert "rules.json" in str(error.value)
