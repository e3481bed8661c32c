"""Each column shows the figure that its title says."""

import pytest
from tests.unit.experiments.making_tables import record, scored

from unnoted.evaluation import Score
from unnoted.experiments.columns import measured


def value(title, made):
    return measured([made], [title])[title].mean


def test_figures_are_those_of_the_counts():
    made = record(test=scored(correct=30, predicted=60, gold=100))
    assert value("P", made) == pytest.approx(50)
    assert value("R", made) == pytest.approx(30)
    assert value("F1", made) == pytest.approx(100 * 2 * 0.5 * 0.3 / 0.8)
    # 10 of the 30 are known from train: the precision is 20 of 50.
    assert value("Ign F1", made) == pytest.approx(100 * 2 * 0.4 * 0.3 / 0.7, abs=1e-3)
    assert [value(f"Freq. {name}", made) for name in ("P", "R")] == [pytest.approx(25), pytest.approx(20)]


def test_where_there_is_a_published_denominator_it_is_used():
    made = record(test=scored(reachable=Score(30, 40, 60)))
    assert [value(name, made) for name in ("P", "R")] == [pytest.approx(75), pytest.approx(50)]
    assert value("Freq. P", made) == pytest.approx(75)


def test_development_figures_are_the_tests_where_it_stands_in():
    dev, test = scored(correct=10), scored(correct=30)
    assert value("Dev F1", record(test=test, dev=dev)) == pytest.approx(100 * dev.overall.f1)
    assert value("Test F1", record(test=test, dev=dev)) == pytest.approx(100 * test.overall.f1)
    assert value("Dev F1", record(test=test)) == pytest.approx(100 * test.overall.f1)


def test_seeds_are_averaged():
    records = [record(test=scored(correct=correct, predicted=50)) for correct in (20, 30)]
    figure = measured(records, ["R"])["R"]
    assert (figure.mean, figure.seeds) == (pytest.approx(25), 2)
    assert figure.deviation == pytest.approx(50**0.5)
    assert measured([], ["R"]) == {}


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match=r"unknown column 'Ign F2'.*nearest: 'Ign F1'"):
        measured([], ["Ign F2"])
