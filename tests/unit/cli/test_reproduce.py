"""`unnoted reproduce`, as a user types it."""

import csv
import re
import subprocess
import sys

import pytest
from tests.unit.experiments.making_tables import MadeUpPool, docred_folder
from typer.testing import CliRunner

from unnoted.cli import grids
from unnoted.cli.main import app
from unnoted.experiments.paper import published, table_named


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def options(tmp_path):
    """Where data, encoder and runs are."""
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    data = docred_folder(tmp_path / "data")
    return ["--data", data, "--encoder", encoder, "--to", tmp_path / "runs", "--seeds", 1]


@pytest.fixture
def pool(monkeypatch):
    """Nothing is trained; S-PU fails if it is asked to learn for 13 epochs."""
    made = MadeUpPool(lambda settings: 30 // (settings.loss != "s-pu" or settings.epochs != 13))
    monkeypatch.setattr(grids, "pool_of", lambda jobs, ray: made)
    return made


def test_without_a_table_they_are_listed():
    lines = run().stdout.splitlines()
    assert [re.split(r"[: ]", line)[0] for line in lines] == list(published())
    assert "table1 or statistics" in lines[0]


def test_the_help_names_every_table_and_option():
    text = run("--help").stdout
    assert all(name in text and table.word in text for name, table in published().items())
    for option in ("--encoder", "--seeds", "--data", "--epochs", "--documents", "--set", "--rows", "--ray"):
        assert option in text


def test_a_table_is_printed_and_written(options, pool, tmp_path):
    result = run("table8", *options, "--epochs", 2)
    assert "56.36" in result.stdout and "epochs: 2 (published: 30)" in result.stdout
    assert "4 runs: 0 finished before, 4 to do" in result.stderr
    for suffix in (".txt", ".md", ".csv", ".tex", ".html"):
        assert (tmp_path / "runs" / f"table8{suffix}").stat().st_size > 0
    assert (tmp_path / "runs" / "table8.txt").read_text("utf-8") == result.stdout
    rows = list(csv.DictReader((tmp_path / "runs" / "table8.csv").open(encoding="utf-8")))
    assert {row["row"] for row in rows} == {row.name for row in table_named("table8").rows}


def test_the_printed_format_can_be_chosen(options, pool, tmp_path):
    assert run("table8", *options, "--format", "csv").stdout.startswith("table,")
    wrong = run("table8", *options, "--format", "html", code=1)
    assert "unknown format 'html', expected one of text, markdown, csv, latex" in wrong.stderr


def test_a_failure_is_shown_and_ends_in_an_error(options, pool):
    result = run("table8", *options, "--epochs", 13, code=1)
    assert "failed" in result.stdout and "division" in result.stdout and "failed: 1" in result.stderr
    assert len(pool.performed) == 4


def test_a_dry_run_trains_nothing(options, pool):
    result = run("table8", *options, "--dry-run", "--rows", "s-pu,ssr-pu")
    assert result.stdout.startswith("table8: 2 runs, 0 of them finished")
    assert not pool.performed


def test_statistics_need_no_runs(options, pool, tmp_path):
    result = run("statistics", *options)
    assert "3,053" in result.stdout and "ChemDisGene: training documents: found no" in result.stdout
    assert (tmp_path / "runs" / "table1.html").is_file() and not pool.performed
    lines = result.stdout.splitlines()
    (documents,) = [line.split() for line in lines if line.startswith("# docs")]
    assert documents[2:6] == ["3,053", "6", "500", "6"]


def test_errors_are_one_line(options, tmp_path):
    cases = [
        (["table15", *options], "error: unknown table 'table15', expected one of "),
        (
            ["table8", *options, "--seeds", "x"],
            "error: seeds: found 'x', expected how many, such as 3, or which, such as 62-66",
        ),
        (["table8", *options, "--rows", "atlop"], "error: unknown row of table8 'atlop'"),
        (["table8", "--data", tmp_path / "absent"], f"error: {tmp_path / 'absent'}: found no folder"),
        (["table3", *options], "error: test documents: found no "),
        (["table8", *options, "--set", "epoch=1"], "error: unknown key 'epoch' (nearest: 'epochs')"),
    ]
    for arguments, expected in cases:
        lines = run(*arguments, code=1).stderr.strip().splitlines()
        assert lines[-1].startswith(expected)


def test_torch_is_loaded_only_when_it_is_needed():
    code = "import sys, unnoted.cli.main; sys.exit(any(n in sys.modules for n in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
