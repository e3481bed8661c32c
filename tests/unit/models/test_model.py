from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.reference.atlop import PlainATLOP, bilinear_weight
from tests.reference.batches import ENCODERS, only, random_batch, tiny_model
from tests.unit.inference.making import reading_model, saved_model

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import RelationVocabulary
from unnoted.losses import DecisionRule, Link, ScoreDecoder
from unnoted.models.encoders import EncoderError
from unnoted.models.model import ModelError, RelationConfig, RelationModel
from unnoted.priors import Priors

ROOT = Path(__file__).parents[3]
MINILM = ROOT.parent / "shared" / "encoders" / "minilm"
needs_minilm = pytest.mark.skipif(not MINILM.exists(), reason=f"no encoder at {MINILM}")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


def gradients(model):
    """The gradients of a `RelationModel` by the names of the plain one."""
    found = {f"encoder.{name}": p.grad for name, p in model.encoder.model.named_parameters()}
    for side in ("head", "tail"):
        layer = getattr(model.pair_encoder, f"{side}_projection")
        found |= {f"{side}_extractor.weight": layer.weight.grad, f"{side}_extractor.bias": layer.bias.grad}
    return found | {
        "bilinear.weight": bilinear_weight(model.head.weight.grad),
        "bilinear.bias": model.head.bias.grad,
    }


def compare(model, batch, rtol):
    plain = PlainATLOP.from_model(model)
    found, expected = model(batch).logits, plain(batch)
    weights = torch.linspace(-1, 1, expected.numel(), dtype=expected.dtype).view_as(expected)
    torch.testing.assert_close(found, expected, rtol=rtol, atol=rtol * float(expected.detach().abs().max()))
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    own = gradients(model)
    named = dict(plain.named_parameters())
    assert own.keys() == named.keys()
    largest = max(float(p.grad.abs().max()) for p in named.values() if p.grad is not None)
    for name, parameter in named.items():
        if parameter.grad is None:
            assert own[name] is None, name
            continue
        # A key's bias moves all scores of a soft-max alike: its gradient is 0, and only rounding is left of it.
        scale = max(float(parameter.grad.abs().max()), 0.1 * largest if "k" in name.split(".")[-2] else 0)
        torch.testing.assert_close(
            own[name], parameter.grad, rtol=rtol, atol=rtol * scale, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "mpnet"])
@pytest.mark.parametrize("lengths", [(20, 32, 5), (62, 20, 45)], ids=str)
def test_scores_and_gradients_equal_the_plain_model(kind, lengths):
    batch = random_batch(lengths, [5, 3, 2])
    compare(tiny_model(kind, dtype=torch.float64), batch, rtol=1e-10)
    compare(tiny_model(kind, dtype=torch.float32), batch, rtol=1e-5)


def test_modernbert_equals_the_plain_model_in_float32():
    # Its own eager attention takes the soft-max in float32, whatever the model's precision.
    compare(tiny_model("modernbert", dtype=torch.float32), random_batch((20, 50), [5, 3]), rtol=1e-5)


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=["32", "64"])
def test_scores_do_not_depend_on_what_shares_the_batch(kind, dtype, atol):
    model = tiny_model(kind, dtype=dtype)
    lengths, entities = [20, 50, 8, 100], [4, 3, 6, 2]
    with torch.no_grad():
        together = model(random_batch(lengths, entities, mentions=1)).logits
        start = 0
        batch = random_batch(lengths, entities, mentions=1)
        for document in range(4):
            alone = model(only(batch, document)[0]).logits
            shared = together[start : start + len(alone)]
            scale = float(alone.abs().max())
            # Rotary angles are float32 in every precision.
            loose = 1e-5 if kind == "modernbert" else atol
            torch.testing.assert_close(alone, shared, rtol=0, atol=loose * scale)
            start += len(alone)
    assert start == len(together)


@pytest.mark.parametrize("kind", ENCODERS)
def test_a_saved_model_comes_back_bit_equal(kind, tmp_path):
    texts = {"relation_names": {"r0": "spouse"}, "relation_descriptions": {"r1": "Who lives where."}}
    model = tiny_model(kind, dtype=torch.float32, **texts)
    priors = Priors(("r0", "r1", "r2"), (0.01, 0.0, 0.02), (0.03, 0.0, 0.02))
    model.decoder = ScoreDecoder(
        DecisionRule(top_k=2), Link("ranking-margin", 0.5), priors, class_weighted=True
    )
    model.config.candidates = [["A", "B"]]
    batch = random_batch([20, 50], [4, 3])
    expected = model(batch).logits
    model.save_pretrained(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".safetensors", ".md"}
    again = RelationModel.from_pretrained(tmp_path).eval()
    assert torch.equal(again(batch).logits, expected)
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert again.relations == RelationVocabulary(("r0", "r1", "r2"), *texts.values())
    assert again.decoder == model.decoder
    assert again.candidates == CandidatePairs(frozenset({("A", "B")}))


