"""A saved model is the one that was saved, or is refused in one line; nothing that lies beside it is run."""

import io
import json
import os
import pickle
import shutil
import struct
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.unit.training.factories import tiny_encoder

from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.io import CHECKSUMS
from unnoted.models.encoders import EncoderError, load_encoder
from unnoted.models.model import ModelError, RelationModel

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    torch.set_num_threads(1)
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def original(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    RelationModel.from_encoder(encoder, ["r0", "r1", "r2"], embedding=8, block=4).save_pretrained(folder)
    return folder


@pytest.fixture
def saved(original, tmp_path):
    return shutil.copytree(original, tmp_path / "model")


@pytest.fixture
def unchecked(saved):
    """A model without checksums: damage shows in what is damaged."""
    (saved / CHECKSUMS).unlink()
    return saved


def flip(name, place=-100):
    def apply(folder):
        content = bytearray((folder / name).read_bytes())
        content[place] ^= 1
        (folder / name).write_bytes(content)

    return apply


def edit(name, change):
    def apply(folder):
        content = json.loads((folder / name).read_text("utf-8"))
        change(content)
        (folder / name).write_text(json.dumps(content), "utf-8")

    return apply


def config(**values):
    return edit("config.json", lambda content: content.update(values))


def sizes(**values):
    return edit("config.json", lambda content: content["encoder_config"].update(values))


def write(name, text):
    return lambda folder: (folder / name).write_text(text, "utf-8")


def weights(change):
    def apply(folder):
        tensors = load_file(folder / "model.safetensors")
        tensors = {name: change(tensor) for name, tensor in tensors.items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    return apply


def spoil(value):
    def change(tensor):
        tensor.view(-1)[-1] = value
        return tensor

    return weights(change)


def lying_header(folder):
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 2**62) + path.read_bytes()[8:])


