"""TrainingConfig and fixtures of all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(os.environ.get("UNNOTED_SHARED", Path(__file__).parents[2] / "shared"))

# As the command sets it: tokenizers would warn of every process that a test starts.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("default")


@pytest.fixture(scope="session")
def shared():
    """The folder with real data and a real encoder; skips where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"real data are not beside the project ({SHARED.name}/ is absent)")
    return SHARED


@pytest.fixture
def two_threads():
    """Torch has two threads, and afterwards as many as before."""
    import torch  # takes seconds to load, and most tests of documents do without

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def pytest_terminal_summary(terminalreporter):
    """Say at the end of every run that browser tests were left out."""
    skipped = [each for each in terminalreporter.stats.get("skipped", []) if "tests/browser" in each.nodeid]
    if skipped:
        reason = skipped[0].longrepr[2] if isinstance(skipped[0].longrepr, tuple) else ""
        terminalreporter.section("browser tests")
        terminalreporter.line(f"{len(skipped)} browser tests were NOT run: {reason} (make browser)", red=True)
