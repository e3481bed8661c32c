"""What is not imported cannot make anybody wait."""

import subprocess
import sys

import pytest

HEAVY = ("transformers", "accelerate", "sklearn", "scipy", "matplotlib", "pandas")


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("from unnoted import Extractor", HEAVY),
        ("from unnoted import load_documents", (*HEAVY, "torch", "pyarrow")),
        ("import unnoted.cli.main", (*HEAVY, "torch", "pyarrow", "numpy", "pydantic")),
    ],
)
def test_nothing_heavy_is_imported(statement, forbidden):
    code = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & set(forbidden) == set()
