"""Configs by name: every one says what was published, and what is extended is found."""

from pathlib import Path

import pytest

from unnoted.configs import FOLDER, config_named, config_names, read_config
from unnoted.training.settings import SettingsError, load_settings

SEVEN = ["atlop", "pn", "sr-pn", "pu", "sr-pu", "s-pu", "ssr-pu"]
NINE = [*SEVEN, "s-pu-log-sigmoid", "s-pu-log-sigmoid-ranking"]
MULTIPLIERS = {"docred-original": 3, "docred-extreme": 12, "docred-full": 1, "chemdisgene": 3}
PUBMEDBERT = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
ENCODERS = {
    "bert-base": ("bert-base-cased", 5e-5),
    "roberta-large": ("roberta-large", 3e-5),
    "pubmedbert": (PUBMEDBERT, 2e-5),
}

DOCRED = {"vocabulary": Path("data/docred/rel_info.json"), "warm_up": 0.06, "adam_epsilon": 1e-6, "clip": 1.0}
ORIGINAL = {"train": (Path("data/docred/train_annotated.json"),)}
FULL = {"train": (Path("data/re-docred/train_revised.json"),)}
# Zhang et al. (2021), the script for RoBERTa-large: 2 documents, steps after 2 batches, three rates; the U-Net's file.
DOCUNET = DOCRED | {
    "encoder": "roberta-large", "architecture": "docunet", "loss": "balanced-softmax",
        "embedding": 768, "block": 64,
    "epochs": 30, "batch_documents": 2, "gradient_accumulation": 2,
    "encoder_learning_rate": 3e-5, "head_learning_rate": 1e-4, "map_learning_rate": 4e-4, "weight_decay": 0.0,
}  # fmt: skip
# Tan et al. (2022), the three scripts for RoBERTa-large: teacher, distillation, fine-tuning.
KD_DOCRE = DOCRED | FULL | {
    "encoder": "roberta-large", "architecture": "kd-docre", "loss": "adaptive-focal",
    "embedding": 1024, "block": 64,
    "epochs": 30, "batch_documents": 4, "gradient_accumulation": 1,
    "encoder_learning_rate": 3e-5, "head_learning_rate": 1e-4, "map_learning_rate": 3e-5, "weight_decay": 0.0,
}  # fmt: skip
# Zhang et al. (2022), defaults of the program and its documented command.
CHEMDISGENE = {
    "train": tuple(Path(f"data/chemdisgene/ctd_derived/train_{name}.gz")
                   for name in ("abstracts.txt", "relationships.tsv")),
    "dev": tuple(Path(f"data/chemdisgene/ctd_derived/dev_{name}.gz")
                 for name in ("abstracts.txt", "relationships.tsv")),
    "candidates": "Chemical:Disease,Chemical:Gene,Gene:Disease",
    "loss": "cross-entropy", "tuned_thresholds": True, "embedding": 128,
    "markers": False, "entity_recognition_weight": 0,
    "epochs": 10, "batch_documents": 1, "gradient_accumulation": 16,
    "encoder_learning_rate": 1e-5, "head_learning_rate": 1e-5,
    "warm_up": 0, "adam_epsilon": 1e-8, "weight_decay": 1e-4, "clip": 10,
}  # fmt: skip
BASELINES = {
    # Yao et al. (2019), the program: Adam as torch makes it.
    "docred-original/bilstm/bilstm": DOCRED | ORIGINAL | {
        "encoder": "bilstm", "architecture": "bilstm", "loss": "cross-entropy", "tuned_thresholds": False,
        "vectors": Path("data/glove/glove.6B.100d.txt"), "embedding": 128,
        "epochs": 200, "batch_documents": 40, "encoder_learning_rate": 1e-3, "head_learning_rate": 1e-3,
        "warm_up": 0, "schedule": "constant", "adam_epsilon": 1e-8, "weight_decay": 0.0, "clip": 1e6,
            },
    # Zeng et al. (2020), the script for BERT-base; nodes of 768 + 20 + 20, three layers of them, twice.
    "docred-original/bert-base/gain": DOCRED | ORIGINAL | {
        "encoder": "bert-base-cased", "architecture": "gain", "loss": "cross-entropy", "tuned_thresholds": False,
        "embedding": 2 * 3 * (768 + 20 + 20),
        "epochs": 300, "batch_documents": 5, "encoder_learning_rate": 1e-5, "head_learning_rate": 1e-3,
        "warm_up": 0, "schedule": "cosine", "cosine_periods": pytest.approx(300 / (2 * (300 // 4 + 1)), rel=1e-6),
        "adam_epsilon": 1e-8, "weight_decay": 1e-4, "encoder_weight_decay": 0.01, "clip": 1e6,
        "unlabelled_per_labelled": 4,
            },
    # Wang et al. (2024), as far as it is published.
    "docred-original/bert-base/p3m": DOCRED | ORIGINAL | {
        "encoder": "bert-base-cased", "architecture": "p3m", "loss": "p3m", "prior_multiplier": 3, "embedding": 768,
        "epochs": 10, "batch_documents": 4, "encoder_learning_rate": 3e-5, "head_learning_rate": 1e-4,
            },
    "docred-original/roberta-large/docunet": DOCUNET | ORIGINAL,
    "docred-full/roberta-large/docunet": DOCUNET | FULL,
    "docred-full/roberta-large/kd-docre": KD_DOCRE | {"teacher": None},
    "chemdisgene/pubmedbert/max-pool": CHEMDISGENE | {"encoder": PUBMEDBERT, "architecture": "max-pool"},
    "chemdisgene/pubmedbert/bran": CHEMDISGENE | {"encoder": PUBMEDBERT, "architecture": "bran"},
    # The rate of Verga et al. (2018); that of Zhang et al. is not published.
    "chemdisgene/transformer-convolutions/bran": CHEMDISGENE | {
        "encoder": "bran", "tokenizer": "bert-base-cased", "architecture": "bran",
        "encoder_learning_rate": 5e-4, "head_learning_rate": 5e-4,
    },
    # Verga et al. (2018), the configuration ctd/ctd of the program.
    "chemdisgene/convolutional-attention/bran": CHEMDISGENE | {
        "encoder": "bran", "tokenizer": "subwords", "subword_vocabulary": 10_000, "architecture": "bran",
        "entity_recognition_weight": 10, "encoder_learning_rate": 5e-4, "head_learning_rate": 5e-4,
    },
}  # fmt: skip


OWN = {"small", "best"}
LOSSES = [name for name in config_names() if name not in BASELINES and name not in OWN]


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_of_the_paper(name):
    settings = load_settings(name)
    data, encoder, loss = name.split("/")
    assert (settings.architecture, settings.loss) == ("atlop", loss)
    assert (settings.encoder, settings.encoder_learning_rate) == ENCODERS[encoder]
    assert settings.prior_multiplier == (None if loss == "atlop" else MULTIPLIERS[data])
    assert settings.batch_documents == (8 if data == "chemdisgene" else 4)
    assert (settings.epochs, settings.head_learning_rate, settings.seed) == (30, 1e-4, 62)
    assert settings.output == Path("runs", data, encoder, loss)


@pytest.mark.parametrize("baseline", BASELINES)
def test_a_baseline(baseline):
    settings = load_settings(baseline)
    expected = BASELINES[baseline] | {"seed": 62, "output": Path("runs", baseline)}
    assert {key: getattr(settings, key) for key in expected} == expected


def test_the_small_one():
    settings = load_settings("small")
    assert (settings.epochs, settings.encoder_learning_rate, settings.head_learning_rate) == (8, 2e-4, 1e-4)
    assert settings.output == Path("runs/small")


def test_the_recommended_one():
    settings = load_settings("best")
    assert (settings.loss, settings.start, settings.calibrated) == ("label-likelihood", "types", True)
    assert (settings.epochs, settings.folds, settings.prior_multiplier) == (8, 2, 3)
    assert (settings.typed_markers, settings.rules, settings.lexical_weight) == (True, None, 0.5)
    assert settings.candidates == "labelled"
    assert settings.output == Path("runs/best")


def test_every_published_setting_is_there():
    encoders = ("bert-base", "roberta-large")
    expected = {f"docred-original/{encoder}/{loss}" for encoder in encoders for loss in NINE}
    expected |= {
        f"{data}/{encoder}/{loss}"
        for data in ("docred-extreme", "docred-full") for encoder in encoders for loss in ("atlop", "ssr-pu")
    }  # fmt: skip
    expected |= {f"chemdisgene/pubmedbert/{loss}" for loss in SEVEN}
    assert set(config_names()) == expected | set(BASELINES) | OWN
    assert len(config_names()) == 45


def test_every_one_is_described():
    for name in config_names():
        assert len(config_named(name).description) > 15
    for file in FOLDER.rglob("*.yaml"):
        assert read_config(file).description


def test_any_loss_can_be_chosen_by_name_or_as_a_change():
    by_name = load_settings("docred-full/bert-base/sr-pu")
    assert (by_name.loss, by_name.prior_multiplier) == ("sr-pu", 1)
    assert load_settings("docred-full/bert-base", {"loss": "sr-pu"}) == by_name
    assert by_name.output == Path("runs/docred-full/bert-base/sr-pu")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "smal",
            "unknown config 'smal' (nearest: 'small'): expected a name that `unnoted info` lists, or a file",
        ),
        ("docred-original/bert-base/ssrpu", "unknown loss 'ssrpu', expected one of"),
        ("docred-original/bert-base", "docred-original/bert-base: loss: found nothing, expected a value"),
        ("docred-original/gain/x", "unknown config 'docred-original/gain/x'"),
        ("../configs/small", "unknown config '../configs/small'"),
        ("small.yaml", "small.yaml: found no readable file"),
    ],
)
def test_what_is_not_there(name, message):
    with pytest.raises(SettingsError) as caught:
        load_settings(name)
    assert message in str(caught.value)


