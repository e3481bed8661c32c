"""Settings files: what is read, what is refused, and how the refusal is worded."""

import re
from typing import Annotated

import pytest
from pydantic import Field

import unnoted.training.settings as settings_module
from unnoted.losses import ATLOP, base, register_loss
from unnoted.training.settings import Optimisation, Settings, SettingsError, load_settings, parse_changes
from unnoted.utils import short_repr

GOOD = """
train: train.json
encoder: folder
loss: ssr-pu
prior_multiplier: 3
output: runs/one
"""


def written(tmp_path, text, name="settings.yaml"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def refusal(tmp_path, text, *overrides):
    with pytest.raises(SettingsError) as caught:
        load_settings(written(tmp_path, text), parse_changes(overrides))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_what_is_open_is_filled_in(tmp_path):
    settings = load_settings(written(tmp_path, GOOD))
    assert settings.loss_options == {
        "margin": 0.25, "correction": "flip", "normalisation": "per-batch", "class_weight": True,
    }  # fmt: skip
    assert settings.prior_multiplier == 3 and settings.fast_dropout is True
    assert [str(path) for path in settings.train] == ["train.json"]
    assert (settings.epochs, settings.batch_documents, settings.clip, settings.warm_up) == (30, 4, 1.0, 0.06)


def test_a_resolved_copy_reads_as_the_same(tmp_path):
    changes = {"train": ["a.json", "b.json"], "checkpoint_steps": 7, "margin": 0.5, "correction": "clamp"}
    settings = load_settings(written(tmp_path, GOOD), changes)
    settings.save(tmp_path / "resolved.yaml")
    assert load_settings(tmp_path / "resolved.yaml") == settings


def test_a_loss_without_priors_gets_none_of_their_settings(tmp_path):
    settings = load_settings(written(tmp_path, GOOD), {"loss": "atlop", "prior_multiplier": None})
    assert settings.loss_options == {}
    assert not settings.to_json().keys() & {"margin", "correction", "class_weight", "prior_multiplier"}


@pytest.mark.parametrize(
    ("loss", "left_out"),
    [
        ("atlop", ["correction 'clamp'", "margin 0.5", "prior_multiplier 3"]),
        ("s-pu", ["margin 0.5"]),
        ("sr-pu", []),
    ],
)
def test_what_a_config_says_and_the_loss_does_not_use_is_left_out_with_a_note(tmp_path, loss, left_out):
    told, path = [], written(tmp_path, GOOD + "margin: 0.5\ncorrection: clamp\n")
    settings = load_settings(path, {"loss": loss}, tell=told.append)
    assert told == [
        f"note: {path}: {what} is left out: the loss {loss!r} does not use it" for what in left_out
    ]
    assert settings.loss_options.get("margin") == (0.5 if loss == "sr-pu" else None)


@pytest.mark.parametrize(
    ("loss", "change"),
    [
        ("s-pu", "margin=0.5"),
        ("atlop", "correction=flip"),
        ("atlop", "prior_multiplier=3"),
        ("pn", "margin=0"),
        ("ssr-pu", "unlabelled_per_labelled=4"),
    ],
)
def test_what_is_typed_and_the_loss_does_not_use_is_refused(tmp_path, loss, change):
    key, _ = change.split("=")
    expected = f"{key}: found {short_repr(parse_changes([change])[key])}, expected none: the loss {loss!r} does not use it"
    assert refusal(tmp_path, GOOD, f"loss={loss}", change) == expected
    values = {"train": "a", "encoder": "b", "output": "c", "loss": loss}
    with pytest.raises(ValueError, match="does not use it"):
        Settings(**values, **parse_changes([change]))


@pytest.fixture
def own_losses(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(base, "_LOSSES", losses := dict(base._LOSSES))
    for module in (base, settings_module):
        monkeypatch.setattr(module, "LOSSES", losses)


def test_a_registered_loss_brings_its_own_settings(tmp_path, own_losses):
    @register_loss("tempered")
    class Tempered(ATLOP):
        def __init__(self, temperature: Annotated[float, Field(gt=0)] = 2.0) -> None:
            super().__init__()

    path = written(
        tmp_path, GOOD.replace("ssr-pu", "tempered").replace("prior_multiplier: 3", "temperature: 3")
    )
    settings = load_settings(path)
    assert settings.loss_options == {"temperature": 3.0}
    settings.save(tmp_path / "resolved.yaml")
    assert "temperature: 3.0" in (tmp_path / "resolved.yaml").read_text()
    assert load_settings(tmp_path / "resolved.yaml") == settings
    with pytest.raises(SettingsError, match=r"^temperature: found 0, expected greater than 0"):
        load_settings(path, {"temperature": 0})
    with pytest.raises(SettingsError, match="nearest: 'temperature'"):
        load_settings(path, {"temprature": 1})
    with pytest.raises(
        SettingsError, match=r"^temperature: found 1, expected none: the loss 'ssr-pu' does not"
    ):
        load_settings(written(tmp_path, GOOD), {"temperature": 1})


def test_a_loss_may_not_declare_a_setting_of_the_training(tmp_path, own_losses):
    @register_loss("own")
    class Own(ATLOP):
        def __init__(self, epochs: int = 1) -> None:
            super().__init__()

    assert "loss 'own': found the option 'epochs', which is a setting" in refusal(tmp_path, GOOD, "loss=own")


def test_overrides_win_and_numbers_may_lack_a_point(tmp_path):
    # YAML 1.1 takes 5e-5 for a string.
    settings = load_settings(
        written(tmp_path, GOOD), parse_changes(["encoder_learning_rate=5e-5", "epochs=2", "precision=bf16"])
    )
    assert (settings.encoder_learning_rate, settings.epochs, settings.precision) == (5e-5, 2, "bf16")


def test_layers(tmp_path):
    written(tmp_path, "epochs: 5\nseed: 1\nclip: 2", "low.yaml")
    written(tmp_path, "extends: low.yaml\nepochs: 6\nseed: 2", "high.yaml")
    written(tmp_path, "epochs: 9", "other.yaml")
    settings = load_settings(written(tmp_path, GOOD + "extends: [other.yaml, high.yaml]\nseed: 3"))
    assert (settings.epochs, settings.seed, settings.clip) == (6, 3, 2.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD + "epoch: 3", "unknown key 'epoch' (nearest: 'epochs')"),
        (GOOD + "epochs: eight", "epochs: found 'eight', expected a valid integer"),
        (GOOD + "epochs: 0", "epochs: found 0, expected greater than or equal to 1"),
        (GOOD + "epochs: true", "epochs: found True, expected a number"),
        (GOOD + "epochs: 2.5", "epochs: found 2.5, expected a valid integer"),
        (GOOD + "clip: .nan", "clip: found nan, expected a finite number"),
        (GOOD + "unlabelled_share: 1.5", "unlabelled_share: found 1.5, expected less than or equal to 1"),
        (GOOD + "precision: half", "precision: found 'half', expected 'auto', 'float32', 'bf16' or 'fp16'"),
        (GOOD + "seed: -1", "seed: found -1"),
        (GOOD + "candidates: Chemical", "candidates"),
        (GOOD.replace("train: train.json", ""), "train: found nothing, expected a value"),
        (GOOD.replace("train: train.json", "train: []"), "train: found []"),
        (GOOD.replace("ssr-pu", "ssrpu"), "unknown loss 'ssrpu'"),
        (GOOD + "prior_file: p.json", "found prior_multiplier and prior_file, expected one of them"),
        (GOOD.replace("prior_multiplier: 3", ""), "prior_multiplier, prior_file: found none"),
        (GOOD + "margin: -1", "margin: found -1, expected greater than or equal to 0"),
        (GOOD + "magrin: 1", "unknown key 'magrin' (nearest: 'margin')"),
        (GOOD + "benchmark: docrde", "unknown benchmark 'docrde', expected one of plain, docred, chemdisgene (nearest: 'docred')"),
        (GOOD + "fast_dropout: 3", "fast_dropout: found 3, expected"),
        (GOOD + "correction: flop", "correction: "),
        (GOOD + "normalisation: batch", "normalisation: "),
        (GOOD + "tuned_thresholds: true", "tuned_thresholds: found true without dev"),
        (GOOD + "map_learning_rate: -1", "map_learning_rate: found -1, expected greater than or equal to 0"),
        (GOOD + "loss: pn", "line 7"),
        (GOOD + "extends: absent.yaml", "absent.yaml: found no readable file"),
        (GOOD + "extends: settings.yaml", "extends: found a circle of files"),
        (GOOD + "extends: 3", "extends: found 3, expected a file name"),
        ("- a", "found ['a'], expected keys and values"),
        ("a: [", "expected"),
        ("", "found None, expected keys and values"),
    ],
)  # fmt: skip
def test_refusals_name_the_file_and_the_key(tmp_path, text, expected):
    message = refusal(tmp_path, text)
    assert expected in message
    assert message.startswith(str(tmp_path))


