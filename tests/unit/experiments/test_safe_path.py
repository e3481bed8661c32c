"""What lies in the working folder is not taken for a library; what lies beside a user's script is."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.unit.experiments.making_runs import write_data

import unnoted

PLANTED = ("yaml", "numpy", "signal", "torch", "typer", "json")

LOSSES = """
from unnoted.losses import ATLOP, register_loss


@register_loss("my-own")
class MyOwn(ATLOP):
    pass
"""

SCRIPT = """
import json, sys
import my_losses  # beside this script
from unnoted.experiments.pools import LocalPool, RayPool
from unnoted.training import Settings

if __name__ == "__main__":
    data, loss, pool = sys.argv[1:]
    settings = Settings(
        train=f"{data}/train.json", encoder=f"{data}/encoder", loss=loss, epochs=1, batch_documents=4,
        embedding=16, block=4, test=f"{data}/test.json", output=f"{data}/unused",
    )
    from unnoted.training.fingerprint import fingerprint
    settings = settings.model_copy(update={"output": settings.output.parent / fingerprint(settings).address})
    with LocalPool() if pool == "local" else RayPool() as pool:
        print(json.dumps(repr(pool.submit(settings).result())))
"""


@pytest.fixture
def planted(tmp_path):
    """A working folder full of modules that should not be there; whether one of them was run."""
    folder = tmp_path / "working"
    folder.mkdir()
    for name in PLANTED:
        text = f"open({str(tmp_path / 'was run')!r}, 'a').write(__file__)\nraise ImportError('planted')\n"
        (folder / f"{name}.py").write_text(text)
    yield folder
    assert not (tmp_path / "was run").exists()


def run(working, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, arguments)], cwd=working, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(unnoted.__file__).parents[1])},
    )  # fmt: skip


needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")


@pytest.mark.parametrize(
    ("loss", "pool"),
    [
        pytest.param("my-own", "local", marks=pytest.mark.slow),
        pytest.param("atlop", "ray", marks=[pytest.mark.slow, needs_ray]),
    ],
)
def test_a_run_takes_nothing_from_the_working_folder(planted, tmp_path, loss, pool):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "script.py").write_text(SCRIPT)
    (tmp_path / "own" / "my_losses.py").write_text(LOSSES)
    (tmp_path / "data").mkdir()
    data = write_data(tmp_path / "data")
    done = run(planted, tmp_path / "own" / "script.py", data, loss, pool)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]).startswith("Record(")


def test_the_command_by_its_module_takes_nothing_from_the_working_folder(planted):
    done = run(planted, "-m", "unnoted", "configs")
    assert done.returncode == 0 and "small" in done.stdout, done.stderr
