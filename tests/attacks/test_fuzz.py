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
