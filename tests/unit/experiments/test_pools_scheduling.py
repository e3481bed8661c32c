"""Which run is started when: no process is started here."""

import pytest
from tests.unit.experiments.making_runs import made_record, make_run, write_data

from unnoted.experiments import pools
from unnoted.experiments.place import Place
from unnoted.experiments.pools import (
    BUSY,
    FAILED,
    Elsewhere,
    Ended,
    Ending,
    LocalPool,
    Started,
    scheduled,
)
from unnoted.training.record import Failure


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = write_data(tmp_path_factory.mktemp("data"))
    return [make_run(data, seed=seed) for seed in (62, 63, 64)]


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(pools, "PAUSE", 0.001)


class Fake:
    """A job that ends when it has been looked at a number of times."""

    def __init__(self, place, ending=None, looks=1, before_end=lambda: None):
        self.place, self._ending, self.looks, self.before_end = place, ending, looks, before_end
        self.stopped = False

    def ending(self):
        self.looks -= 1
        if self.looks > 0:
            return None
        self.before_end()
        return self._ending or Ending(0)

    def stop(self):
        self.stopped = True


def finishing(run, **options):
    return lambda place: Fake(place, before_end=lambda: place.finish(made_record(run)), **options)


def test_no_more_than_there_is_room_for(runs, tmp_path):
    by_address = {run.address: run for run in runs}
    under_way, most = 0, 0
    events = scheduled(
        runs, tmp_path, lambda: 2, lambda place: finishing(by_address[place.address], looks=3)(place)
    )
    ended = []
    for event in events:
        under_way += 1 if isinstance(event, Started) else -1
        most = max(most, under_way)
        if isinstance(event, Ended):
            ended.append(event)
    assert most == 2 and {event.run.address: event.outcome for event in ended} == {
        run.address: made_record(run) for run in runs
    }


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (Ending(-9), "its process was killed (signal 9: perhaps memory ran out); see "),
        (Ending(-11), "its process ended by signal 11; see "),
        (Ending(1), "its process ended with code 1; see "),
        (Ending(0), "its process ended without a record; see "),
        (Ending(1, "the machine is lost"), "the machine is lost; see "),
    ],
)
def test_a_process_that_left_no_reason(runs, tmp_path, ending, reason):
    place = Place(tmp_path, runs[0].address)
    place.specify(runs[0])
    place.fail("of the last time", "")
    *_, event = scheduled(runs[:1], tmp_path, lambda: 1, lambda place: Fake(place, ending))
    assert event == Ended(runs[0], Failure(runs[0].address, f"{reason}{place.log}"))


def test_a_reason_that_was_written_down(runs, tmp_path):
    def start(place):
        return Fake(place, Ending(FAILED), before_end=lambda: place.fail("no memory", "details"))

    *_, event = scheduled(runs[:1], tmp_path, lambda: 1, start)
    assert event.outcome == Failure(runs[0].address, "no memory")


def test_a_run_that_cannot_be_begun_does_not_stop_the_others(runs, tmp_path):
    def start(place):
        if place.address == runs[0].address:
            raise OSError("no space left")
        return finishing(runs[1])(place)

    outcomes = [
        event.outcome for event in scheduled(runs[:2], tmp_path, lambda: 1, start) if isinstance(event, Ended)
    ]
    assert outcomes == [Failure(runs[0].address, "not begun: no space left"), made_record(runs[1])]


def test_a_run_elsewhere_is_waited_for_while_others_go_on(runs, tmp_path):
    place = Place(tmp_path, runs[0].address)
    events = scheduled(runs[:2], tmp_path, lambda: 1, finishing(runs[1]))
    with place.locked():
        assert next(events) == Elsewhere(runs[0])
        assert next(events) == Started(runs[1])
        assert next(events) == Ended(runs[1], made_record(runs[1]))
        place.finish(made_record(runs[0], 2))
        assert list(events) == [Ended(runs[0], made_record(runs[0], 2))]


def test_a_run_that_was_given_up_elsewhere_is_taken_over(runs, tmp_path):
    events = scheduled(runs[:1], tmp_path, lambda: 1, finishing(runs[0]))
    with Place(tmp_path, runs[0].address).locked():
        assert next(events) == Elsewhere(runs[0])
    assert list(events) == [Started(runs[0]), Ended(runs[0], made_record(runs[0]))]


def test_a_worker_that_came_second_is_no_failure(runs, tmp_path):
    jobs = [lambda place: Fake(place, Ending(BUSY)), finishing(runs[0])]
    events = scheduled(runs[:1], tmp_path, lambda: 1, lambda place: jobs.pop(0)(place))
    assert [type(event) for event in events] == [Started, Started, Ended]


def test_closing_stops_what_is_under_way(runs, tmp_path):
    jobs = []

    def start(place):
        jobs.append(Fake(place, looks=1000))
        return jobs[-1]

    events = scheduled(runs, tmp_path, lambda: 2, start)
    next(events), next(events)
    events.close()
    assert [job.stopped for job in jobs] == [True, True]


def test_threads_are_shared_out(monkeypatch):
    monkeypatch.setattr(pools, "_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [LocalPool(jobs).threads for jobs in (1, 2, 3, 8, 9)] == [8, 4, 2, 1, 1]
    with pytest.raises(ValueError, match="jobs: found 0, expected 1 or more"):
        LocalPool(0)


@pytest.mark.parametrize(
    ("asked", "threads"), [("1", [1, 1]), ("3", [3, 2]), ("16", [8, 2]), ("4,2", [8, 2]), ("", [8, 2])]
)
def test_no_run_has_more_threads_than_were_asked_for(monkeypatch, asked, threads):
    monkeypatch.setattr(pools, "_cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert [LocalPool(jobs).threads for jobs in (1, 4)] == threads


def test_each_run_sees_one_gpu_of_those_that_may_be_seen(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    assert pools._devices() == ["2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert pools._devices() == []
