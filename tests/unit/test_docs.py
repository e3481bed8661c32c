"""README and docs: their commands, options, limits and Python exist and do what they say."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from tests.unit.cli.test_main import COMMANDS

from unnoted.cli.main import GROUPS, TOP, load_command
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.io.inputs import Limits, variable
from unnoted.models.encoders.from_scratch import make_encoder

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
OPTIONS = {
    (*path,): {name for each in load_command(path[-1], table).params for name in each.opts}
    for path, table in COMMANDS
}
LINE = re.compile(r"(?:^|[|&;($ ]|python -m )unnoted ((?:[a-z]|-(?!-)).*)")


def code_of(page):
    """The lines of code of a page, in blocks and within sentences; continued lines are one."""
    text = page.read_text("utf-8")
    fenced = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    blocks = [block for language, block in fenced if language in ("", "bash")]
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks += re.findall(r"(?:^(?: {4}|\t).*\n)+", text, re.MULTILINE)
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    yield from (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", text))


def commands_of(line):
    """What is typed after `unnoted`, as words, up to a pipe, an `&&` or a comment."""
    for part in re.split(r"\|\||&&|[|;]", line.partition(" # ")[0]):
        if found := LINE.search(part):
            yield shlex.split(found[1].rstrip("…. )"))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_command_and_option_exists(page):
    everywhere = {"--help", "--version"}.union(*OPTIONS.values())
    for line in code_of(page):
        for words in commands_of(line):
            names = [word for word in words if not word.startswith("-")]
            if not names or names[0].isupper():  # `unnoted COMMAND --help`
                continue
            group = names[0] in GROUPS
            assert group or names[0] in TOP, line
            if group and len(names) > 1:
                assert (names[0], names[1]) in OPTIONS, line
            path = tuple(names[: 2 if group else 1])
            for option in (word.partition("=")[0] for word in words if word.startswith("--")):
                assert option in OPTIONS.get(path, everywhere) | {"--help"}, line
        if re.fullmatch(r"--[a-z-]+( \S+)*", line):
            assert line.split()[0] in everywhere or "unnoted" not in page.name, line


def test_every_limit_is_listed():
    text = (ROOT / "docs/reference/formats.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(UNNOTED_MAX_\w+)` \| ([\d,]+) \|", text, re.MULTILINE))
    assert rows == {variable(field.name): f"{field.default:,}" for field in fields(Limits)}


def test_readme_python_runs(tmp_path):
    """As written, but for the names of encoders, which would be downloaded."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    documents = list(generate_documents(30))
    for name, part in (
        ("own.jsonl", documents[:24]),
        ("new.jsonl", documents[24:]),
        ("train_annotated.json", documents[:4]),
    ):
        write_documents(tmp_path / name, part)
    make_encoder(tmp_path / "tiny", documents, seed=0)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    for place, (kind, code) in enumerate(blocks):
        if kind == "text":
            continue
        code = re.sub(r'"(bert-base-cased|sentence-transformers/[\w-]+)"', '"tiny"', code)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        if [*blocks[place + 1 : place + 2]] and blocks[place + 1][0] == "text":
            fact = re.compile(r"[01]\.\d\d  [^|]+ \| [^|]+ \| [^|]+")
            assert all(map(fact.fullmatch, blocks[place + 1][1].splitlines()))
            printed = done.stdout.splitlines()
            assert printed and all(map(fact.fullmatch, printed)), done.stdout
