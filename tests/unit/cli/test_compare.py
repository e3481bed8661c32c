"""`unnoted compare`, as a user types it."""

import pytest
from tests.unit.experiments.making_tables import MadeUpPool, docred_folder
from typer.testing import CliRunner

from unnoted.cli import grids
from unnoted.cli.main import app
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def options(tmp_path):
    data = docred_folder(tmp_path / "data", documents=20)
    return [
        "--train", data / "train_revised.json", "--test", data / "dev_revised.json", "--to", tmp_path / "runs",
        "--prior-multiplier", 1,
    ]  # fmt: skip


def test_a_sweep_is_printed_and_written(options, monkeypatch, tmp_path):
    pool = MadeUpPool(lambda settings: 40 if settings.loss == "ssr-pu" else 30)
    monkeypatch.setattr(grids, "pool_of", lambda jobs, ray: pool)
    result = run(
        *options, "--levels", "full,0.5,extreme", "--encoder", "recurrent", "--seeds", "2", "--name", "mine"
    )
    assert len(pool.performed) == 12
    assert "F1 of atlop/ssr-pu against atlop/atlop: better at all labels" in result.stdout
    for suffix in (".txt", ".md", ".csv", ".tex", ".html"):
        assert (tmp_path / "runs" / f"mine{suffix}").stat().st_size > 0


def test_a_dry_run_needs_an_encoder(options):
    assert "encoder: found nothing, expected a value" in run(*options, "--dry-run", code=1).stderr
    lines = run(*options, "--dry-run", "--encoder", "recurrent", "--seeds", 3).stdout.splitlines()
    assert lines[0].startswith("comparison: 6 runs, 0 of them finished")


def test_errors_are_one_line(options):
    cases = [
        (["--levels", "most"], "error: unknown level 'most', expected full, incomplete, extreme, or a share"),
        (["--losses", "ssr"], "error: unknown loss 'ssr'"),
        (["--format", "pdf"], "error: unknown format 'pdf'"),
    ]
    for arguments, expected in cases:
        lines = run(*options, *arguments, code=1).stderr.strip().splitlines()
        assert lines[-1].startswith(expected)


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "folder/x", "..", "", "a\nb"])
def test_the_table_stays_in_its_folder(options, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    told = run(*options, "--encoder", "recurrent", "--name", name, "--dry-run", code=1).stderr
    assert told == f"error: --name: found {name!r}, expected the name of a file, without a folder\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_a_sweep_for_real(tmp_path):
    """Trained in processes of their own; the second time there is nothing to do."""
    for name, start in (("train", 0), ("test", 8)):
        write_documents(tmp_path / f"{name}.jsonl", generate_documents(8, start=start))
    arguments = [
        "--train", tmp_path / "train.jsonl", "--test", tmp_path / "test.jsonl", "--to", tmp_path / "runs",
        "--levels", "full,0.5", "--encoder", "recurrent", "--epochs", 1, "--prior-multiplier", 1, "--set", "encoder_learning_rate=2e-3",
    ]  # fmt: skip
    first = run(*arguments)
    assert "4 runs: 0 finished before, 4 to do" in first.stderr
    again = run(*arguments)
    assert "4 runs: 4 finished before, 0 to do" in again.stderr
    assert again.stdout == first.stdout
