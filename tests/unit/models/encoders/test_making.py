"""Encoders made on the spot: their words, their vectors, and their use in a model."""

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, set_seed

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents
from unnoted.models.encoders import EncoderError, RecurrentConfig, RecurrentEncoder, load_encoder
from unnoted.models.encoders.convolutional_attention import ConvolutionalAttentionConfig
from unnoted.models.encoders.making import ENCODER_KINDS, MadeEncoder, make_encoder

SHARED = Path(__file__).parents[4] / "shared" / "encoders" / "glove.6B.100d.docred.txt"

ENTITIES = (
    Entity((Mention(0, 0, 1, "PER", "Ada"),)),
    Entity((Mention(0, 2, 3, "LOC", "Rome"), Mention(1, 0, 1, "ORG", "Rome"))),
)
DOCUMENTS = [
    Document("1", (("Ada", "saw", "Rome"), ("Rome", "fell")), ENTITIES),
    Document("2", (("Ada", "fell"),), ENTITIES[:1]),
]


def words_of(folder):
    return AutoTokenizer.from_pretrained(folder).get_vocab()


def test_given_vectors_are_put_in_their_rows(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("rome 1 2 3\nADA 9 9 9\nsaw 4 -5 6\nrome 7 7 7\n* 0 1 0\nunseen 1 1 1\n")
    made = make_encoder(tmp_path / "encoder", iter(DOCUMENTS), vectors=path, rarest=2)
    vocabulary, weight = words_of(tmp_path / "encoder"), load_encoder(tmp_path / "encoder").embedding.weight
    # `saw` is rare but has a vector; so has `unseen`, for documents to come; `ada` and `fell` are frequent and
    # have none; ADA is not looked up.
    assert set(vocabulary) == {
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "*",
        "rome",
        "saw",
        "ada",
        "fell",
        "unseen",
    }
    assert weight[vocabulary["rome"]].tolist() == [1, 2, 3]
    assert weight[vocabulary["saw"]].tolist() == [4, -5, 6]
    assert weight[vocabulary["*"]].tolist() == [0, 1, 0]
    assert weight[vocabulary["[PAD]"]].tolist() == [0, 0, 0]
    assert weight[vocabulary["ada"]].abs().sum() > 0
    assert made == MadeEncoder(words=6, found=4, repeated=1)
    assert str(made) == "6 words, 4 of them with given vectors; 1 repeated in the file, the first counts"


def test_other_words_are_scaled_like_the_given_ones(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("known " + " ".join(["0.02", "-0.02"] * 50) + "\n")
    sentence = tuple(f"w{number}" for number in range(200))
    documents = [Document("1", (sentence, ("known",)), ())]
    make_encoder(tmp_path / "encoder", documents, vectors=path, rarest=1)
    vocabulary, weight = words_of(tmp_path / "encoder"), load_encoder(tmp_path / "encoder").embedding.weight
    random = weight[[vocabulary[word] for word in sentence]]
    assert random.std().item() == pytest.approx(0.02, rel=0.05)
    assert random.mean().item() == pytest.approx(0, abs=1e-3)


def test_without_vectors_the_weights_are_those_of_the_seed(tmp_path):
    made = make_encoder(tmp_path, DOCUMENTS, rarest=1, seed=7)
    set_seed(7)
    expected = RecurrentEncoder(RecurrentConfig(vocab_size=9)).state_dict()
    found = load_encoder(tmp_path).state_dict()
    assert list(found) == list(expected) and all(torch.equal(found[name], expected[name]) for name in found)
    assert made == MadeEncoder(words=5) and str(made) == "5 words, 0 of them with given vectors"


@pytest.mark.parametrize("kind", ENCODER_KINDS)
def test_each_kind_is_made_in_its_published_size(tmp_path, kind):
    config = ENCODER_KINDS[kind]()
    before = config.to_dict()
    make_encoder(tmp_path, DOCUMENTS, config=config, rarest=1)
    assert config.to_dict() == before
    encoder = load_encoder(tmp_path).eval()
    output = encoder(torch.tensor([[3, 4, 5]])).last_hidden_state
    assert output.shape == (1, 3, {"bilstm": 256}.get(kind, 128))
    assert "embedding.weight" in dict(encoder.named_parameters())  # nothing is given that could be kept


def test_types_and_entities_are_counted_where_they_are_not_named(tmp_path):
    make_encoder(tmp_path, DOCUMENTS, config=ENCODER_KINDS["bilstm"]())
    config = load_encoder(tmp_path).config
    assert (config.types, config.entities) == (3, 2)
    named = RecurrentConfig(hidden_size=8, type_size=2, types=9, entity_size=2, entities=12)
    make_encoder(tmp_path, DOCUMENTS, config=named)
    config = load_encoder(tmp_path).config
    assert (config.types, config.entities) == (9, 12)


def test_given_vectors_of_another_size_are_projected_by_the_convolutional_one(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("rome 1 2 3\n")
    make_encoder(
        tmp_path / "encoder", DOCUMENTS, config=ConvolutionalAttentionConfig(hidden_size=8), vectors=path
    )
    encoder = load_encoder(tmp_path / "encoder").eval()
    assert encoder.config.input_size == 3
    assert encoder(torch.tensor([[3, 4, 5]])).last_hidden_state.shape == (1, 3, 8)


def test_vectors_of_none_of_the_words_are_refused(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("Rome 1 2 3\nelse 1 2 3\n")
    with pytest.raises(
        EncoderError, match="found vectors of 2 words, none of them among the documents' 4 words"
    ):
        make_encoder(tmp_path / "encoder", DOCUMENTS, vectors=path)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="no GloVe file in ../shared")
def test_real_vectors_stay_as_they_are_in_the_published_encoder(tmp_path):
    config = ENCODER_KINDS["bilstm"]()
    made = make_encoder(tmp_path, generate_documents(20), config=config, vectors=SHARED)
    encoder = load_encoder(tmp_path)
    assert 50 < made.found <= made.words and encoder.config.input_size == 100
    assert "embedding.weight" not in dict(encoder.named_parameters())
