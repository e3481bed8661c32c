"""The how-to guides for losses and pair encoders do what they say: their scripts are saved and run as written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[2] / "docs/how-to"
BLOCK = re.compile(r"^```(?:bash|python title=\"(\w+\.py)\")\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SMALLER = {"--documents 200": "--documents 20", " --output ": " --epochs 1 --output "}


def run(text, folder):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        ["bash", "-eu"], input=text, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["add-a-loss.md", "add-a-pair-encoder.md"])
def test_a_page_is_followed_literally(page, tmp_path):
    text = (HOW_TO / page).read_text("utf-8")
    assert all(text.count(old) == 1 for old in SMALLER)
    for old, new in SMALLER.items():
        text = text.replace(old, new)
    blocks = BLOCK.findall(text)
    assert [bool(file) for file, _ in blocks] == [False, True, False]
    for file, block in blocks:
        if file:
            (tmp_path / file).write_text(block, "utf-8")
        else:
            run(block, tmp_path)
    assert (tmp_path / "facts.jsonl").read_text("utf-8").count("\n") == 20


def test_the_programs_that_the_pages_call_are_there():
    assert all(shutil.which(name, path=Path(sys.executable).parent) for name in ("python", "unnoted"))
