import signal
import subprocess
import sys

import pytest
from tests.attacks.kill_review import kill_review, start
from tests.unit.review.factories import Authors, suggested
from typer.testing import CliRunner

from unnoted.cli.main import app
from unnoted.data import load_documents
from unnoted.review.store import Verdict, open_review


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "s.jsonl"
    suggested(tmp_path).save(path)
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_kill_loses_nothing_that_was_acknowledged():
    kill_review(kills=2, decisions=40, suggestions=60)


@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored here")
def test_ctrl_c_stops_it_with_one_line(file):
    process, _ = start(file)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdout.close()


def test_export(file, tmp_path):
    store = open_review(file)
    store.decide(Authors()(), 0, Verdict.ACCEPT)
    store.decide(Authors("Bo")(), 1, Verdict.ACCEPT)
    store.decide(Authors("Cy")(), 1, Verdict.REJECT)
    store.close()
    done = run("review", "export", file, "--to", tmp_path / "new.jsonl")
    assert done.exit_code == 0, done.output
    assert "1 fact added, 0 known negatives; written to" in done.output
    assert "1 fact left unchanged" in done.output
    assert sum(len(each.facts) for each in load_documents(tmp_path / "new.jsonl")) == 3
    again = run("review", "export", store.path, "--to", tmp_path / "new.jsonl")
    assert again.exit_code == 1 and "new.jsonl" in again.output
    assert run("review", "export", store.path, "--to", tmp_path / "new.jsonl", "--overwrite").exit_code == 0
    again = run("review", "export", store.path, "--to", tmp_path / "corpus.jsonl", "--overwrite")
    assert again.exit_code == 1 and "corpus.jsonl" in again.output  # the source itself


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("start", "nothing.jsonl"), "nothing.jsonl"),
        (("export", "nothing.jsonl", "--to", "x"), "nothing.review.db"),
        (("start", "FILE", "--token", "short"), "--token"),
        (("start", "FILE", "--host", "192.0.2.1"), "192.0.2.1"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(file, words, message):
    done = run("review", *(file if word == "FILE" else word for word in words))
    assert done.exit_code == 1
    assert message in done.output and "Traceback" not in done.output


def test_without_the_extra_it_says_what_to_install(file):
    code = (
        "import sys; sys.modules['fastapi'] = sys.modules['uvicorn'] = None\n"
        f"sys.argv = ['unnoted', 'review', 'start', {str(file)!r}]\n"
        "from unnoted.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install 'unnoted[review]'" in done.stderr