def test_several_faults_are_all_named(tmp_path):
    message = refusal(tmp_path, GOOD + "epochs: x\nbatch_document: 3")
    assert "epochs: found 'x'" in message and "nearest: 'batch_documents'" in message


def test_refused_overrides(tmp_path):
    assert refusal(tmp_path, GOOD, "epochs=x").startswith("epochs: found 'x', expected a valid integer")
    assert refusal(tmp_path, GOOD, "loss=ssrpu").startswith("unknown loss 'ssrpu'")
    assert refusal(tmp_path, GOOD, "epochs").startswith("--set epochs: found no key=value")
    assert "nearest: 'encoder_learning_rate'" in refusal(tmp_path, GOOD, "encoder_learning=1")
    assert refusal(tmp_path, GOOD, "epochs=[").startswith("--set epochs: found '['")


def test_a_sample_without_weights_of_a_config_is_left_out_for_a_loss_with_priors():
    told: list[str] = []
    settings = load_settings(
        "docred-original/bert-base/gain", {"loss": "ssr-pu", "prior_multiplier": 3}, tell=told.append
    )
    assert settings.unlabelled_per_labelled is None
    assert any(
        "unlabelled_per_labelled 4 is left out: the loss 'ssr-pu' does not use it" in line for line in told
    )


