import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from tests.reference.batches import ENCODERS, SIZES, random_batch, tiny_model
from transformers import AlbertConfig, AutoModel, DistilBertConfig, ElectraConfig, EuroBertConfig, FNetConfig

from unnoted.models.encoders import DocumentEncoder, EncoderError
from unnoted.models.encoders.attention_rows import attention_rows
from unnoted.models.pooling import segment_mean

OTHERS = {
    "albert": AlbertConfig(**SIZES, embedding_size=8, max_position_embeddings=32),
    "electra": ElectraConfig(**SIZES, embedding_size=8, max_position_embeddings=32),
    "distilbert": DistilBertConfig(
        vocab_size=50,
        dim=16,
        n_layers=2,
        n_heads=4,
        hidden_dim=24,
        max_position_embeddings=32,
        pad_token_id=0,
    ),
    "eurobert, whose heads share keys": EuroBertConfig(
        **SIZES,
        num_key_value_heads=2,
        max_position_embeddings=32,
        bos_token_id=2,
        eos_token_id=3,
        mask_token_id=4,
    ),
}
FUSED = {"bert", "roberta", "modernbert", *OTHERS}


def build(config, **options):
    torch.manual_seed(0)
    model = AutoModel.from_config(copy.deepcopy(config), **options).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def test_rows_equal_the_rows_of_the_whole_matrix():
    query, key = torch.randn(2, 2, 3, 7, 4, dtype=torch.float64)
    positions = torch.tensor([[0, 6, 6], [3, 1, 0]])
    matrix = (query @ key.mT * 0.7).softmax(-1)  # [B, H, T, T]
    expected = torch.stack([rows[:, chosen] for rows, chosen in zip(matrix, positions, strict=True)])
    torch.testing.assert_close(attention_rows(query, key, positions, scaling=0.7), expected)


def test_rows_in_bfloat16_stay_near_those_in_float32():
    query, key = torch.randn(2, 2, 3, 40, 16, generator=torch.Generator().manual_seed(0))
    positions = torch.tensor([[0, 39], [3, 1]])
    found = attention_rows(query.bfloat16(), key.bfloat16(), positions)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, attention_rows(query, key, positions), rtol=0.1, atol=1e-3)


@pytest.mark.parametrize("kind", [*ENCODERS, *OTHERS])
def test_rows_and_states_are_those_of_eager_attention(kind):
    config = {**ENCODERS, **OTHERS}[kind]
    model = build(config)
    plain = build(config, attn_implementation="eager")
    plain.load_state_dict(model.state_dict())
    batch = random_batch([20, 11, 28], [4, 3, 5])
    encoder = DocumentEncoder(model)
    encoded = encoder(batch)
    expected = plain(input_ids=batch.input_ids, attention_mask=batch.attention_mask, output_attentions=True)
    rows = expected.attentions[-1][batch.mention_document, :, batch.mention_position]
    means = segment_mean(rows, batch.mention_entity, len(batch.entity_document))
    torch.testing.assert_close(encoded.entity_attention, means, rtol=1e-4, atol=1e-6)
    for document, length in enumerate(batch.lengths):
        torch.testing.assert_close(
            encoded.states[document, :length],
            expected.last_hidden_state[document, :length],
            rtol=1e-4,
            atol=1e-5,
        )
    assert encoder._gives_rows is (kind in FUSED)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_rows_have_no_dropout_in_training(kind):
    encoder = tiny_model(kind).encoder
    batch = random_batch([12], [3])
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    expected = encoder.eval()(batch).entity_attention
    for module in encoder.model.encoder.layer[-1].attention.self.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    torch.testing.assert_close(encoder.train()(batch).entity_attention, expected)


def test_causal_rows_see_only_what_stands_before():
    query = torch.randn(1, 2, 5, 4)
    rows = attention_rows(query, query, torch.tensor([[2]]), is_causal=True)
    assert rows[..., 3:].abs().sum() == 0
    torch.testing.assert_close(rows.sum(-1), torch.ones(1, 2, 1))


def test_an_additive_mask_is_added():
    query = torch.randn(2, 1, 3, 4)
    mask = torch.tensor([0.0, 0.0, torch.finfo(torch.float32).min]).expand(2, 1, 3, 3)
    assert attention_rows(query, query, torch.tensor([[0, 2], [1, 1]]), mask)[..., 2].abs().max() == 0


def test_threads_do_not_get_each_others_rows():
    encoder = tiny_model("bert").encoder
    batches = [random_batch([10 + seed], [3], seed=seed) for seed in range(8)]
    with torch.no_grad():
        expected = [encoder(batch).entity_attention for batch in batches]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda batch: encoder(batch).entity_attention, batches * 4))
    for one, other in zip(found, expected * 4, strict=True):
        assert torch.equal(one, other)


def test_an_encoder_without_attention_is_refused():
    model = AutoModel.from_config(
        FNetConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, intermediate_size=24)
    )
    with pytest.raises(EncoderError, match="FNetModel"):
        DocumentEncoder(model).prepare()
