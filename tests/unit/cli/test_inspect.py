"""`unnoted inspect`, as a user types it."""

import json

import pytest
import torch
import typer
from tests.unit.inference.making import RELATIONS, reading_model
from typer.testing import CliRunner

from unnoted.cli.inspect_model import inspect
from unnoted.io import CHECKSUMS
from unnoted.losses import DecisionRule, Link, ScoreDecoder
from unnoted.models.scores.lexical import SLOTS, STEMS
from unnoted.priors import Priors

app = typer.Typer()
app.command()(inspect)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path):
    model = reading_model(torch.float32, candidates=[["PER", "LOC"], ["PER", "[ORG]"]])
    labelled = Priors.from_counts(tuple(RELATIONS), {RELATIONS[0]: 10}, pairs=1000)
    model.decoder = ScoreDecoder(
        DecisionRule(top_k=2), Link("sigmoid", 0.5), labelled * 3, class_weighted=True
    )
    model.save_pretrained(tmp_path)
    return tmp_path


def test_json(folder):
    found = json.loads(run(folder, "--json").stdout)
    assert [row["relation"] for row in found["relations"]] == RELATIONS
    assert (found["relations"][0]["labelled_prior"], found["relations"][0]["overall_prior"]) == (0.01, 0.03)
    assert found["decision"] == {"reference": "threshold-class", "threshold": 0.0, "top_k": 2}
    assert (found["link"], found["margin"]) == ("sigmoid", 0.5)
    assert found["candidates"] == [["PER", "LOC"], ["PER", "[ORG]"]]
    model = reading_model()
    assert found["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert found["parameters"] == found["encoder"]["parameters"] + found["architecture"]["parameters"]
    shape = {"type": "bert", "layers": 2, "width": 16, "tokens_at_once": 200}
    assert found["encoder"].items() >= shape.items()
    assert found["settings"] is None and found["training"] is None


def test_table(folder):
    shown = run(folder).stdout
    for part in (
        "bert, 2 layers of width 16, 200 tokens at once",
        "atlop, embedding 12, blocks of 4",
        "PER:LOC, PER:[ORG]",
        "rule top-k, k 2",
        "link sigmoid, margin 0.5",
    ):
        assert part in shown
    (row,) = (line.split() for line in shown.splitlines() if line.startswith(RELATIONS[0] + " "))
    assert row[-2:] == ["0.010000", "0.030000"]
    assert "settings" not in shown


def test_without_priors(tmp_path):
    reading_model(torch.float32).save_pretrained(tmp_path)
    (row,) = (
        line.split() for line in run(tmp_path).stdout.splitlines() if line.startswith(RELATIONS[0] + " ")
    )
    assert row[-2:] == ["none", "none"]


def test_the_words_of_a_linear_model(tmp_path):
    model = reading_model(torch.float32, lexical_weight=0.7, candidates={"intra_sentence": "all"})
    word = model.tokenizer.convert_tokens_to_ids("the")
    model.lexical.stem[word] = 3
    model.lexical.words[SLOTS.index("between") * STEMS + 3, 0] = 1.5
    model.save_pretrained(tmp_path)
    found = json.loads(run(tmp_path, "--json").stdout)
    assert found["lexical"]["share"] == 0.7
    words = [row["words"] for row in found["lexical"]["words"]]
    assert words == [[{"word": "the", "where": "between"}], *[[]] * (len(RELATIONS) - 1)]
    shown = run(tmp_path).stdout
    assert "70% of the log odds" in shown and "all intra-sentence" in shown
    assert "the (between)" in shown


def test_training_summary(folder):
    (folder / "settings.yaml").write_text("loss: ssr-pu\npriors:\n  multiplier: 3\n", "utf-8")
    (folder / "training.json").write_text(
        json.dumps({"steps": 120, "losses": [0.5, 0.25], "history": [{"loss": n} for n in range(9)]}), "utf-8"
    )
    shown = run(folder).stdout
    for line in (
        "loss: ssr-pu",
        "priors.multiplier: 3",
        "steps: 120",
        "losses: [0.5, 0.25]",
        'history: 9 entries, the last {"loss": 8}',
    ):
        assert f"  {line}\n" in shown
    found = json.loads(run(folder, "--json").stdout)
    assert found["training"]["steps"] == 120 and found["settings"]["priors"] == {"multiplier": 3}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "{", "no readable JSON"),
        ("training.json", "{", "found no readable summary of the training"),
        ("settings.yaml", "a: [", "found no readable summary of the training"),
    ],
)
def test_damage_is_one_line(folder, file, content, message):
    (folder / CHECKSUMS).unlink()  # as earlier versions saved it
    (folder / file).write_text(content, "utf-8")
    told = run(folder, code=1).stderr
    assert told.startswith("error: ") and file in told and message in told and told.count("\n") == 1
