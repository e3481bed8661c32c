"""docs/models.md has every model, method and baseline, and its commands and figures are right."""

import re
import shlex
from pathlib import Path

import pytest

from unnoted.architectures import ARCHITECTURES
from unnoted.risks import LOSSES
from unnoted.risks.losses import PairwiseLoss
from unnoted.training.settings import load_settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/models.md").read_text("utf-8")
DECISIONS = {
    "zero": "f_i > 0, or above its tuned threshold",
    "none-class": "f_i > f_0",
    "top-k": "f_i > f_0, at most 4 a pair",
}
COMMANDS = re.findall(r"^unnoted train (.+)$", PAGE, re.MULTILINE)


def rows(heading):
    """The cells of each row of the table whose first column is headed so, without the lines above it."""
    table = PAGE.partition(f"| `{heading}` |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def named(cell):
    return re.findall(r"`([a-z-]+)`", cell)


def test_every_model_has_a_row():
    assert {model for row in rows("model") for model in named(row[0])} == set(ARCHITECTURES)


def test_every_method_has_a_row_with_its_decision():
    told = {
        method: (decision, priors)
        for methods, _, priors, decision in rows("method") for method in named(methods)
    }  # fmt: skip
    assert told == {
        name: (DECISIONS[method.decision], "no" if isinstance(method, PairwiseLoss) else "yes")
        for name, method in LOSSES.items()
    }


def test_the_method_of_a_model_is_that_of_its_config():
    told = {model: method for methods, models, _, _ in rows("method")
            for method in named(methods) for model in named(models)}  # fmt: skip
    for row in rows("model"):
        for path in re.findall(r"\]\(\.\./(configs/[^)]+)\)", row[4]):
            settings = load_settings(ROOT / path)
            assert settings.architecture == named(row[0])[0]
            assert settings.method == told[settings.architecture]


def test_every_baseline_is_linked():
    linked = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+\.yaml)\)", PAGE)}
    files = {path.resolve() for path in (ROOT / "configs").rglob("*.yaml") if path.parent.name != "base"}
    baselines = {path for path in files if load_settings(path).model != "atlop"}
    assert baselines <= linked <= files


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        path, _, anchor = link.partition("#")
        target = (ROOT / "docs" / path) if path else ROOT / "docs/models.md"
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in headings}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command):
    config, *words = shlex.split(command)
    options = list(zip(words[::2], words[1::2], strict=True))
    changes = [value if flag == "--set" else f"{flag.removeprefix('--')}={value}" for flag, value in options]
    assert {flag for flag, _ in options} <= {"--set", "--architecture", "--loss"}
    settings = load_settings(ROOT / config, changes)
    assert settings.method == "ssr-pu"
    assert settings.output != load_settings(ROOT / config).output


@pytest.mark.shared
def test_published_figures_are_the_papers(shared):
    paper = (shared / "paper.tex").read_text("utf-8")
    figures = [figure for row in rows("model") for figure in re.findall(r"\d+\.\d+", row[3])]
    assert len(figures) == 26
    assert all(f"${figure}$" in paper or f"${figure} \\pm" in paper for figure in figures)
