"""Attention averaged over entities as it is made, against that of every mention."""

import pytest
import torch
from tests.reference.batches import random_batch
from transformers import BertConfig, BertModel

from unnoted.models.encoders import (
    DocumentEncoder,
    EncoderError,
    RecurrentConfig,
    RecurrentEncoder,
    crowded_rows,
)


def bert(limit):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=100, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
        max_position_embeddings=limit,
    )  # fmt: skip
    return DocumentEncoder(BertModel(config, add_pooling_layer=False).double().eval())


def recurrent():
    torch.manual_seed(0)
    config = RecurrentConfig(vocab_size=100, hidden_size=16, num_hidden_layers=1)
    return DocumentEncoder(RecurrentEncoder(config).double().eval())


@pytest.mark.parametrize("encoder", [bert(16), bert(24), recurrent()], ids=["16", "24", "recurrent"])
@pytest.mark.parametrize("seed", range(3))
def test_entities_attend_as_the_mean_of_their_mentions(monkeypatch, encoder, seed):
    batch = random_batch([40, 13, 60], [4, 2, 5], seed=seed)
    weights = [parameter for parameter in encoder.parameters() if parameter.requires_grad]

    def attention():
        encoded = encoder(batch)
        rows = encoded.entity_rows(batch)
        gradients = torch.autograd.grad(rows.square().sum(), weights, allow_unused=True)
        return encoded, rows, gradients

    plain, expected, expected_gradients = attention()
    monkeypatch.setattr(crowded_rows, "ROWS_KEPT", 0)
    monkeypatch.setattr(crowded_rows, "ROWS_AT_ONCE", 1)
    crowded, found, gradients = attention()
    real = batch.attention_mask == 1
    torch.testing.assert_close(crowded.states[real], plain.states[real])
    torch.testing.assert_close(found, expected)
    for one, other in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-6)
    with pytest.raises(EncoderError, match="found the attention of entities alone"):
        _ = crowded.rows