def weights_elsewhere(folder):
    names = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder.parent / "other.safetensors")
    places = {"weight_map": dict.fromkeys(names, "../other.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(places))


CHANGED = {
    "a bit of the weights": (flip("model.safetensors"), r"model\.safetensors: the content differs"),
    "a bit of the configuration": (flip("config.json", 3), r"config\.json: the content differs"),
    "one relation more": (edit("config.json", lambda c: c["relations"].append("r3")), r"config\.json"),
    "a foreign tokenizer": (
        edit("tokenizer.json", lambda c: c["model"]["vocab"].pop("*")), r"tokenizer\.json",
    ),
    "an empty tokenizer": (write("tokenizer.json", ""), r"tokenizer\.json"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json: cannot be read"),
    "tokens that were not saved": (write("added_tokens.json", "{}"), r"added_tokens\.json"),
    "checksums of another folder": (
        edit(CHECKSUMS, lambda c: c["files"].update({"../x": {"bytes": 1, "sha256": ""}})), "checksums",
    ),
    "no checksums": (write(CHECKSUMS, "{}"), r"checksums\.json"),
    "broken checksums": (write(CHECKSUMS, "["), r"checksums\.json: no readable JSON"),
}  # fmt: skip


def assert_refused(folder, message):
    """In one line, which begins with the folder."""
    with pytest.raises(ModelError, match=message) as caught:
        RelationModel.from_pretrained(folder)
    assert str(caught.value).startswith(str(folder)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("change", CHANGED)
def test_a_folder_that_was_changed_since_it_was_saved_is_refused(saved, change):
    apply, message = CHANGED[change]
    apply(saved)
    assert_refused(saved, message)


def truncate(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def drop_a_weight(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("head.bias")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


DAMAGED = {
    "no configuration": (lambda f: (f / "config.json").unlink(), "config.json"),
    "another configuration": (write("config.json", '{"model_type": "bert"}'), "'bert'"),
    "a cut configuration": (truncate("config.json"), r"config\.json: no readable JSON"),
    "cut weights": (truncate("model.safetensors"), "weights"),
    "a weight less": (drop_a_weight, r"missing keys \(head\.bias\)"),
    "one relation more": (
        edit("config.json", lambda c: c["relations"].append("r3")),
        r"head\.weight",
    ),
    "a relation twice": (config(relations=["r0", "r0", "r1"]), "listed twice"),
    "numbers for relations": (config(relations=[1, 2, 3]), r"relations\.0"),
    "states without end": (sizes(hidden_size=10**12), "config.json"),
    "words without end": (sizes(vocab_size=10**12), "config.json"),
    "a billion layers": (sizes(num_hidden_layers=10**9), "num_hidden_layers"),
    "ten thousand layers": (sizes(num_hidden_layers=10**4), "num_hidden_layers"),
    "a size in words": (sizes(hidden_size="large"), "'hidden_size' expected int, got str"),
    "no heads": (sizes(num_attention_heads=0), "cannot be used"),
    "fewer heads than none": (sizes(num_attention_heads=-2), "an encoder that does not work"),
    "an unknown activation": (sizes(hidden_act="none such"), "none such"),
    "an unknown encoder": (sizes(model_type="none such"), "Unrecognized model identifier: none such"),
    "no embedding": (config(embedding=0), "embedding: 0"),
    "an embedding without end": (config(embedding=4 * 10**12), "config.json"),
    "a block that does not divide": (config(block=3), "block"),
    "an unknown architecture": (config(architecture="x"), r"config\.json: unknown architecture 'x'"),
    "another architecture": (config(architecture="bran"), "shape"),
    "candidates of no kind": (config(candidates=3), "candidates"),
    "no decoder": (config(score_decoder={}), "KeyError: 'decision'"),
    "a threshold that is no number": (
        config(score_decoder={"decision": {"reference": "zero", "threshold": NAN, "top_k": None}, "link": {"name": "sigmoid"},
                        "class_weighted": False}),
        "score_decoder",
    ),
    "two thresholds for three": (
        config(score_decoder={"decision": {"reference": "zero", "threshold": [0.5, 0.5], "top_k": None}, "link": {"name": "sigmoid"},
                        "class_weighted": False}),
        "2 thresholds",
    ),
    "code of another's": (config(attn_implementation="owner/name"), "attn_implementation"),
    "deep configuration": (write("config.json", "[" * 10**5), r"config\.json: no readable JSON \(RecursionE"),
    "half the weights": (weights(lambda t: t.half()), "float16"),
    "whole numbers": (weights(lambda t: t.int()), "floating-point"),
    "rules of another kind": (config(rules=3), "rules"),
    "a lexical weight above 1": (config(lexical_weight=2.0), "lexical_weight"),
    "no number": (spoil(NAN), "not finite"),
    "an infinite number": (spoil(INF), "not finite"),
    "a header that lies": (lying_header, r"model\.safetensors: .*header too"),
    "weights elsewhere": (weights_elsewhere, "other.safetensors"),
    "an empty tokenizer": (write("tokenizer.json", "{}"), "no usable tokenizer"),
    "a tokenizer without words": (
        edit("tokenizer.json", lambda c: c["model"].update(vocab={})), "no usable tokenizer",
    ),
    "a larger tokenizer": (
        edit("tokenizer.json", lambda c: c["model"]["vocab"].update(zebra=5000)),
        "5,000",
    ),
    "a tokenizer without markers": (
        edit("tokenizer.json", lambda c: c["model"]["vocab"].pop("*")), r"'\*'",
    ),
    "a tokenizer without a start": (
        edit("tokenizer_config.json", lambda c: c.pop("cls_token")), "start",
    ),
    "a tokenizer of no kind": (write("tokenizer_config.json", "[]"), "no usable tokenizer"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_cannot_be_used_is_refused_without_checksums_too(unchecked, damage):
    apply, message = DAMAGED[damage]
    apply(unchecked)
    assert_refused(unchecked, message)


def test_a_model_without_checksums_gives_the_same_facts(saved):
    documents = list(generate_documents(2))
    facts = [extraction.facts for extraction in Extractor(saved).extract(documents, threshold=0)]
    (saved / CHECKSUMS).unlink()
    again = [extraction.facts for extraction in Extractor(saved).extract(documents, threshold=0)]
    assert again == facts and any(facts)


def test_a_linked_file_is_as_good_as_any(saved, tmp_path):
    (saved / "model.safetensors").rename(tmp_path / "elsewhere")
    (saved / "model.safetensors").symlink_to(tmp_path / "elsewhere")
    assert RelationModel.from_pretrained(saved).relations.ids == ("r0", "r1", "r2")


def test_a_model_with_weights_that_are_not_finite_is_not_saved(saved, tmp_path):
    model = RelationModel.from_pretrained(saved)
    with torch.no_grad():
        model.head.bias[1] = INF
    with pytest.raises(ModelError, match=r"head\.bias"):
        model.save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()


PLANTED = "open({!r}, 'w').close()\nfrom transformers import BertConfig as C, BertModel as M, PreTrainedTokenizerFast as T"


@pytest.fixture
def plant(monkeypatch, tmp_path):
    """Lets a folder name code that lies in it; a question on standard input would be answered by yes."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 100))

    def planted(folder, name):
        (folder / "planted.py").write_text(PLANTED.format(str(tmp_path / "was run")))
        codes = {"AutoConfig": "planted.C", "AutoModel": "planted.M", "AutoTokenizer": [None, "planted.T"]}
        edit(name, lambda content: content.update(auto_map=codes))(folder)

    yield planted
    assert not (tmp_path / "was run").exists()
    assert sys.stdin.tell() == 0, "a question was asked"


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_code_beside_a_model_is_not_run(unchecked, plant, name):
    plant(unchecked, name)
    model = RelationModel.from_pretrained(unchecked)  # our own classes will do
    assert type(model.tokenizer).__module__.startswith("transformers.")


def test_a_tokenizer_that_needs_code_of_its_own_is_refused(unchecked, plant):
    plant(unchecked, "tokenizer_config.json")
    edit("tokenizer_config.json", lambda content: content.update(tokenizer_class="Unknown"))(unchecked)
    with pytest.raises(
        ModelError, match=r"no usable tokenizer \(it has code of its own, which is never run\)"
    ):
        RelationModel.from_pretrained(unchecked)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_code_beside_an_encoder_is_not_run(encoder, plant, tmp_path, name):
    folder = shutil.copytree(encoder, tmp_path / "encoder")
    plant(folder, name)
    model = RelationModel.from_encoder(folder, ["r0"], embedding=8, block=4)  # our own classes will do
    assert type(model.tokenizer).__module__.startswith("transformers.")
    edit("config.json", lambda content: content.update(model_type="unknown"))(folder)
    with pytest.raises(EncoderError, match=r"config\.json"):
        RelationModel.from_encoder(folder, ["r0"], embedding=8, block=4)


def test_nobody_can_ask_for_code_to_be_run(saved):
    with pytest.raises(ModelError, match="trust_remote_code"):
        RelationModel.from_pretrained(saved, trust_remote_code=True)


def test_a_pickle_beside_the_weights_is_not_opened(saved, tmp_path):
    class Planted:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "was run"),)

    for name in ("pytorch_model.bin", "training_args.bin"):
        (saved / name).write_bytes(pickle.dumps(Planted()))
    RelationModel.from_pretrained(saved)
    (saved / CHECKSUMS).unlink()
    (saved / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        RelationModel.from_pretrained(saved)
    with pytest.raises(EncoderError):
        load_encoder(saved)
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (config(num_hidden_layers=10**9), "num_hidden_layers"),
        (config(num_hidden_layers=10**4), "num_hidden_layers"),
        (config(hidden_size=10**12), "encoder"),
        (config(hidden_size="x"), r"config\.json"),
        (config(attn_implementation="owner/name"), "never run"),
        (spoil(NAN), "not finite"),
        (write("config.json", "[" * 10**5), r"no readable JSON"),
        (edit("tokenizer.json", lambda c: c["model"]["vocab"].update(zebra=5000)), "5,000"),
    ],
)  # fmt: skip
def test_an_encoder_that_cannot_be_used_is_refused(encoder, tmp_path, apply, message):
    folder = shutil.copytree(encoder, tmp_path / "encoder")
    apply(folder)
    with pytest.raises(EncoderError, match=message):
        RelationModel.from_encoder(folder, ["r0"], embedding=8, block=4)


def test_a_model_of_the_hub_is_looked_at_too(saved, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    cache = tmp_path / "cache" / "models--owner--name"
    shutil.copytree(saved, cache / "snapshots" / ("0" * 40))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0" * 40)
    model = RelationModel.from_pretrained("owner/name", cache_dir=tmp_path / "cache")
    assert model.relations.ids == ("r0", "r1", "r2") and model.tokenizer is not None
    flip("model.safetensors")(cache / "snapshots" / ("0" * 40))
    with pytest.raises(ModelError, match=r"model\.safetensors: the content differs"):
        RelationModel.from_pretrained("owner/name", cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("stem", [10**9, 4096, -1])
def test_stems_without_weights_are_refused(encoder, tmp_path, stem):
    options = {"embedding": 8, "block": 4, "lexical_weight": 0.5, "entity_types": ["PER"]}
    RelationModel.from_encoder(encoder, ["r0"], **options).save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["lexical.stem"][3] = stem
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / CHECKSUMS).unlink()
    assert_refused(tmp_path, "lexical.stem")
