"""`unnoted demo`: it prints both losses and leaves a report."""

from inspect import signature

import torch
from typer.testing import CliRunner

from unnoted.cli.demo import demo
from unnoted.cli.main import app
from unnoted.experiments.demonstrate import DemoPlan


def test_a_small_demo(tmp_path):
    torch.set_num_threads(1)
    folder = tmp_path / "demo"
    arguments = ["demo", "--to", str(folder), "--documents", "4", "--test-documents", "2", "--epochs", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "ATLOP" in result.stdout and "SSR-PU" in result.stdout
    assert str(folder / "report.html") in result.stdout.replace("\n", "")
    page = (folder / "report.html").read_text("utf-8")
    assert "ATLOP" in page and "generated-0-0" in page


def test_the_defaults_are_those_of_the_plan():
    defaults = {name: value.default for name, value in signature(demo).parameters.items()}
    plan = DemoPlan()
    assert (defaults["documents"], defaults["test_documents"]) == (plan.train_documents, plan.test_documents)
    assert (defaults["level"], defaults["epochs"], defaults["seed"]) == (plan.level, plan.epochs, plan.seed)


def test_an_unknown_level_is_named(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--to", str(tmp_path), "--level", "extrem"])
    assert result.exit_code == 1 and "extreme" in result.output
