import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.errors import DataError
from unnoted.priors import Priors

LABELLED = Priors.from_counts(("spouse", "child", "employer"), {"spouse": 10, "child": 50}, pairs=1000)


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_from_counts():
    assert LABELLED.relations == ("spouse", "child", "employer")
    assert LABELLED.labelled == LABELLED.overall == (0.01, 0.05, 0.0)


def test_no_pair_at_all():
    assert Priors.from_counts(("spouse",), {}, pairs=0).labelled == (0.0,)


@pytest.mark.parametrize(
    ("counts", "pairs", "message"),
    [
        ({"spuse": 1}, 10, r"relation 'spuse': .*nearest: 'spouse'"),
        ({"spouse": 11}, 10, "relation 'spouse': 11 labelled pairs, expected 0 to 10"),
        ({"spouse": -1}, 10, "relation 'spouse': -1 labelled pairs"),
        ({"spouse": 10}, 10, r"relation 'spouse': labelled prior 1\.0, expected below 1"),
    ],
)
def test_impossible_counts(counts, pairs, message):
    with pytest.raises(DataError, match=message):
        Priors.from_counts(("spouse", "child"), counts, pairs)


@pytest.mark.parametrize("three", [3, 3.0, np.float32(3), np.int64(3), np.float64(3)])
def test_a_multiplier_changes_the_overall_priors_only(three):
    for priors in (LABELLED * three, three * LABELLED):
        assert priors.labelled == LABELLED.labelled
        assert priors.overall == pytest.approx((0.03, 0.15, 0.0))
        assert priors.overall[2] == 0
    assert (LABELLED * three * 4).overall == pytest.approx((LABELLED * 12).overall)
    with pytest.raises(TypeError):
        LABELLED * "3"


@pytest.mark.parametrize("multiplier", [20, 0.5, -1, math.nan, math.inf])
def test_impossible_multipliers_name_the_relation(multiplier):
    with pytest.raises(DataError, match=r"relation '(spouse|child)': overall prior"):
        LABELLED * multiplier


@pytest.mark.parametrize(
    ("labelled", "overall", "message"),
    [
        (0.1, 1.0, "overall prior 1.0, expected below 1"),
        (0.1, math.inf, "overall prior inf, expected below 1"),
        (0.1, 0.09, "overall prior 0.09, expected at least the labelled prior 0.1"),
        (0.1, math.nan, "overall prior nan, expected 0 or more"),
        (math.nan, 0.1, "labelled prior nan, expected 0 or more"),
        (-0.1, 0.1, "labelled prior -0.1, expected 0 or more"),
        (0.0, -0.1, "overall prior -0.1, expected 0 or more"),
    ],
)
def test_impossible_priors(labelled, overall, message):
    with pytest.raises(DataError, match=f"relation 'spouse': {message}"):
        Priors(("spouse",), (labelled,), (overall,))


def test_priors_and_relations_must_match():
    with pytest.raises(DataError, match="2 labelled and 1 overall priors, expected one of each for 2"):
        Priors(("a", "b"), (0.1, 0.2), (0.3,))
    with pytest.raises(DataError, match="one or more different relations"):
        Priors(("a", "a"), (0.1, 0.2), (0.3, 0.3))
    with pytest.raises(DataError, match="one or more different relations"):
        Priors((), (), ())


def test_rounding_below_the_labelled_prior_is_no_fault():
    """Three tenths, made in two ways: the overall prior is then exactly the labelled one."""
    labelled, overall = 0.1 + 0.2, 0.3
    assert overall < labelled
    priors = Priors(("a",), (labelled,), (overall,))
    assert priors.overall == priors.labelled and priors.unlabelled == (0.0,)


def test_unlabelled_prior_and_weight():
    priors = Priors(("a", "b", "c"), (0.1, 0.2, 0.0), (0.3, 0.2, 0.0))
    assert priors.unlabelled == pytest.approx((0.2 / 0.9, 0.0, 0.0))
    assert priors.class_weight == pytest.approx((math.sqrt(0.7 / 0.3), 2.0, math.inf))


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_everything_is_finite_for_every_possible_prior(a, b):
    priors = Priors(("a",), (min(a, b),), (max(a, b),))
    assert 0 <= priors.unlabelled[0] <= 1
    assert priors.class_weight[0] >= 0 and (priors.class_weight[0] < math.inf) == (priors.overall[0] > 0)
    if priors.overall[0]:
        assert priors.overall[0] * priors.class_weight[0] <= 0.5 + 1e-15  # √(π (1 − π))