def test_a_file_may_extend_a_config_by_its_name(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("extends: docred-original/bert-base/ssr-pu\noutput: runs/own\nepochs: 3\n", "utf-8")
    settings = load_settings(own)
    assert settings.model_copy(
        update={"epochs": 30, "output": Path("runs/docred-original/bert-base/ssr-pu")}
    ) == (load_settings("docred-original/bert-base/ssr-pu"))
    own.write_text("extends: docred-original/bert\noutput: runs/own\n", "utf-8")
    with pytest.raises(
        SettingsError, match=r"own.yaml: extends: unknown config 'docred-original/bert' \(nearest"
    ):
        load_settings(own)


def test_a_file_without_a_suffix_and_a_file_named_like_a_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("own", "small"):
        Path(name).write_text("extends: small\noutput: elsewhere\n", "utf-8")
    assert load_settings("own").output == Path("elsewhere")
    assert load_settings("small").output == Path("runs/small")


def test_a_file_of_ones_own_says_where_its_output_goes(tmp_path):
    (tmp_path / "own.yaml").write_text("extends: small\n", "utf-8")
    with pytest.raises(SettingsError, match="output: found nothing, expected a value"):
        load_settings(tmp_path / "own.yaml")


def test_losses_are_listed_in_the_package_only(tmp_path):
    (tmp_path / "own.yaml").write_text("extends: small\noutput: x\nlosses: [pn]\n", "utf-8")
    with pytest.raises(SettingsError, match="unknown key 'losses'"):
        load_settings(tmp_path / "own.yaml")
