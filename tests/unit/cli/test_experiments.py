"""`unnoted experiment`, as a user types it."""

import csv
import re
import shlex

import pytest
from tests.unit.cli import running
from tests.unit.experiments.factories import docred_folder, fake_runs
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.experiments.paper import published, table_named


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["experiment", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result


def assert_refused(cases):
    for arguments, place in cases:
        lines = run(*arguments, code=1).stderr.strip().splitlines()
        assert lines[-1].startswith("error: ") and place in lines[-1]


# compare


@pytest.fixture
def comparison(tmp_path):
    data = docred_folder(tmp_path / "data", documents=20)
    return [
        "compare", "--train", data / "train_revised.json", "--test", data / "dev_revised.json",
        "--to", tmp_path / "runs", "--prior-multiplier", 1,
    ]  # fmt: skip


def test_a_comparison_is_printed_and_written(comparison, monkeypatch, tmp_path):
    performed = fake_runs(monkeypatch, lambda settings: 40 if settings.loss.name == "ssr-pu" else 30)
    (tmp_path / "runs").mkdir()
    options = ("--levels", "full,0.5,extreme", "--encoder", "recurrent", "--seeds", "2", "--name", "mine")
    result = run(*comparison, *options)
    assert len(performed) == 12
    assert "ssr-pu (all labels) against atlop (all labels)" in result.stdout and "better" in result.stdout
    for suffix in (".txt", ".md", ".csv", ".tex", ".html"):
        assert (tmp_path / "runs" / f"mine{suffix}").stat().st_size > 0


def test_a_dry_run_of_a_comparison_needs_an_encoder(comparison):
    assert "encoder" in run(*comparison, "--dry-run", code=1).stderr
    lines = run(*comparison, "--dry-run", "--encoder", "recurrent", "--seeds", 3).stderr.splitlines()
    assert lines[0].startswith("comparison: 6 runs, 0 of them finished")


def test_configs_are_compared(comparison):
    lines = run(*comparison, "--configs", "small,best", "--dry-run", "--encoder", "recurrent").stderr
    assert "small/full: " in lines and "best/full: " in lines and "2 runs" in lines


def test_errors_of_a_comparison_are_one_line(comparison, tmp_path):
    assert_refused(
        [
            ([*comparison, "--levels", "most"], "'most'"),
            ([*comparison, "--losses", "ssr"], "'ssr'"),
            ([*comparison, "--configs", "bets,small"], "'best'"),
            ([*comparison, "--configs", "base/paper"], "loss"),
            ([*comparison, "--format", "pdf"], "'pdf'"),
        ]
    )
    before = sorted(tmp_path.rglob("*"))
    for name in ("../../x", "/tmp/x", "folder/x", "..", "", "a\nb"):
        run(*comparison, "--encoder", "recurrent", "--name", name, "--dry-run", code=1)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_a_comparison_for_real(tmp_path):
    """Trained in processes of their own; the second time there is nothing to do."""
    for name, start in (("train", 0), ("test", 8)):
        write_documents(tmp_path / f"{name}.jsonl", generate_documents(8, start=start))
    arguments = [
        "compare", "--train", tmp_path / "train.jsonl", "--test", tmp_path / "test.jsonl",
        "--to", tmp_path / "runs", "--levels", "full,0.5", "--encoder", "recurrent", "--epochs", 1,
        "--prior-multiplier", 1, "--set", "encoder_learning_rate=2e-3",
    ]  # fmt: skip
    first = run(*arguments)
    assert "4 runs: 0 finished before, 4 to do" in first.stderr
    again = run(*arguments)
    assert "4 runs: 4 finished before, 0 to do" in again.stderr
    assert again.stdout == first.stdout
    assert run(*arguments, "--dry-run").stdout == ""


@pytest.mark.slow
def test_the_commands_of_a_dry_run_are_the_runs(tmp_path, comparison):
    """Performed one by one, they leave nothing to do."""
    options = [*comparison, "--encoder", "recurrent", "--epochs", 1, "--set", "encoder_learning_rate=2e-3"]
    commands = run(*options, "--dry-run").stdout.splitlines()
    assert len(commands) == 2
    for line in commands:
        program, *arguments = shlex.split(line)
        assert program == "unnoted" and running.run(*arguments)
    assert "2 runs: 2 finished before, 0 to do" in run(*options).stderr


# reproduce


@pytest.fixture
def options(tmp_path):
    """Where data, encoder and runs are."""
    (tmp_path / "encoder").mkdir()
    (tmp_path / "runs").mkdir()
    data = docred_folder(tmp_path / "data")
    return ["--data", data, "--encoder", tmp_path / "encoder", "--to", tmp_path / "runs", "--seeds", 1]


def test_without_a_table_they_are_listed():
    lines = run("reproduce").stdout.splitlines()
    assert [re.split(r"[: ]", line)[0] for line in lines] == list(published())


def test_a_table_is_printed_and_written(options, monkeypatch, tmp_path):
    performed = fake_runs(monkeypatch, lambda settings: 30)
    result = run("reproduce", "table8", *options, "--dry-run", "--rows", "s-pu,ssr-pu")
    assert result.stderr.startswith("table8: 2 runs, 0 of them finished") and not performed
    assert len(result.stdout.splitlines()) == 2
    result = run("reproduce", "table8", *options, "--epochs", 2)
    assert "56.36" in result.stdout and "epochs: 2 (published: 30)" in result.stdout
    assert (tmp_path / "runs" / "table8.txt").read_text("utf-8") == result.stdout
    rows = list(csv.DictReader((tmp_path / "runs" / "table8.csv").open(encoding="utf-8")))
    assert {row["row"] for row in rows} == {row.name for row in table_named("table8").rows}
    assert run("reproduce", "table8", *options, "--format", "csv").stdout.startswith("table,")


def test_a_failure_leaves_the_other_runs_is_shown_and_ends_in_an_error(options, monkeypatch):
    performed = fake_runs(monkeypatch, lambda settings: 30 // (settings.loss.name != "s-pu"))
    result = run("reproduce", "table8", *options, code=1)
    assert "division" in result.stdout and "failed: 1" in result.stderr
    assert len(performed) == 4


def test_errors_of_a_table_are_one_line(options, tmp_path):
    assert_refused(
        [
            (["reproduce", "table15", *options], "'table15'"),
            (["reproduce", "table1", *options], "data check"),
            (["reproduce", "table8", *options, "--seeds", "x"], "seeds"),
            (["reproduce", "table8", *options, "--rows", "atlop"], "'atlop'"),
            (["reproduce", "table8", "--data", tmp_path / "absent"], "absent"),
            (["reproduce", "table3", *options], "test documents"),
            (["reproduce", "table8", *options, "--set", "epoch=1"], "'epochs'"),
            (["reproduce", "table8", *options, "--format", "html"], "'html'"),
        ]
    )


# demo


def test_an_unknown_level_leaves_no_folder(tmp_path):
    assert_refused([(["demo", "--to", tmp_path / "demo", "--level", "extrem"], "extreme")])
    assert not (tmp_path / "demo").exists()
