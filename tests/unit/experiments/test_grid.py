"""A grid, in a pool that only pretends: what is done, what is not, and what is told."""

import pytest
from tests.unit.experiments.making_runs import made_record, make_run, write_data

from unnoted.experiments.grid import run_grid
from unnoted.experiments.place import Place
from unnoted.experiments.pools import Elsewhere, Ended, Started
from unnoted.training.record import Failure


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = write_data(tmp_path_factory.mktemp("data"))
    return [make_run(data, seed=seed) for seed in (62, 63, 64)]


class Pretending:
    """A pool whose runs all come to the outcome that it is given for them, the last one first."""

    def __init__(self, outcomes):
        self.outcomes = outcomes
        self.asked = []
        self.closed = False

    def perform(self, runs, folder):
        try:
            self.asked = [run.address for run in runs]
            for run in runs[::-1]:
                yield Started(run)
                outcome = self.outcomes[run.settings.seed]
                if outcome is KeyboardInterrupt:
                    raise KeyboardInterrupt
                yield Ended(run, outcome)
        finally:
            self.closed = True


def finish(folder, run):
    place = Place(folder, run.address)
    place.specify(run)
    place.finish(made_record(run))


def test_each_address_once_and_finished_ones_never(runs, tmp_path):
    finish(tmp_path, runs[0])
    pool = Pretending({63: made_record(runs[1], 2), 64: Failure(runs[2].address, "no memory")})
    told = []
    outcomes = run_grid([*runs, runs[1]], tmp_path, pool, told.append)
    assert pool.asked == [runs[1].address, runs[2].address]
    assert outcomes == {
        runs[0].address: made_record(runs[0]),
        runs[1].address: made_record(runs[1], 2),
        runs[2].address: Failure(runs[2].address, "no memory"),
    }
    assert list(outcomes) == [run.address for run in runs]


def test_what_is_told(runs, tmp_path):
    finish(tmp_path, runs[0])
    pool = Pretending({63: made_record(runs[1], 2), 64: Failure(runs[2].address, "no memory")})
    told = []
    run_grid(runs, tmp_path, pool, told.append)
    names = [f"{run.title()} [{run.address}]" for run in runs]
    assert told == [
        "3 runs: 1 finished before, 2 to do",
        f"begun: {names[2]}",
        f"failed: {names[2]}: no memory (in {tmp_path / runs[2].address}); 1 left, about 0 s",
        f"begun: {names[1]}",
        f"finished: {names[1]}: test F1 66.67 after 3 min 12 s; 0 left",
    ]


def test_a_damaged_record_is_told_and_done_again(runs, tmp_path):
    finish(tmp_path, runs[0])
    (tmp_path / runs[0].address / "record.json").write_text("{")
    pool, told = Pretending({62: made_record(runs[0], 2)}), []
    assert run_grid(runs[:1], tmp_path, pool, told.append) == {runs[0].address: made_record(runs[0], 2)}
    assert "damaged record" in told[0] and told[1] == "1 runs: 0 finished before, 1 to do"


def test_an_interruption_closes_the_pool_and_says_what_is_left(runs, tmp_path):
    pool, told = Pretending({64: made_record(runs[2]), 63: KeyboardInterrupt}), []
    with pytest.raises(KeyboardInterrupt):
        run_grid(runs, tmp_path, pool, told.append)
    assert pool.closed and told[-1] == "stopped; nothing is lost: the same command goes on (2 runs to do)"


def test_an_interruption_while_telling_closes_the_pool(runs, tmp_path):
    pool = Pretending({64: made_record(runs[2])})

    def tell(line):
        if line.startswith("begun"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(runs, tmp_path, pool, tell)
    assert pool.closed


def test_a_run_elsewhere_is_told(runs, tmp_path):
    class Waiting(Pretending):
        def perform(self, runs, folder):
            yield Elsewhere(runs[0])
            yield Ended(runs[0], made_record(runs[0]))

    told = []
    run_grid(runs[:1], tmp_path, Waiting({}), told.append)
    assert told[1].startswith("waiting for model atlop") and told[1].endswith("another process is at it")


def test_no_runs_are_no_trouble(tmp_path):
    assert run_grid([], tmp_path, Pretending({})) == {}
