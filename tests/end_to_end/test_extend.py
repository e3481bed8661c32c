"""The guide to extensions is followed literally, on fewer documents: its scripts are saved and run as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/guides/extend.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(bash|python)(?: title=\"(\w+\.py)\")?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SMALLER = {
    "--documents 200": "--documents 20", " --output ": " --set epochs=1 --output ",
    "--documents 40": "--documents 4", "--epochs 4": "--epochs 1",
}  # fmt: skip


def run(kind, text, folder):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    command = ["bash", "-eu"] if kind == "bash" else [sys.executable, "-"]
    done = subprocess.run(
        command, input=text, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"


@pytest.mark.slow
def test_page_is_followed_literally(tmp_path):
    for kind, file, block in BLOCKS:
        if file:
            (tmp_path / file).write_text(block, "utf-8")
            continue
        for old, new in SMALLER.items():
            block = block.replace(old, new)
        run(kind, block, tmp_path)
    for facts in ("facts.jsonl", "product.jsonl"):
        assert (tmp_path / facts).read_text("utf-8").count("\n") == 20
    table = (tmp_path / "runs/compare/comparison.csv").read_text("utf-8")
    assert "hinge-pu" in table and "failed" not in (tmp_path / "runs/compare/comparison.txt").read_text(
        "utf-8"
    )


def test_format_is_registered(tmp_path):
    (block,) = (block for kind, file, block in BLOCKS if kind == "python" and not file)
    run("python", block, tmp_path)
