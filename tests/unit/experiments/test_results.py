"""Each column shows the figure that its title names; significance uses the seeds that both rows have."""

import pytest
from tests.unit.experiments.factories import make_record, make_scored

from unnoted.evaluation import Score
from unnoted.experiments.results import Row, compute_significance, measure


def value(title, record):
    return measure([record], [title])[title].mean


def test_figures_are_those_of_the_counts():
    record = make_record(test=make_scored(correct=30, predicted=60, gold=100))
    assert value("P", record) == pytest.approx(50)
    assert value("R", record) == pytest.approx(30)
    assert value("F1", record) == pytest.approx(100 * 2 * 0.5 * 0.3 / 0.8)
    # 10 of the 30 are known from train: the precision is 20 of 50.
    assert value("Ign F1", record) == pytest.approx(100 * 2 * 0.4 * 0.3 / 0.7, abs=1e-3)
    assert [value(f"Freq. {name}", record) for name in ("P", "R")] == [pytest.approx(25), pytest.approx(20)]


def test_seeds_are_averaged_and_an_unknown_column_is_refused():
    records = [make_record(test=make_scored(correct=correct, predicted=50)) for correct in (20, 30)]
    recall = measure(records, ["R"])["R"]
    assert (recall.mean, recall.std, recall.seeds) == (pytest.approx(25), pytest.approx(50**0.5), 2)
    assert measure([], ["R"]) == {}
    with pytest.raises(ValueError, match=r"'Ign F2'.*'Ign F1'"):
        measure([], ["Ign F2"])


def test_where_there_is_a_published_denominator_it_is_used():
    record = make_record(test=make_scored(reachable=Score(30, 40, 60)))
    assert [value(name, record) for name in ("P", "R")] == [pytest.approx(75), pytest.approx(50)]
    assert value("Freq. P", record) == pytest.approx(75)


def test_development_figures_are_the_tests_where_it_stands_in():
    dev, test = make_scored(correct=10), make_scored(correct=30)
    assert value("Dev F1", make_record(test=test, dev=dev)) == pytest.approx(100 * dev.overall.f1)
    assert value("Test F1", make_record(test=test, dev=dev)) == pytest.approx(100 * test.overall.f1)
    assert value("Dev F1", make_record(test=test)) == pytest.approx(100 * test.overall.f1)


def row(name, **correct):
    records = [
        make_record(settings={"seed": int(seed[1:])}, test=make_scored(number))
        for seed, number in correct.items()
    ]
    return Row(name, name, "", records=tuple(records))


def test_only_seeds_that_both_finished_are_compared():
    rows = [row("a", s62=50, s63=20), row("b", s63=20, s64=50), row("c")]
    (test,) = compute_significance([("a", "b"), ("a", "c")], rows)
    assert (test.better, test.than, test.seeds) == ("a", "b", 1)
    assert (test.difference, test.low, test.high, test.verdict) == (0, 0, 0, "not significant")
