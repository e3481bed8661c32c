"""The encoder with 8-bit matrix products: near the exact one, chosen where it is faster, never stale."""

from copy import deepcopy

import pytest
import torch
from tests.making import eight_bits
from tests.unit.inference.making import corpus, reading_model, saved_model

from unnoted.inference import Extractor, extractor
from unnoted.models.encoders import packed_bert
from unnoted.models.encoders.packed_bert import Int8Bert, PackedBert


@pytest.fixture
def model(tmp_path):
    return saved_model(tmp_path / "model")


def scores_of(extractor):
    found = []
    list(extractor.extract(corpus(), on_scores=lambda scored: found.append(torch.from_numpy(scored.score))))
    return torch.cat([each.flatten() for each in found])


@eight_bits
def test_scores_of_are_near_the_exact_ones(model):
    exact, rounded = (Extractor(model, device="cpu", backend=b) for b in ("torch", "int8"))
    assert exact.backend == "torch" and rounded.backend == "int8"
    difference = (scores_of(exact) - scores_of(rounded)).abs()
    assert 0 < difference.mean() < 0.01  # of random weights, 16 wide; a trained encoder has far less


@eight_bits
def test_a_document_does_not_depend_on_its_neighbours(model):
    rounded = Extractor(model, device="cpu", backend="int8")
    run, documents = rounded.model.encoder.runner, [torch.randint(5, 30, (n,)) for n in (40, 7, 19)]
    together = run._packed._run_row(documents, torch.zeros(3, 1, dtype=torch.int64))[0]
    alone = [run._packed._run_row([ids], torch.zeros(1, 1, dtype=torch.int64))[0] for ids in documents]
    torch.testing.assert_close(together, torch.cat(alone), rtol=0, atol=1e-5)


@eight_bits
@torch.no_grad()
def test_changed_weights_are_seen():
    encoder = reading_model(torch.float32).encoder
    run, ids = Int8Bert(encoder.model), torch.randint(5, 30, (2, 11))
    given = {"input_ids": ids}, None, torch.zeros(2, 1, dtype=torch.int64)
    before, rows = run(*given)
    assert rows.shape[:1] == (2,)
    encoder.model.encoder.layer[1].output.dense.weight.mul_(3)
    after, _ = run(*given)
    assert not torch.allclose(before, after, atol=1e-3)
    exact, _ = PackedBert(encoder.model)(*given)
    assert (after - exact).norm() < 0.05 * exact.norm() < (before - exact).norm()


@eight_bits
@torch.no_grad()
def test_a_model_can_be_copied(model):
    rounded = Extractor(model, device="cpu", backend="int8")
    copied = Extractor(deepcopy(rounded.model))
    assert copied.backend == "int8" and scores_of(copied).equal(scores_of(rounded))
    copied.model.encoder.model.encoder.layer[0].output.dense.weight.mul_(2)
    assert not scores_of(copied).equal(scores_of(rounded))


def test_the_default_is_exact_where_nothing_is_gained(model, monkeypatch):
    assert Extractor(model, device="cpu").backend == "torch"  # 16 wide
    monkeypatch.setattr(extractor, "MIN_INT8_WIDTH", 16)
    monkeypatch.setattr(packed_bert, "supports_int8", lambda: False)
    assert Extractor(model, device="cpu").backend == "torch"
    with pytest.raises(ValueError, match="int8"):
        Extractor(model, device="cpu", backend="int8")


@eight_bits
def test_the_default_has_8_bits_where_they_are_faster(model, monkeypatch):
    monkeypatch.setattr(extractor, "MIN_INT8_WIDTH", 16)
    assert Extractor(model, device="cpu").backend == "int8"
    assert Extractor(model, device="cpu", backend="torch").backend == "torch"