def test_another_relation_set_is_refused():
    model = tiny_model("bert")
    model.check_relations(["r0", "r1", "r2"])
    with pytest.raises(ModelError, match="r0, r2 are missing; x are unknown to it"):
        model.check_relations(["r1", "x"])
    with pytest.raises(ModelError, match="another order"):
        model.check_relations(["r1", "r0", "r2"])
    with pytest.raises(ModelError, match="r2 are missing"):
        priors = Priors(("r0", "r1"), (0.1, 0.1), (0.1, 0.1))
        model.decoder = replace(model.decoder, priors=priors)


def test_an_unknown_encoder_is_refused(tmp_path):
    with pytest.raises(EncoderError, match="no such folder"):
        RelationModel.from_encoder(str(tmp_path / "nowhere"), ["r0"])
    with pytest.raises(EncoderError, match=r"config\.json"):
        RelationModel.from_encoder(tmp_path, ["r0"])


def test_an_unknown_architecture_is_refused():
    with pytest.raises(ModelError, match=r"unknown architecture 'docnet'.*nearest: 'docunet'"):
        tiny_model("bert", architecture="docnet")
    with pytest.raises(ModelError, match="relations"):
        RelationModel(RelationConfig(encoder_config=ENCODERS["bert"].to_dict()))


@pytest.mark.shared
@needs_minilm
def test_a_real_encoder_with_its_first_layers(tmp_path):
    model = RelationModel.from_encoder(MINILM, ["r0", "r1"], encoder_layers=2).eval()
    assert len(model.encoder.model.encoder.layer) == 2
    assert model.tokenizer.mask_token == "[MASK]"
    batch = random_batch([30], [3], relations=2)
    expected = model(batch).logits
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path).eval()
    assert torch.equal(again(batch).logits, expected)
    assert again.tokenizer("a b").input_ids == model.tokenizer("a b").input_ids
    with pytest.raises(EncoderError, match="6 layers"):
        RelationModel.from_encoder(MINILM, ["r0"], encoder_layers=7)


def test_a_model_is_not_saved_beside_another_ones_tokenizer(tmp_path):
    saved_model(tmp_path)
    model = reading_model()
    model.tokenizer = None
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        model.save_pretrained(tmp_path)
    RelationModel.from_pretrained(tmp_path)
    with pytest.raises(ModelError, match="push_to_hub"):
        model.save_pretrained(tmp_path / "other", push_to_hub=True)


def typed_model(**changes):
    tokens = {"entity_types": ["A", "B", "C"], "type_tokens": [5, 40, 41, 42]}
    return tiny_model("bert", **tokens | changes)


def test_typed_markers_are_seen_and_survive_saving(tmp_path):
    batch = random_batch([20, 14], [4, 3])
    model = typed_model(dtype=torch.float32)
    assert not torch.equal(
        model(batch).logits, typed_model(dtype=torch.float32, type_tokens=None)(batch).logits
    )
    model.save_pretrained(tmp_path)
    assert torch.equal(RelationModel.from_pretrained(tmp_path)(batch).logits, model(batch).logits)


@pytest.mark.parametrize(
    "changes",
    [
        {"type_tokens": [5]},
        {"type_tokens": [5, 5, 5, 10**6]},
        {"type_tokens": [5, 5, 5, -1]},
        {"markers": False},
    ],
    ids=str,
)
def test_type_tokens_that_do_not_fit_are_refused(changes):
    with pytest.raises(ModelError, match="type_tokens"):
        typed_model(**changes)


def test_a_lexical_weight_that_is_set_later_does_not_spoil_what_is_saved(tmp_path):
    without, with_it = (tiny_model("bert", lexical_weight=weight).float() for weight in (0.0, 0.5))
    without.config.lexical_weight = 0.5
    with_it.lexical.weight = 0.25
    for name, model, weight in (("without", without, None), ("with", with_it, 0.25)):
        model.save_pretrained(tmp_path / name)
        lexical = RelationModel.from_pretrained(tmp_path / name).lexical
        assert (None if lexical is None else lexical.weight) == weight
