"""The documentation says what the program does."""

import ast
import doctest
import json
import re
import shlex
import tomllib
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml
from tools.docs.commands import commands

from unnoted.configs import config_named
from unnoted.data import load_documents
from unnoted.data.formats import FORMATS
from unnoted.errors import Kind
from unnoted.io import Limits, variable
from unnoted.training import Settings
from unnoted.training.settings import option_keys

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMANDS = DOCS / "reference/commands.md"
"""Made when the site is built."""

PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]
each_page = pytest.mark.parametrize("page", PAGES, ids=NAMES)


def anchor(heading):
    """The anchor that a heading gets on the web."""
    words = re.sub(r"[`*\[\]]|\(.*?\.md.*?\)", "", heading).lower()
    return re.sub(r"[^\w -]", "", words).replace(" ", "-")


def headings(path):
    if path == COMMANDS:
        return {anchor(name) for name, _ in commands()}
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def commands_in(text):
    """Every `unnoted ...` of a page, in code blocks and within lines, comments and shell syntax cut off."""
    text = re.sub(r"\\\n\s*", " ", text)
    inline = re.findall(r"`(unnoted [^`]+)`", text.replace("\n", " ").replace("```", "\n"))
    blocks = re.findall(r"^(?:    |   )?(?:[A-Z_]+=\d* )?(unnoted [^#&\n]+)", text, re.MULTILINE)
    return {" ".join(command.split()) for command in [*inline, *blocks] if "`" not in command}


def pages_in(nav):
    """Every path in the navigation of the site."""
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    return [path for each in below for path in pages_in(each)]


def test_the_jsonl_example_is_read(tmp_path):
    text = (DOCS / "formats.md").read_text("utf-8")
    example = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    path = tmp_path / "example.jsonl"
    path.write_text(json.dumps(example), "utf-8")
    (document,) = load_documents(path, strict=True)
    assert [entity.name for entity in document.entities] == ["Ada Lorne", "Kelm", "Bo"]


def test_every_kind_of_defect_is_listed():
    text = (DOCS / "formats.md").read_text("utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \| (note|defect|error) \| (.+) \|$", text, re.MULTILINE) == [
        (kind.slug, kind.severity, kind.meaning) for kind in Kind
    ]


def test_every_limit_is_listed():
    text = (DOCS / "formats.md").read_text("utf-8")
    assert re.findall(r"^\| `(UNNOTED_MAX_\w+)` \| ([\d,]+) \|", text, re.MULTILINE) == [
        (variable(name), f"{value:,}") for name, value in asdict(Limits()).items()
    ]


@each_page
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in link:
            continue
        file, _, part = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists() or target == COMMANDS, f"{link}: there is no such file"
        assert not part or part in headings(target), f"{link}: there is no such heading"


@each_page
def test_names_that_are_linked_exist(page):
    for link in re.findall(r"\]\[(unnoted[\w.]+)\]", page.read_text("utf-8")):
        module, _, name = link.rpartition(".")
        assert hasattr(import_module(module), name), link


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])


def test_every_page_is_in_the_navigation():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    listed = pages_in(site["nav"])
    assert len(listed) == len(set(listed))
    assert {DOCS / path for path in listed} == {*DOCS.rglob("*.md"), COMMANDS}


@each_page
def test_commands_exist_with_their_options(page):
    known = dict(commands())
    for text in commands_in(page.read_text("utf-8")):
        words = shlex.split(text.replace("…", "").replace("...", ""))
        path = next((" ".join(words[:size]) for size in (3, 2) if " ".join(words[:size]) in known), None)
        if path is None:
            # A command that is spoken of and not given: `unnoted data`, or a placeholder.
            assert words[1] in ("COMMAND", "data", "priors", "review", "--version"), (
                f"{text}: there is no such command"
            )
            continue
        options = {name for each in known[path].params for name in each.opts}
        given = {word.partition("=")[0].strip("[]") for word in words if re.match(r"\[?--[a-z]", word)}
        assert given <= options | {"--help"}, f"{text}: {given - options} are no options of {path}"


@each_page
def test_configs_that_commands_name_exist(page):
    for text in commands_in(page.read_text("utf-8")):
        words = shlex.split(text)
        if words[1] == "train" and len(words) > 2 and not words[2].endswith((".yaml", "…", "...")):
            assert words[2] == "CONFIG" or config_named(words[2]), text


@each_page
def test_files_of_the_project_that_are_named_exist(page):
    text = page.read_text("utf-8") if page.name != "paper.md" else ""  # which has a test of its own
    for path in re.findall(r"`((?:src|tests|docs|tools|benchmarks)/[\w./-]+)", text):
        assert (ROOT / path).exists(), path


def test_every_setting_has_a_row():
    page = (DOCS / "training.md").read_text("utf-8").partition("## Settings")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == {
        *(Settings.model_fields.keys() - {"loss_options", "architecture_options"}), *option_keys()
    }  # fmt: skip


def test_commands_are_found_in_a_page():
    page = "See `unnoted data\ncheck x`.\n\n```bash\nunnoted train a --set b=c   # why\n```\n\n    unnoted predict m f\n"
    assert commands_in(page) == {"unnoted data check x", "unnoted train a --set b=c", "unnoted predict m f"}


@each_page
def test_python_code_can_be_read_and_imports_what_exists(page):
    for text in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        if text.startswith(">>>"):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "unnoted":
                module = import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


def test_examples_give_what_they_show():
    examples = 0
    for page in PAGES:
        for text in re.findall(
            r"^```python\n(>>> .*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
            with patch.dict(FORMATS):  # an example may register a format of its own
                assert doctest.DocTestRunner().run(test).failed == 0
            examples += 1
    assert examples


def test_the_example_of_own_data_is_read(tmp_path):
    text = (DOCS / "how-to/own-data.md").read_text("utf-8")
    path = tmp_path / "own.jsonl"
    path.write_text(re.search(r"```json\n\s*(.*?)\n\s*```", text, re.DOTALL)[1], "utf-8")
    (document,) = load_documents(path, strict=True)
    assert [fact.relation for fact in document.facts] == ["residence"]
