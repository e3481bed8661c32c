"""Some hundred cases of `make fuzz`, and every case that once was a fault."""

from pathlib import Path

import pytest

from tests.attacks.supervising import Worker, kept_case
from tests.attacks.targets import SHARES, TARGETS

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_or_refused(name):
    """Both in one test, because a worker takes seconds to start."""
    cases = [(path, files) for path in CASES for target, files in [kept_case(path)] if target == name]
    assert cases
    with Worker(name) as worker:
        again = {path.name: outcome for path, files in cases if (outcome := worker.try_files(files)).failed}
        failed = {
            f"{name} --seed 1 --only {number}": outcome
            for number in range(max(3, SHARES[name] // 3))
            if (outcome := worker.attempt(1, number)[1]).failed
        }
    assert not again and not failed


def test_the_judge_notices_what_it_should(tmp_path):
    """A fuzzer that cannot fail proves nothing: each way to fail, on purpose."""
    from tests.attacks.judging import Wrong, judged

    class Planted:
        errors = (KeyError,)

        def __init__(self, act):
            self.act = act

        def attempt(self, folder):
            self.act(folder)

    def raising(error):
        def act(folder):
            raise error(folder)

        return act

    acts = {
        "accepted": lambda folder: None,
        "refused": raising(lambda folder: KeyError(f"{folder}/a.json: found 1")),
        "unnamed": raising(lambda folder: KeyError("found 1")),
        "raw": raising(lambda folder: KeyErrorWith(f"{folder}: \x1b[31m")),
        "traceback": raising(lambda folder: TypeError("no")),
        "wrong": raising(lambda folder: Wrong("other")),
        "memory": lambda folder: bytearray(600 << 20),
    }
    assert {kind: judged(Planted(act), tmp_path, 10).kind for kind, act in acts.items()} == {
        kind: kind for kind in acts
    }


class KeyErrorWith(KeyError):
    """A `KeyError` shows its argument's repr, in which nothing is raw."""

    def __str__(self):
        return self.args[0]