def test_priors_are_values():
    assert {LABELLED * 3, 3 * LABELLED} == {LABELLED * 3}
    assert Priors(("a",), np.array([0.1]), np.array([0.2])) == Priors(("a",), (0.1,), (0.2,))
    with pytest.raises(AttributeError):
        LABELLED.overall = (0.1, 0.1, 0.1)


def test_with_overall():
    priors = LABELLED.with_overall({"spouse": 0.2, "employer": 0.1})
    assert priors.overall == (0.2, 0.05, 0.1) and priors.labelled == LABELLED.labelled
    with pytest.raises(DataError, match=r"relation 'spoues': .*nearest: 'spouse'"):
        LABELLED.with_overall({"spoues": 0.2})


def test_report_is_plain_data_and_names_what_was_never_labelled():
    rows = (LABELLED * 3).with_overall({"employer": 0.1}).report() + LABELLED.report()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[0]["relation"] == "spouse" and rows[0]["overall"] == pytest.approx(0.03)
    assert rows[0]["unlabelled"] == pytest.approx(0.02 / 0.99)
    assert rows[0]["weight"] == pytest.approx(math.sqrt(0.97 / 0.03))
    assert [bool(row["remark"]) for row in rows] == [False, False, True, False, False, True]
    assert "nothing to estimate" in rows[2]["remark"] and "no positive term" in rows[5]["remark"]


def test_file_of_priors_and_multipliers(tmp_path):
    content = {"spouse": 0.2, "child": {"multiplier": 4}}
    priors = Priors.from_file(write(tmp_path / "priors.json", content), LABELLED)
    assert priors.overall == (0.2, 0.2, 0.0) and priors.labelled == LABELLED.labelled


def test_a_star_stands_for_the_relations_not_named(tmp_path):
    content = {"*": {"multiplier": 3}, "spouse": 0.5}
    assert Priors.from_file(write(tmp_path / "p.json", content), LABELLED).overall == pytest.approx(
        (0.5, 0.15, 0.0)
    )
    assert Priors.from_file(write(tmp_path / "p.json", {"*": 0.5}), LABELLED).overall == (0.5, 0.5, 0.5)


def test_what_a_file_does_not_name_stays(tmp_path):
    assert Priors.from_file(write(tmp_path / "p.json", {}), LABELLED * 3) == LABELLED * 3


@given(st.lists(st.floats(0.05, 1, exclude_max=True), min_size=3, max_size=3))
def test_file_round_trip_is_exact(tmp_path_factory, overall):
    priors = LABELLED.with_overall(dict(zip(LABELLED.relations, overall, strict=True)))
    path = tmp_path_factory.mktemp("priors") / "priors.json"
    priors.to_file(path)
    assert Priors.from_file(path, LABELLED) == priors


def test_dictionary_round_trip_is_exact():
    priors = LABELLED * (1 / 3 + 1)
    assert Priors(**json.loads(json.dumps(priors.to_dict()))) == priors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"spose": 0.2},
            r"relation 'spose': .*, expected one of the 3 relations \(nearest: 'spouse'\)",
        ),
        ({"spouse": "0.2"}, "relation 'spouse': '0.2', expected a number or"),
        ({"spouse": True}, "relation 'spouse': True, expected a number or"),
        ({"spouse": None}, "relation 'spouse': None, expected a number or"),
        ({"spouse": {"multiplyer": 3}}, "relation 'spouse': {'multiplyer': 3}, expected a number or"),
        (
            {"spouse": {"multiplier": True}},
            "relation 'spouse': {'multiplier': True}, expected a number or",
        ),
        ({"spouse": 1.5}, "relation 'spouse': overall prior 1.5, expected below 1"),
        ({"spouse": 0.001}, "relation 'spouse': overall prior 0.001, expected at least"),
        ({"*": {"multiplier": 30}}, "relation 'child': overall prior 1.5, expected below 1"),
        ('{"spouse": 1' + "0" * 400 + "}", "relation 'spouse': overall prior 1e.300, expected below 1"),
        ('{"spouse": 0.2, "spouse": 0.3}', "key 'spouse': twice in one object"),
        ([1], r"\[1\], expected an object of relation to prior"),
        ("{", "'{'"),
        (None, "None"),
    ],
)
def test_a_bad_file_is_named_with_its_relation(tmp_path, content, message):
    path = write(tmp_path / "priors.json", content)
    with pytest.raises(DataError, match=f"priors.json: {message}"):
        Priors.from_file(path, LABELLED)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.json: no such file"):
        Priors.from_file(tmp_path / "absent.json", LABELLED)
