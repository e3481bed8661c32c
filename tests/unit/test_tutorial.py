"""The tutorial does what it says: its commands run in order, and print lines such as those it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SMALLER = {"--documents 400": "--documents 40", "--documents 60": "--documents 8", "epochs: 8": "epochs: 2"}
RUNNERS = {"bash": ["bash", "-eu"], "python": [sys.executable, "-"]}


def shape(line):
    """A line without what may differ: figures, the names in a fact, and the words of the sentence below it."""
    if re.match(r"^\d\.\d\d  [^|]+\|[^|]+\|.+\(.+\)$", line):
        return "a fact"
    if re.match(r"^ {6}[A-Z].* \.$", line):
        return "a sentence"
    return " ".join(re.sub(r"\d[\d,.]*(e-\d+)?%?", "#", line).split())


def run(kind, text, folder):
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        RUNNERS[kind], input=text, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def run_tutorial(folder, changes):
    """What each block printed, with what the page shows of it."""
    results = []
    for place, (kind, text) in enumerate(BLOCKS):
        if kind == "text":
            continue
        for old, new in changes.items():
            text = text.replace(old, new)
        shown = BLOCKS[place + 1][1] if place + 1 < len(BLOCKS) and BLOCKS[place + 1][0] == "text" else ""
        results.append((run(kind, text, folder), shown))
    return results


def check_shapes(results):
    for printed, shown in results:
        shapes = {shape(line) for line in printed.splitlines()}
        for line in shown.splitlines():
            assert shape(line) in shapes, f"found no line like {line!r} in:\n{printed}"


def test_there_is_something_to_run():
    assert [kind for kind, _ in BLOCKS].count("bash") >= 6
    assert {kind for kind, _ in BLOCKS} == {"bash", "python", "text"}
    for old in SMALLER:
        assert old in PAGE


def test_the_tutorial_runs_on_a_smaller_corpus(tmp_path):
    check_shapes(run_tutorial(tmp_path, SMALLER))


@pytest.mark.slow
def test_the_tutorial_runs_as_written(tmp_path):
    results = run_tutorial(tmp_path, {})
    check_shapes(results)
    right = [int(found) for found in re.findall(r"of the first 100, (\d+) are true", results[-1][0])]
    assert right and right[0] >= 30, "far above the one in 220 that chance would find"
