"""The demonstration: the methods differ in their loss only, and every figure is what it says."""

import re
import shlex
import sys

import pytest
import torch

from unnoted.data import load_documents
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import Score
from unnoted.experiments.demo import (
    DemoConfig,
    demo_commands,
    demo_runs,
    demo_table,
    measure_pace,
    plan_lines,
    recovered_facts,
    run_demo,
    write_report,
)
from unnoted.inference import ExtractedFact, Extraction
from unnoted.models.encoders import make_encoder
from unnoted.training import RunError

CONFIG = DemoConfig(train_documents=6, test_documents=2, epochs=1)


def test_the_papers_methods_differ_in_their_loss_only(tmp_path):
    ours, theirs = (demo_runs(tmp_path, CONFIG)[title].flatten() for title in ("SSR-PU", "ATLOP"))
    differing = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
    assert differing - {"output"} == {
        "loss.name", "loss.prior_multiplier", "loss.options.margin", "loss.options.correction",
        "loss.options.normalisation", "loss.options.class_weight",
    }  # fmt: skip


@pytest.mark.slow
def test_the_demonstration(tmp_path):
    torch.set_num_threads(1)
    shown = run_demo(tmp_path / "demo", CONFIG)
    folder = tmp_path / "demo"
    train, truth, test = (load_documents(folder / f"{name}.jsonl") for name in ("train", "truth", "test"))
    assert (len(train), len(test)) == (6, 2)
    assert shown.labelled == sum(len(document.facts) for document in train.documents)
    assert shown.labelled + shown.hidden == sum(len(document.facts) for document in truth.documents)
    assert not {document.id for document in train.documents} & {document.id for document in test.documents}
    assert list(shown.methods) == ["ATLOP", "SSR-PU", "best"]
    for method in shown.methods.values():
        assert method.recovered.gold == shown.hidden
        assert method.evaluation.overall.gold == sum(len(document.facts) for document in test.documents)
    assert len(demo_table(shown).rows) == 4
    write_report(shown, folder / "report.html")
    assert "SSR-PU" in (folder / "report.html").read_text("utf-8")
    before = (folder / "ssr-pu" / "model.safetensors").stat().st_mtime_ns
    again = run_demo(folder, CONFIG)
    assert (folder / "ssr-pu" / "model.safetensors").stat().st_mtime_ns == before
    assert [each.recovered for each in again.methods.values()] == [
        each.recovered for each in shown.methods.values()
    ]
    with pytest.raises(RunError, match="--overwrite"):
        run_demo(folder, DemoConfig(train_documents=5, test_documents=2, epochs=2))


def test_a_folder_of_others_is_left_alone(tmp_path):
    (tmp_path / "train.jsonl").write_text("mine")
    with pytest.raises(RunError, match=r"train\.jsonl"):
        run_demo(tmp_path, CONFIG, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]


def test_recovered_is_what_is_predicted_beyond_the_labels():
    entities = tuple(Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "Bo")))
    truth = Document(
        "d", (("Ada", "met", "Bo"),), entities, (Fact(0, 1, "a"), Fact(1, 0, "a"), Fact(0, 1, "b"))
    )
    predicted = tuple(ExtractedFact(*triple, "", 0.9) for triple in ((0, 1, "a"), (1, 0, "a"), (1, 0, "c")))
    labelled = truth.with_facts(truth.facts[:1])
    score, examples = recovered_facts([labelled], [truth], [Extraction(labelled, predicted)])
    assert score == Score(correct=1, predicted=2, gold=2) and examples == ("0.90  Bo | a | Ada",)


def test_the_plan_says_how_long_each_step_takes(tmp_path):
    for name in ("train", "truth"):
        write_documents(tmp_path / f"{name}.jsonl", generate_documents(10))
    lines = list(plan_lines(demo_runs(tmp_path, DemoConfig(epochs=6)), 2, pace=0.5))
    # 10 documents × 6 epochs; `best` also on two halves, which it scores
    assert [re.findall(r"about (.*?) (?:for|in all)", line) for line in lines] == [
        ["30 s"], ["30 s"], ["30 s"], ["1 min 02 s"], ["1 min 16 s"]
    ]  # fmt: skip


def test_the_pace_is_that_of_a_document(tmp_path, monkeypatch):
    write_documents(tmp_path / "train.jsonl", generate_documents(10))
    make_encoder(tmp_path / "encoder", list(generate_documents(10)))
    threads = torch.get_num_threads()
    assert 0 < measure_pace(demo_runs(tmp_path, CONFIG)["ATLOP"]) < 5
    assert torch.get_num_threads() == threads


def test_the_commands_at_the_end_are_commands(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [".venv/bin/unnoted", "experiment", "demo"])
    lines = demo_commands(tmp_path / "a demo")
    words = [shlex.split(line) for line in lines]
    assert [line[1] for line in words] == ["predict", "suggest", "serve"]
    assert all(line[0] == ".venv/bin/unnoted" for line in words) and words[2][2] == str(
        tmp_path / "a demo/best"
    )
