"""`unnoted serve`, as a user types it, and what it does when it is told to stop."""

import sys
from functools import partial

import pytest
from tests.attacks.serve_load import stopped_under_load, under_load
from tests.unit.cli import running
from tests.unit.inference.making import corpus, saved_model

import unnoted.serve
from unnoted.cli.serve import TOKEN


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"))


run = partial(running.run, "serve")


@pytest.fixture
def listened(monkeypatch):
    """What the command would serve, instead of serving it."""
    given = []

    def listen(service, *options):
        service.close()
        given.append((service, *options))

    monkeypatch.setattr(unnoted.serve, "serve", listen)
    monkeypatch.delenv(TOKEN, raising=False)
    return given


def test_options_become_limits_and_only_this_machine_is_let_in(model, listened, tmp_path, monkeypatch):
    shown = run(model, "--queue", 5, "--body", 0.5, "--words", 7, "--seconds", 3)
    ((service, *where),) = listened
    assert where == ["127.0.0.1", 8000, None] and service.reader is None and "--threads" in shown.stderr
    first, threshold, last = shown.stdout.splitlines()
    assert first == f"{model.name}: http://127.0.0.1:8000 (Ctrl-C stops it)" and "above 0.500" in threshold
    assert last == "stopped: 0 requests accepted, 0 answered"
    limits = service.limits
    assert (limits.queue, limits.body, limits.words, limits.seconds) == (5, 1 << 19, 7, 3)
    assert service.document_limits.words == 7
    monkeypatch.setenv("UNNOTED_MAX_WORDS", "9")
    assert limits.for_documents().words == 9


def test_tokens_and_open_addresses(model, listened, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("secret\n")
    run(model, "--token-file", tmp_path / "token", "--host", "0.0.0.0")
    told = run(model, "--host", "::").stderr
    monkeypatch.setenv(TOKEN, "other")
    run(model, "--host", "0.0.0.0", "--port", 1234)
    assert [each[3] for each in listened] == ["secret", None, "other"]
    assert "note: whoever can reach :: may use the model" in told and listened[2][2] == 1234


def test_errors_are_one_line(model, listened, tmp_path, monkeypatch):
    (tmp_path / "empty").write_text(" ")
    cases = {
        (tmp_path / "nowhere",): "nowhere",
        (model, "--token-file", tmp_path / "empty"): "one token",
        (model, "--type", "A=B"): "--entities",
        (model, "--queue", 0): "queue",
        (model, "--entities", "nowhere"): "nowhere",
    }
    for arguments, message in cases.items():
        told = run(*arguments, code=1).stderr
        assert (
            message in told and len([line for line in told.splitlines() if "--threads" not in line]) == 1
        ), told
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'unnoted[serve]'" in run(model, code=1).stderr
    assert listened == []


@pytest.mark.slow
def test_sigterm_under_load_loses_nothing_that_was_accepted(model):
    found = stopped_under_load(model, corpus(12), clients=8, per_request=2)
    assert found["received"] > 0
    assert (found["lost"], found["other"], found["exit_code"]) == (0, {}, 0)


@pytest.mark.slow
def test_under_load_there_is_no_error(model):
    load, before, after = under_load(model, corpus(12), clients=16, seconds=10)
    assert set(load.statuses) == {200} and not load.broken and after <= 1.25 * before
