"""A grid, in a pool that only pretends: what is done, what is not, and what is told."""

from concurrent.futures import Future

import pytest
from tests.unit.experiments.making_runs import address, made_record, make_run, write_data

from unnoted.experiments import grid
from unnoted.experiments.grid import run_grid, title
from unnoted.training.record import Failure
from unnoted.training.run_folder import RunFolder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = write_data(tmp_path_factory.mktemp("data"))
    return [make_run(data, seed=seed) for seed in (62, 63, 64)]


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(grid, "PAUSE", 0.001)


class Pretending:
    """A pool whose runs all come to what it is given for their seeds; a list is used up from its front."""

    def __init__(self, outcomes, room=1):
        self.outcomes = outcomes
        self.room = room
        self.asked = []
        self.closed = False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True

    def submit(self, settings):
        self.asked.append(settings.output.name)
        outcome, future = self.outcomes[settings.seed], Future()
        outcome = outcome.pop(0) if isinstance(outcome, list) else outcome
        if outcome is KeyboardInterrupt:
            raise KeyboardInterrupt
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
        return future


def finish(folder, run, correct=1):
    (folder / address(run)).mkdir(parents=True, exist_ok=True)
    made_record(run, correct).write(folder / address(run) / "record.json")


def test_each_address_once_and_finished_ones_never(runs, tmp_path):
    finish(tmp_path, runs[0])
    addresses = [address(run) for run in runs]
    pool = Pretending({63: made_record(runs[1], 2), 64: Failure(addresses[2], "no memory")})
    outcomes = run_grid([*runs, runs[1]], tmp_path, pool)
    assert pool.asked == addresses[1:]
    assert outcomes == {
        addresses[0]: made_record(runs[0]),
        addresses[1]: made_record(runs[1], 2),
        addresses[2]: Failure(addresses[2], "no memory"),
    }
    assert list(outcomes) == addresses


def test_what_is_told(runs, tmp_path):
    finish(tmp_path, runs[0])
    pool = Pretending({63: made_record(runs[1], 2), 64: Failure(address(runs[2]), "no memory")})
    told = []
    run_grid([runs[0], runs[2], runs[1]], tmp_path, pool, told.append)
    names = [f"{title(run)} [{address(run)}]" for run in runs]
    assert told == [
        "3 runs: 1 finished before, 2 to do",
        f"begun: {names[2]}",
        f"failed: {names[2]}: no memory (in {tmp_path / address(runs[2])}); 1 left, about 0 s",
        f"begun: {names[1]}",
        f"finished: {names[1]}: test F1 66.67 after 3 min 12 s; 0 left",
    ]


def test_a_damaged_record_is_told_and_done_again(runs, tmp_path):
    finish(tmp_path, runs[0])
    (tmp_path / address(runs[0]) / "record.json").write_text("{")
    pool, told = Pretending({62: made_record(runs[0], 2)}), []
    assert run_grid(runs[:1], tmp_path, pool, told.append) == {address(runs[0]): made_record(runs[0], 2)}
    assert "damaged record" in told[0] and told[1] == "1 run: 0 finished before, 1 to do"


def test_an_interruption_closes_the_pool_and_says_what_is_left(runs, tmp_path):
    pool, told = Pretending({62: made_record(runs[0]), 63: KeyboardInterrupt}), []
    with pytest.raises(KeyboardInterrupt):
        run_grid(runs, tmp_path, pool, told.append)
    assert pool.closed and told[-1] == "stopped; nothing is lost: the same command continues (2 runs to do)"


def test_an_interruption_while_telling_closes_the_pool(runs, tmp_path):
    pool = Pretending({62: made_record(runs[0])})

    def tell(line):
        if line.startswith("begun"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(runs, tmp_path, pool, tell)
    assert pool.closed


def test_no_more_than_there_is_room_for(runs, tmp_path):
    class Slow(Pretending):
        def __init__(self):
            super().__init__({}, room=2)
            self.futures = []

        def submit(self, settings):
            for future, run in self.futures[-1:]:
                assert len([each for each, _ in self.futures if not each.done()]) <= 1
                future.set_result(made_record(run))
            self.futures.append((Future(), settings))
            if len(self.futures) == 3:
                self.futures[-1][0].set_result(made_record(settings))
            return self.futures[-1][0]

    outcomes = run_grid(runs, tmp_path, Slow())
    assert [outcome.address for outcome in outcomes.values()] == [address(run) for run in runs]


def test_a_process_that_is_lost_does_not_stop_the_others(runs, tmp_path):
    pool = Pretending({62: OSError("no space left"), 63: made_record(runs[1])})
    lost, finished = run_grid(runs[:2], tmp_path, pool).values()
    assert lost == Failure(
        address(runs[0]), "its process was not started, or is lost (OSError: no space left)"
    )
    assert finished == made_record(runs[1])


def test_a_run_elsewhere_is_waited_for_while_others_go_on(runs, tmp_path):
    folder, told = RunFolder(tmp_path / address(runs[0])), []
    elsewhere = folder.locked()

    def tell(line):
        told.append(line)
        if line.startswith("finished") and len(told) == 4:
            finish(tmp_path, runs[0], 2)
            elsewhere.__exit__(None, None, None)

    elsewhere.__enter__()
    outcomes = run_grid(runs[:2], tmp_path, Pretending({63: made_record(runs[1])}), tell)
    assert outcomes[address(runs[0])] == made_record(runs[0], 2)
    names = [f"{title(run)} [{address(run)}]" for run in runs]
    assert told[1] == f"waiting for {names[0]}: another process is at it"
    assert [line.partition(":")[0] for line in told[2:]] == ["begun", "finished", "finished"]


def test_a_run_that_was_given_up_elsewhere_is_taken_over(runs, tmp_path):
    elsewhere = RunFolder(tmp_path / address(runs[0])).locked()

    def tell(line):
        if line.startswith("waiting"):
            elsewhere.__exit__(None, None, None)

    elsewhere.__enter__()
    pool = Pretending({62: made_record(runs[0])})
    assert list(run_grid(runs[:1], tmp_path, pool, tell).values()) == [made_record(runs[0])]


def test_a_process_that_came_second_is_no_failure(runs, tmp_path):
    pool = Pretending({62: [None, made_record(runs[0])]})
    assert list(run_grid(runs[:1], tmp_path, pool).values()) == [made_record(runs[0])]
    assert len(pool.asked) == 2


def test_no_runs_are_no_trouble(tmp_path):
    assert run_grid([], tmp_path, Pretending({})) == {}
