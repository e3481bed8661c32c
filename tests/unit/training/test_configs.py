"""Every file in configs/ is read, and says what was published."""

from pathlib import Path

import pytest

from unnoted.training.settings import load_settings

CONFIGS = Path(__file__).parents[3] / "configs"
PUBLISHED = sorted(path for path in CONFIGS.rglob("*.yaml") if path.parent.name != "base")
SEVEN = ["atlop", "pn", "sr-pn", "pu", "sr-pu", "s-pu", "ssr-pu"]
NINE = [*SEVEN, "s-pu-log-sigmoid", "s-pu-log-sigmoid-ranking"]
MULTIPLIERS = {"docred-original": 3, "docred-extreme": 12, "docred-full": 1, "chemdisgene": 3}
ENCODERS = {
    "bert-base": ("bert-base-cased", 5e-5),
    "roberta-large": ("roberta-large", 3e-5),
    "pubmedbert": ("microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract", 2e-5),
}


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.relative_to(CONFIGS)))
def test_a_config(path):
    settings = load_settings(path)
    if path == CONFIGS / "small.yaml":
        assert (settings.epochs, settings.encoder_rate, settings.new_layer_rate) == (8, 2e-4, 1e-4)
        return
    data, encoder, method = path.relative_to(CONFIGS).with_suffix("").parts
    assert settings.method == method
    assert (settings.encoder, settings.encoder_rate) == ENCODERS[encoder]
    assert settings.prior_multiplier == (None if method == "atlop" else MULTIPLIERS[data])
    assert settings.batch_documents == (8 if data == "chemdisgene" else 4)
    assert (settings.epochs, settings.new_layer_rate, settings.seed) == (30, 1e-4, 62)
    assert str(settings.output) == f"runs/{data}/{encoder}/{method}"


def test_every_published_setting_is_there():
    found = {path.relative_to(CONFIGS).with_suffix("").parts for path in PUBLISHED}
    encoders = ("bert-base", "roberta-large")
    expected = {("docred-original", encoder, method) for encoder in encoders for method in NINE}
    expected |= {
        (data, encoder, method)
        for data in ("docred-extreme", "docred-full") for encoder in encoders for method in ("atlop", "ssr-pu")
    }  # fmt: skip
    expected |= {("chemdisgene", "pubmedbert", method) for method in SEVEN}
    assert found == expected | {("small",)}
