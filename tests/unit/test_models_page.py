"""docs/models.md has every architecture, loss and baseline, and its commands and figures are right."""

import re
import shlex
from pathlib import Path

import pytest

from unnoted.configs import config_named, config_names
from unnoted.losses import LOSSES
from unnoted.models.architectures.registry import ARCHITECTURES
from unnoted.priors import Priors
from unnoted.training.settings import load_settings, parse_changes

PAGE = (Path(__file__).parents[2] / "docs/models.md").read_text("utf-8")
PRIORS = Priors(("relation",), (0.1,), (0.3,))
DECISIONS = {
    "zero": "f_i > 0, or above its tuned threshold",
    "none-class": "f_i > f_0",
    "top-k": "f_i > f_0, at most 4 per pair",
    "fixed-top-k": "f_i > 0, or above its tuned threshold, at most 4 per pair",
}
COMMANDS = re.findall(r"^unnoted train (.+)$", PAGE, re.MULTILINE)


def rows(heading):
    """The cells of each row of the table whose first column is headed so, without the lines above it."""
    table = PAGE.partition(f"| `{heading}` |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def named(cell):
    return re.findall(r"`([a-z0-9/-]+)`", cell)


def decision(loss):
    made = loss(PRIORS) if loss.needs_priors else loss()
    rule = made.decoder.decision.name
    return DECISIONS["zero" if rule == "fixed" else rule], "yes" if loss.needs_priors else "no"


def test_every_architecture_has_a_row():
    assert {name for row in rows("architecture") for name in named(row[0])} == set(ARCHITECTURES)


def test_every_loss_has_a_row_with_its_decision():
    told = {
        loss: (rule, priors)
        for losses, _, priors, rule in rows("loss") for loss in named(losses)
    }  # fmt: skip
    assert told == {name: decision(loss) for name, loss in LOSSES.items()}


def test_the_loss_of_an_architecture_is_that_of_its_config():
    told = {
        architecture: loss
        for losses, architectures, _, _ in rows("loss")
        for loss in named(losses)
        for architecture in named(architectures)
    }
    for row in rows("architecture"):
        for name in (name for name in named(row[4]) if "/" in name):
            values = config_named(name).values
            assert values.get("architecture", "atlop") == named(row[0])[0]
            assert values["loss"] == told[named(row[0])[0]]


def test_every_baseline_is_named():
    shown = {name for row in rows("architecture") for name in named(row[4]) if "/" in name}
    baselines = {
        name for name in config_names() if config_named(name).values.get("architecture", "atlop") != "atlop"
    }
    assert baselines <= shown <= set(config_names())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command):
    config, *words = shlex.split(command)
    options = list(zip(words[::2], words[1::2], strict=True))
    given = {flag.removeprefix("--").replace("-", "_"): value for flag, value in options if flag != "--set"}
    given |= parse_changes([value for flag, value in options if flag == "--set"])
    settings = load_settings(config, given)
    assert settings.loss == "ssr-pu"
    assert settings.output != Path(config_named(config).output)


@pytest.mark.shared
def test_published_figures_are_the_papers(shared):
    paper = (shared / "paper.tex").read_text("utf-8")
    figures = [figure for row in rows("architecture") for figure in re.findall(r"\d+\.\d+", row[3])]
    assert len(figures) == 26
    assert all(f"${figure}$" in paper or f"${figure} \\pm" in paper for figure in figures)