def test_two_samples_at_once_are_refused(tmp_path):
    text = GOOD.replace("ssr-pu", "cross-entropy").replace("prior_multiplier: 3\n", "")
    both = "unlabelled_per_labelled: 4\nunlabelled_share: 0.5\n"
    expected = "unlabelled_per_labelled: found 4 beside unlabelled_share 0.5, expected one of them"
    assert expected in refusal(tmp_path, text + both)


def test_what_is_said_of_tokens_must_be_of_use(tmp_path):
    pretrained = re.sub("encoder: .*", "encoder: bert-base-cased", GOOD)
    assert "tokenizer: found 'subwords', expected none: the encoder 'bert-base-cased' has its own" in refusal(
        tmp_path, pretrained + "tokenizer: subwords"
    )
    made = re.sub("encoder: .*", "encoder: recurrent", GOOD)
    assert (
        "subword_vocabulary: found 500, expected none: the tokenizer is 'words', not 'subwords'"
        in refusal(tmp_path, made + "subword_vocabulary: 500")
    )
    settings = load_settings(written(tmp_path, made + "tokenizer: subwords\nsubword_vocabulary: 500"))
    assert (settings.tokenizer, settings.subword_vocabulary) == ("subwords", 500)


def test_the_defaults_are_the_papers():
    o = Optimisation()
    assert (o.epochs, o.batch_documents, o.encoder_learning_rate, o.head_learning_rate) == (30, 4, 5e-5, 1e-4)
    assert (o.warm_up, o.adam_epsilon, o.clip, o.weight_decay, o.seed) == (0.06, 1e-6, 1.0, 0.0, 62)
    assert (o.schedule, o.unlabelled_share, o.unlabelled_per_labelled) == ("linear", 1.0, None)


@pytest.mark.parametrize("architecture", [["atlop"], {"name": "atlop"}, 3])
def test_an_architecture_that_is_no_name_is_refused(architecture):
    with pytest.raises(SettingsError, match=r"architecture: found .*, expected a valid string"):
        load_settings("docred-original/bert-base/gain", {"architecture": architecture})


@pytest.mark.parametrize(
    ("config", "change", "gone"),
    [
        ("docred-original/bert-base/gain", {"schedule": "linear"}, "cosine_periods"),
        ("docred-original/bert-base/gain", {"unlabelled_share": 0.5}, "unlabelled_per_labelled"),
        ("chemdisgene/convolutional-attention/bran", {"tokenizer": "words"}, "subword_vocabulary"),
    ],
)
def test_what_goes_with_a_changed_setting_goes_with_it(config, change, gone):
    told: list[str] = []
    assert getattr(load_settings(config, change, tell=told.append), gone) is None
    assert any(f"{gone} " in line and "is left out" in line for line in told)
    assert getattr(load_settings(config), gone) is not None


def test_a_linear_model_goes_with_another_loss_but_not_with_the_same():
    told: list[str] = []
    assert load_settings("best", {"loss": "ssr-pu"}, tell=told.append).lexical_weight == 0
    assert any("lexical_weight 0.5 is left out" in line for line in told)
    assert load_settings("best", {"loss": "label-likelihood"}).lexical_weight == 0.5
