"""Priors: arithmetic, what is possible, and files."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.errors import DataError
from unnoted.priors import Priors

LABELLED = Priors.from_counts(("spouse", "child", "employer"), {"spouse": 10, "child": 50}, pairs=1000)


def test_labelled_priors_are_counted():
    assert LABELLED.labelled == LABELLED.overall == (0.01, 0.05, 0.0)
    assert Priors.from_counts(("spouse",), {}, pairs=0).labelled == (0.0,)


@pytest.mark.parametrize("three", [3, 3.0, np.float32(3), np.int64(3)])
def test_a_multiplier_changes_the_overall_priors_only(three):
    for priors in (LABELLED * three, three * LABELLED):
        assert priors.labelled == LABELLED.labelled
        assert priors.overall == pytest.approx((0.03, 0.15, 0.0))
    assert (LABELLED * three * 4).overall == pytest.approx((LABELLED * 12).overall)
    with pytest.raises(TypeError):
        LABELLED * "3"


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: Priors.from_counts(("spouse", "child"), {"spuse": 1}, 10), "relation 'spuse'"),
        (lambda: Priors.from_counts(("spouse", "child"), {"spouse": 11}, 10), "relation 'spouse'"),
        (lambda: Priors.from_counts(("spouse", "child"), {"spouse": -1}, 10), "relation 'spouse'"),
        (lambda: Priors.from_counts(("spouse", "child"), {"spouse": 10}, 10), "relation 'spouse'"),
        (lambda: LABELLED * 20, "relation 'child'"),
        *((lambda by=by: LABELLED * by, "relation 'spouse'") for by in (0.5, -1, math.nan, math.inf)),
        *(
            (lambda both=both: Priors(("a",), both[:1], both[1:]), "relation 'a'")
            for both in (
                (0.1, 1.0),
                (0.1, math.inf),
                (0.1, 0.09),
                (0.1, math.nan),
                (math.nan, 0.1),
                (-0.1, 0.1),
            )
        ),
        (lambda: Priors(("a", "b"), (0.1, 0.2), (0.3,)), None),
        (lambda: Priors(("a", "a"), (0.1, 0.2), (0.3, 0.3)), None),
        (lambda: Priors((), (), ()), None),
    ],
)
def test_the_impossible_is_refused_and_names_the_relation(make, place):
    with pytest.raises(DataError) as caught:
        make()
    assert caught.value.defect.field == place


def test_rounding_below_the_labelled_prior_is_no_fault():
    """Three tenths, made in two ways: the overall prior is then exactly the labelled one."""
    labelled, overall = 0.1 + 0.2, 0.3
    assert overall < labelled
    priors = Priors(("a",), (labelled,), (overall,))
    assert priors.overall == priors.labelled and priors.unlabelled == (0.0,)


def test_unlabelled_prior_and_weight():
    priors = Priors(("a", "b", "c"), np.array([0.1, 0.2, 0.0]), (0.3, 0.2, 0.0))
    assert priors.unlabelled == pytest.approx((0.2 / 0.9, 0.0, 0.0))
    assert priors.class_weight == pytest.approx((math.sqrt(0.7 / 0.3), 2.0, math.inf))


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_everything_is_finite_for_every_possible_prior(a, b):
    priors = Priors(("a",), (min(a, b),), (max(a, b),))
    assert 0 <= priors.unlabelled[0] <= 1
    assert priors.class_weight[0] >= 0 and (priors.class_weight[0] < math.inf) == (priors.overall[0] > 0)
    if priors.overall[0]:
        assert priors.overall[0] * priors.class_weight[0] <= 0.5 + 1e-15  # √(π (1 − π))
    assert Priors(**json.loads(json.dumps(priors.to_dict()))) == priors


def test_the_report_is_plain_data_and_remarks_on_what_was_never_labelled():
    rows = Priors(("a", "b", "c"), (0.01, 0.0, 0.0), (0.03, 0.1, 0.0)).report()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert (rows[0]["relation"], rows[0]["overall"], rows[0]["remark"]) == ("a", 0.03, "")
    assert rows[0]["unlabelled"] == pytest.approx(0.02 / 0.99)
    assert rows[0]["weight"] == pytest.approx(math.sqrt(0.97 / 0.03)) and rows[2]["weight"] is None
    assert rows[1]["remark"] and rows[2]["remark"] and rows[1]["remark"] != rows[2]["remark"]


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "overall"),
    [
        ({}, (0.01, 0.05, 0.0)),
        ({"spouse": 0.2, "child": {"multiplier": 4}}, (0.2, 0.2, 0.0)),
        ({"*": {"multiplier": 3}, "spouse": 0.5}, (0.5, 0.15, 0.0)),
        ({"*": 0.5}, (0.5, 0.5, 0.5)),
    ],
)
def test_a_file_gives_priors_and_multipliers(tmp_path, content, overall):
    priors = Priors.from_file(write(tmp_path / "priors.json", content), LABELLED)
    assert priors.overall == pytest.approx(overall) and priors.labelled == LABELLED.labelled


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"spose": 0.2}, "relation 'spose'"),
        *(({"spouse": value}, "relation 'spouse'") for value in ("0.2", True, None, {"multiplyer": 3})),
        ({"spouse": {"multiplier": True}}, "relation 'spouse'"),
        ({"spouse": 1.5}, "relation 'spouse'"),
        ({"spouse": 0.001}, "relation 'spouse'"),
        ({"*": {"multiplier": 30}}, "relation 'child'"),
        ('{"spouse": 1' + "0" * 400 + "}", "relation 'spouse'"),
        ('{"spouse": 0.2, "spouse": 0.3}', "key 'spouse'"),
        ([1], None),
        ("{", None),
        (None, None),
    ],
)
def test_a_bad_file_is_located(tmp_path, content, place):
    path = write(tmp_path / "priors.json", content)
    with pytest.raises(DataError) as caught:
        Priors.from_file(path, LABELLED)
    assert (caught.value.defect.file, caught.value.defect.field) == (str(path), place)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.json"):
        Priors.from_file(tmp_path / "absent.json", LABELLED)
