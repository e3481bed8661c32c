"""Priors: arithmetic, what is possible, files, and a known total allocated to relations."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.errors import DataError
from unnoted.priors import Priors
from unnoted.priors.priors import allocate_total, interval_factor

LABELLED = Priors.from_counts(("spouse", "child", "employer"), {"spouse": 10, "child": 50}, pairs=1000)


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_from_counts():
    assert LABELLED.relations == ("spouse", "child", "employer")
    assert LABELLED.labelled == LABELLED.overall == (0.01, 0.05, 0.0)


def test_no_pair_at_all():
    assert Priors.from_counts(("spouse",), {}, pairs=0).labelled == (0.0,)


def refused(make, place):
    with pytest.raises(DataError) as caught:
        make()
    assert caught.value.defect.field == place


@pytest.mark.parametrize(
    ("counts", "relation"),
    [
        ({"spuse": 1}, "spuse"),
        ({"spouse": 11}, "spouse"),
        ({"spouse": -1}, "spouse"),
        ({"spouse": 10}, "spouse"),
    ],
)
def test_impossible_counts(counts, relation):
    refused(lambda: Priors.from_counts(("spouse", "child"), counts, 10), f"relation {relation!r}")


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
    ("labelled", "overall"),
    [
        (0.1, 1.0), (0.1, math.inf), (0.1, 0.09), (0.1, math.nan), (math.nan, 0.1), (-0.1, 0.1), (0.0, -0.1),
    ],
)  # fmt: skip
def test_impossible_priors(labelled, overall):
    refused(lambda: Priors(("spouse",), (labelled,), (overall,)), "relation 'spouse'")


def test_priors_and_relations_must_match():
    for arguments in ((("a", "b"), (0.1, 0.2), (0.3,)), (("a", "a"), (0.1, 0.2), (0.3, 0.3)), ((), (), ())):
        refused(lambda arguments=arguments: Priors(*arguments), None)


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
    refused(lambda: LABELLED.with_overall({"spoues": 0.2}), "relation 'spoues'")


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


def test_dictionary_round_trip_is_exact():
    priors = LABELLED * (1 / 3 + 1)
    assert Priors(**json.loads(json.dumps(priors.to_dict()))) == priors


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


@given(st.lists(st.tuples(st.integers(0, 500), st.floats(0, 2000)), min_size=1, max_size=6), st.floats(1, 8))
def test_a_known_total_is_allocated_whole(rows, multiplier):
    labelled = np.array([labels for labels, _ in rows])
    expected = np.array([labels + missing for labels, missing in rows])
    found = allocate_total(expected, labelled, multiplier)
    assert (found >= labelled - 1e-9).all()
    if (expected > labelled).any() and multiplier > 1.01 and labelled.any():
        assert found.sum() == pytest.approx(multiplier * labelled.sum()) or found.sum() == labelled.sum()


def test_relations_with_many_labels_keep_their_ratio_and_few_follow_the_multiplier():
    labelled = np.array([2000, 2000, 1])
    found = allocate_total(np.array([12_000.0, 4000.0, 100.0]), labelled, 4.0) / labelled
    assert found[:2] == pytest.approx([6, 2], rel=0.01) and 4 < found[2] < 8
    assert (np.diff(interval_factor(np.array([1, 10, 1000]))) < 0).all()
