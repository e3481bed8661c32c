"""Configs: the published values, what is accepted, and what is refused with its place."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from unnoted.configs import FOLDER, config_names, published_configs, read_config
from unnoted.data.download import Catalog
from unnoted.losses import CrossEntropy, register_loss
from unnoted.losses import base as losses_base
from unnoted.training import ConfigError, OptimizerConfig, TrainingConfig, load_config
from unnoted.training.config import expand_key, flatten, nest_changes, parse_changes

SEVEN = ("atlop", "pn", "sr-pn", "pu", "sr-pu", "s-pu", "ssr-pu")
NINE = (*SEVEN, "s-pu-log-sigmoid", "s-pu-log-sigmoid-ranking")
ENCODERS = {
    "bert-base": ("bert-base-cased", 5e-5), "roberta-large": ("roberta-large", 3e-5),
    "pubmedbert": ("microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract", 2e-5),
}  # fmt: skip
MULTIPLIERS = {"docred-original": 3, "docred-extreme": 12, "docred-full": 1, "chemdisgene": 3}

DOCRED = {
    "batch_size": 4,
    "warmup": 0.06,
    "adam_epsilon": 1e-6,
    "max_grad_norm": 1,
    "vocabulary": Path("data/docred/rel_info.json"),
}
DOCUNET = DOCRED | {
    "architecture": "docunet", "loss.name": "balanced-softmax", "epochs": 30, "batch_size": 2,
    "gradient_accumulation": 2, "encoder_learning_rate": 3e-5,
}  # fmt: skip
KD_DOCRE = DOCRED | {
    "architecture": "kd-docre", "loss.name": "adaptive-focal", "embedding": 1024, "epochs": 30,
    "encoder_learning_rate": 3e-5,
}  # fmt: skip
CHEMDISGENE = {
    "candidates": "Chemical:Disease,Chemical:Gene,Gene:Disease", "loss.name": "cross-entropy",
    "tune_thresholds": True, "embedding": 128, "markers": "none", "epochs": 10, "batch_size": 1,
    "gradient_accumulation": 16, "encoder_learning_rate": 1e-5, "head_learning_rate": 1e-5, "warmup": 0,
    "adam_epsilon": 1e-8, "weight_decay": 1e-4, "max_grad_norm": 10, "entity_recognition_weight": 0,
}  # fmt: skip
BASELINES = {
    # Yao et al. (2019), the program: Adam as torch makes it.
    "docred-original/bilstm/bilstm": DOCRED | {
        "encoder": "bilstm", "architecture": "bilstm", "loss.name": "cross-entropy", "embedding": 128,
        "epochs": 200, "batch_size": 40, "encoder_learning_rate": 1e-3, "head_learning_rate": 1e-3, "warmup": 0,
        "adam_epsilon": 1e-8, "max_grad_norm": 1e6,
    },
    # Zeng et al. (2020), the script for BERT-base of the program.
    "docred-original/bert-base/gain": DOCRED | {
        "architecture": "gain", "loss.name": "cross-entropy", "embedding": 4848, "epochs": 300, "batch_size": 5,
        "encoder_learning_rate": 1e-5, "head_learning_rate": 1e-3, "weight_decay": 1e-4, "adam_epsilon": 1e-8,
        "warmup": 0, "unlabelled_per_labelled": 4, "max_grad_norm": 1e6, "num_cycles": 1.973684,
    },
    # Wang et al. (2024), as far as it is published.
    "docred-original/bert-base/p3m": DOCRED | {
        "architecture": "p3m", "loss.name": "p3m", "prior_multiplier": 3, "epochs": 10,
        "encoder_learning_rate": 3e-5, "head_learning_rate": 1e-4, "scale": 10, "pair_dropout": 0.2,
    },
    "docred-original/roberta-large/docunet": DOCUNET,
    "docred-full/roberta-large/docunet": DOCUNET,
    "docred-full/roberta-large/kd-docre": KD_DOCRE | {"teacher": None},
    "docred-full/roberta-large/kd-docre-student": KD_DOCRE | {
        "teacher": Path("runs/docred-full/roberta-large/kd-docre"), "epochs": 20, "batch_size": 1,
        "gradient_accumulation": 4, "encoder_learning_rate": 1e-5, "head_learning_rate": 5e-5,
    },
    "docred-full/roberta-large/kd-docre-finetuned": KD_DOCRE | {
        "init_from": Path("runs/docred-full/roberta-large/kd-docre-student"), "epochs": 20, "batch_size": 1,
        "encoder_learning_rate": 1e-6, "head_learning_rate": 3e-6, "warmup": 0.1,
    },
    "chemdisgene/pubmedbert/max-pool": CHEMDISGENE | {"architecture": "max-pool"},
    "chemdisgene/pubmedbert/bran": CHEMDISGENE | {"architecture": "bran"},
    # The learning rate of Verga et al. (2018); that of Zhang et al. is not published.
    "chemdisgene/transformer-convolutions/bran": CHEMDISGENE | {
        "encoder": "bran", "tokenizer": "bert-base-cased", "architecture": "bran",
        "encoder_learning_rate": 5e-4, "head_learning_rate": 5e-4,
    },
}  # fmt: skip
OWN = {"small", "best"}
PAPER = [name for name in config_names() if name not in BASELINES and name not in OWN]
GOOD = """
train: train.json
model: {encoder: folder}
loss: {name: ssr-pu, prior_multiplier: 3}
output: runs/one
"""


def load(name):
    return load_config(name, {} if "train" in read_config(name).values else {"train": "own.jsonl"})


def value_of(config, key):
    if key == "tokenizer":
        return config.model.encoder_options.get(key)
    return config.optimizer.schedule.num_cycles if key == "num_cycles" else config.get(key)


@pytest.mark.parametrize("name", PAPER)
def test_a_loss_of_the_paper(name):
    config = load(name)
    data, encoder, loss = name.split("/")
    assert (config.model.encoder, config.optimizer.encoder_learning_rate) == ENCODERS[encoder]
    assert config.loss.name == loss and config.model.architecture == "atlop"
    assert config.loss.prior_multiplier == (None if loss == "atlop" else MULTIPLIERS[data])
    if loss in ("sr-pn", "sr-pu", "ssr-pu"):
        assert config.loss.options["margin"] == 0.25
    o = config.optimizer
    assert (o.epochs, o.head_learning_rate, o.batch_size) == (30, 1e-4, 8 if data == "chemdisgene" else 4)
    assert (config.seed, config.output) == (62, Path("runs", name))


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline(name):
    config = load(name)
    found = {key: value_of(config, key) for key in BASELINES[name]}
    assert found == BASELINES[name] and config.output == Path("runs", name) and config.seed == 62


def test_best_names_no_benchmark_and_needs_documents():
    text = (FOLDER / "best.yaml").read_text("utf-8").lower()
    assert "docred" not in text and "chemdisgene" not in text
    with pytest.raises(ConfigError) as caught:
        load_config("best")
    assert caught.value.keys == ("train",)


def test_every_published_setting_is_there_and_described():
    losses = {
        "docred-original": NINE,
        "docred-extreme": ("atlop", "ssr-pu"),
        "docred-full": ("atlop", "ssr-pu"),
    }
    expected = {f"chemdisgene/pubmedbert/{loss}" for loss in SEVEN} | {
        f"{data}/{encoder}/{loss}"
        for data, names in losses.items()
        for encoder in ("bert-base", "roberta-large")
        for loss in names
    }
    assert set(config_names()) == expected | set(BASELINES) | OWN
    assert all(config.description for config in published_configs())


@pytest.mark.parametrize("name", config_names())
def test_its_data_can_be_downloaded(name):
    datasets, config = Catalog.read().datasets, load(name)
    known = {Path("data", each, file) for each, entry in datasets.items() for file in entry.files}
    needed = {*config.train, *(config.dev or ()), config.data.vocabulary} - {None}
    assert needed - known <= {Path("own.jsonl"), Path("data/docred/train_distant.json")}


def test_the_defaults_are_the_papers():
    o = OptimizerConfig()
    assert (o.epochs, o.batch_size, o.encoder_learning_rate, o.head_learning_rate) == (30, 4, 5e-5, 1e-4)
    assert (o.warmup, o.adam_epsilon, o.max_grad_norm, o.weight_decay) == (0.06, 1e-6, 1.0, 0.0)
    assert (o.schedule.name, o.unlabelled_rate, o.unlabelled_per_labelled) == ("linear", 1.0, None)


@pytest.mark.parametrize("name", config_names())
def test_what_is_saved_is_read_again(name, tmp_path):
    config = load(name)
    config.save(tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml") == config


def test_any_loss_can_be_chosen_by_name_or_as_a_change():
    by_name = load_config("docred-full/bert-base", {"loss": "sr-pu"})
    assert (by_name.loss.name, by_name.loss.prior_multiplier) == ("sr-pu", 1)
    assert by_name.output == Path("runs/docred-full/bert-base/sr-pu")
    assert load_config("docred-full/bert-base", {"loss.name": "sr-pu"}) == by_name


def written(tmp_path, text, name="config.yaml"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def refusal(config, changes=None):
    with pytest.raises(ConfigError) as caught:
        load_config(config, changes)
    return caught.value


def test_the_output_is_named_by_config_and_documents(tmp_path):
    assert load_config("best", {"train": "my/own.jsonl.gz"}).output == Path("runs/best-own")
    assert load_config("small").output == Path("runs/small")
    bare = GOOD.replace("output: runs/one\n", "")
    assert load_config(written(tmp_path, bare, "mine.yaml")).output == Path("runs/mine")


def test_dotted_and_bare_keys():
    assert nest_changes(
        {"epochs": 3, "loss": "pu", "margin": 1, "optimizer.groups.encoder.weight_decay": 0.1}
    ) == {
        "optimizer": {"epochs": 3, "groups": {"encoder": {"weight_decay": 0.1}}},
        "loss": {"name": "pu", "options": {"margin": 1}},
    }
    for key in (*flatten(load("best").to_dict()), "loss", "model"):
        assert expand_key(key) == key
    with pytest.raises(ConfigError, match=r"loss\.options.*model\.options"):
        expand_key("options")
    assert parse_changes(["a=1", "b=[x, y]", "c=null"]) == {"a": 1, "b": ["x", "y"], "c": None}
    for text in ("epochs", "=3", "epochs=["):
        with pytest.raises(ConfigError):
            parse_changes([text])


def test_changes_win_over_files_and_later_files_over_earlier(tmp_path):
    written(tmp_path, "optimizer: {epochs: 1, batch_size: 1}\nseed: 1", "one.yaml")
    written(tmp_path, "optimizer: {epochs: 2}", "two.yaml")
    path = written(tmp_path, GOOD + "extends: [one.yaml, two.yaml]\nseed: 3")
    config = load_config(path, {"batch_size": 9})
    assert (config.optimizer.epochs, config.optimizer.batch_size, config.seed) == (2, 9, 3)
    named = written(tmp_path, GOOD + "extends: docred-original/bert-base/gain")
    assert refusal(named).keys  # its options are of another loss and architecture


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (GOOD + "epochs: 3", ("epochs",)),
        (GOOD + "optimizer: {epoch: 3}", ("optimizer.epoch",)),
        (GOOD + "optimizer: {epochs: x, batch_sise: 3}", ("optimizer.epochs", "optimizer.batch_sise")),
        (GOOD + "optimizer: {epochs: true}", ("optimizer.epochs",)),
        (GOOD + "optimizer: {warmup: 1.5}", ("optimizer.warmup",)),
        (GOOD + "optimizer: {encoder_learning_rate: .nan}", ("optimizer.encoder_learning_rate",)),
        (GOOD + "optimizer: {schedule: {name: linear, num_cycles: 2}}", ("optimizer.schedule.num_cycles",)),
        (GOOD + "optimizer: {unlabelled_rate: 0}", ("optimizer.unlabelled_rate",)),
        (GOOD + "seed: -1", ("seed",)),
        (GOOD + "data: {candidates: Chemical}", ("data.candidates",)),
        (GOOD + "data: {benchmark: docrde}", ("data.benchmark",)),
        (GOOD + "calibration: {folds: 1}", ("calibration.folds",)),
        (GOOD + "calibration: {tune_thresholds: true}", ("calibration.tune_thresholds",)),
        (GOOD + "dev: d.json\ncalibration: {tune_thresholds: true, folds: 2}", ("calibration.folds",)),
        (GOOD.replace("{name: ssr-pu, prior_multiplier: 3}", "ssr-pu"), ("loss.prior_multiplier",)),
        (GOOD.replace("3}", "3, prior_file: p.json}"), ("loss.prior_multiplier",)),
        (GOOD.replace("3}", "3, options: {margin: -1}}"), ("loss.options",)),
        (GOOD.replace("3}", "3, options: {magrin: 1}}"), ("loss.options",)),
        (GOOD.replace("name: ssr-pu", "name: ssrpu"), ("loss.name",)),
        (GOOD.replace("{encoder: folder}", "{encoder: folder, architecture: atlopp}"), ("model.architecture",)),
        (GOOD.replace("{encoder: folder}", "{encoder: folder, lexical_weight: 0.5}"), ("model.lexical_weight",)),
        (GOOD.replace("{encoder: folder}", "{encoder: recurrent, encoder_options: {subword: 5}}"), ("model.encoder_options",)),
        (GOOD.replace("{encoder: folder}", "{}"), ("model.encoder",)),
        (GOOD.replace("train: train.json", ""), ("train",)),
        (GOOD + "train: other.json", ()),
        (GOOD + "extends: absent.yaml", ()),
        (GOOD + "extends: config.yaml", ("extends",)),
        (GOOD + "extends: 3", ("extends",)),
        (GOOD + "extends: smal", ("extends",)),
        ("- a", ()), ("a: [", ()), ("", ()), ("&a b: *a", ()),
    ],
)  # fmt: skip
def test_refusals_name_the_file_and_the_keys(tmp_path, text, keys):
    error = refusal(written(tmp_path, text))
    assert error.keys == keys and str(tmp_path) in str(error)


def test_unknown_keys_and_names_are_answered_with_the_nearest(tmp_path):
    assert "'epochs'" in str(refusal("small", {"epoch": 1}))
    assert "optimizer.epochs" in str(refusal(written(tmp_path, GOOD + "epochs: 3")))
    assert "'ssr-pu'" in str(refusal("small", {"loss": "ssrpu"}))
    assert "'small'" in str(refusal("smal"))
    assert re.search(r"\bmargin\b", str(refusal("small", {"loss.options.magrin": 1})))


def test_a_change_that_is_refused_does_not_name_the_file():
    error = refusal("small", {"epochs": "x"})
    assert error.keys == ("optimizer.epochs",) and not str(error).startswith("small")
    assert str(refusal("small", {"loss": "s-pu", "margin": 1})).startswith("loss.options")


@pytest.mark.parametrize(
    ("config", "changes", "gone"),
    [
        ("small", {"loss": "atlop"}, "loss.prior_multiplier"),
        ("best", {"train": "x.json", "loss": "ssr-pu"}, "model.lexical_weight"),
        ("small", {"prior_file": "p.json"}, "loss.prior_multiplier"),
        ("docred-original/bert-base/gain", {"unlabelled_rate": 0.5}, "optimizer.unlabelled_per_labelled"),
        ("docred-original/bert-base/gain", {"loss": "ssr-pu", "prior_multiplier": 3}, "optimizer.unlabelled_per_labelled"),
        ("docred-original/bert-base/p3m", {"architecture": "atlop"}, "model.options.pair_dropout"),
        ("docred-original/bert-base/p3m", {"loss": "ssr-pu"}, "loss.options.scale"),
        ("docred-original/bilstm/bilstm", {"encoder": "folder"}, "model.encoder_options"),
    ],
)  # fmt: skip
def test_what_a_change_makes_meaningless_is_left_out_with_a_note(config, changes, gone):
    lines = []
    loaded = load_config(config, changes, log=lines.append)
    assert any(gone in line for line in lines)
    assert loaded.flatten().get(gone) in (None, 0.0)


def test_null_takes_a_value_away():
    bilstm = load_config("docred-original/bilstm/bilstm", {"vectors": None})
    assert "vectors" not in bilstm.model.encoder_options
    assert load_config("best", {"train": "x", "folds": None}).calibration.folds is None
    assert load_config("best", {"train": "x", "lexical_weight": None}).model.lexical_weight == 0


def test_a_registered_loss_has_its_own_options():
    class Own(CrossEntropy):
        def __init__(self, strength: float = 1.0) -> None:
            super().__init__()

    try:
        register_loss("own")(Own)
        config = load_config("small", {"loss": "own", "strength": 2})
        assert config.loss.options == {"strength": 2.0} and config.get("strength") == 2
    finally:
        losses_base._LOSSES.pop("own", None)


@given(st.integers(1, 1000), st.floats(1e-9, 1), st.sampled_from(["linear", "cosine", "constant"]))
def test_numbers_keep_their_value_through_yaml(epochs, rate, schedule):
    config = load_config("small", {"epochs": epochs, "encoder_learning_rate": rate, "schedule": schedule})
    assert TrainingConfig.model_validate(yaml.safe_load(config.to_yaml())) == config


def test_with_changes_and_from_keys():
    config = load_config("small")
    changed = config.with_changes({"seed": 3, "margin": 0.5})
    assert (changed.seed, changed.get("margin"), changed.optimizer) == (3, 0.5, config.optimizer)
    with pytest.raises(ConfigError) as caught:
        config.with_changes({"epochs": 0})
    assert caught.value.keys == ("optimizer.epochs",)
    with pytest.raises(ConfigError):
        TrainingConfig.from_keys({"train": "x", "encoder": "y"})
