"""`unnoted info`, as a user types it."""

import json
from functools import partial

import pytest
import torch
import yaml
from tests.unit.cli import running
from tests.unit.inference.making import RELATIONS, reading_model

from unnoted.configs import config_names
from unnoted.io import CHECKSUMS
from unnoted.losses.decoding import DecisionRule, Link, ScoreDecoder
from unnoted.priors import Priors
from unnoted.training import load_config

run = partial(running.run, "info")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    model = reading_model(torch.float32, candidates=[["PER", "LOC"], ["PER", "[ORG]"]], lexical_weight=0.7)
    labelled = Priors.from_counts(tuple(RELATIONS), {RELATIONS[0]: 10}, pairs=1000)
    model.decoder = ScoreDecoder(
        DecisionRule(top_k=2), Link("sigmoid", 0.5), labelled * 3, class_weighted=True
    )
    model.save_pretrained(folder)
    (folder / "config.yaml").write_text("loss: {name: ssr-pu, prior_multiplier: 3}\n", "utf-8")
    (folder / "record.json").write_text(json.dumps({"steps": 120}), "utf-8")
    return folder


def test_configs_are_listed_and_shown(tmp_path):
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(config_names())
    assert list(json.loads(run("--json").stdout)) == list(config_names())
    assert yaml.safe_load(run("small").stdout).keys() == json.loads(run("small", "--json").stdout).keys()
    (tmp_path / "own.yaml").write_text(run("docred-original/bert-base/ssr-pu").stdout, "utf-8")
    assert load_config(tmp_path / "own.yaml") == load_config("docred-original/bert-base/ssr-pu")


def test_a_model_as_json(folder):
    found = json.loads(run(folder, "--json").stdout)
    assert [row["relation"] for row in found["relations"]] == RELATIONS
    assert (found["relations"][0]["labelled_prior"], found["relations"][0]["overall_prior"]) == (0.01, 0.03)
    assert found["decoder"]["calibrated"] is False and found["decoder"]["threshold"] == 0.5
    assert found["decoder"]["link"] == {"name": "sigmoid", "margin": 0.5}
    assert found["candidates"] == [["PER", "LOC"], ["PER", "[ORG]"]]
    assert found["parameters"] == found["encoder"]["parameters"] + found["architecture"]["parameters"]
    assert found["encoder"].items() >= {"type": "bert", "layers": 2, "width": 16, "window": 200}.items()
    assert found["settings"]["loss"]["prior_multiplier"] == 3 and found["record"] == {"steps": 120}
    assert found["lexical_weight"] == 0.7


def test_a_model_as_a_table(folder):
    text = run(folder).stdout
    for part in ("type bert, layers 2, width 16", "atlop", "[ORG]", "sigmoid", "0.7", "config.yaml"):
        assert part in text
    (row,) = (line.split() for line in text.splitlines() if line.startswith(RELATIONS[0] + " "))
    assert row[-2:] == ["0.010000", "0.030000"]


def test_a_model_without_priors(tmp_path):
    reading_model(torch.float32).save_pretrained(tmp_path)
    lines = run(tmp_path).stdout.splitlines()
    (row,) = (line.split() for line in lines if line.startswith(RELATIONS[0] + " "))
    assert row[-2:] == ["none", "none"]
    found = json.loads(run(tmp_path, "--json").stdout)
    assert found["settings"] is None and found["record"] is None


@pytest.mark.parametrize(
    ("file", "content"), [("config.json", "{"), ("record.json", "{"), ("config.yaml", "a: [")]
)
def test_damage_is_one_line(tmp_path, file, content):
    reading_model(torch.float32).save_pretrained(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    (tmp_path / file).write_text(content, "utf-8")
    error = run(tmp_path, code=1).stderr
    assert error.startswith("error: ") and file in error and error.count("\n") == 1


def test_a_mistyped_name_is_answered_with_the_nearest():
    assert "'small'" in run("smal", code=1).stderr
