"""Encoders made from scratch: vocabulary, BPE, word vectors, and their use in a model."""

import gzip
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, set_seed

from unnoted.data.document import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents
from unnoted.models.encoders import BRANConfig, EncoderError, LSTMConfig, LSTMEncoder, load_encoder
from unnoted.models.encoders.from_scratch import ENCODER_KINDS, make_encoder, read_glove, subword_tokenizer
from unnoted.models.tokenization import DocumentTokenizer

GLOVE = Path(__file__).parents[5] / "shared" / "encoders" / "glove.6B.100d.docred.txt"

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
    made = make_encoder(tmp_path / "encoder", iter(DOCUMENTS), vectors=path, min_document_frequency=2)
    vocabulary, weight = words_of(tmp_path / "encoder"), load_encoder(tmp_path / "encoder").embedding.weight
    # `saw` is rare but has a vector; so has `unseen`, for documents to come; `ada` and `fell` are frequent and
    # have none; ADA is not looked up.
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "*"}
    assert set(vocabulary) == special | {"rome", "saw", "ada", "fell", "unseen"}
    assert weight[vocabulary["rome"]].tolist() == [1, 2, 3]
    assert weight[vocabulary["saw"]].tolist() == [4, -5, 6]
    assert weight[vocabulary["*"]].tolist() == [0, 1, 0]
    assert weight[vocabulary["[PAD]"]].tolist() == [0, 0, 0]
    assert weight[vocabulary["ada"]].abs().sum() > 0
    assert made == "6 words, 4 of them with given vectors"


def test_other_words_are_scaled_like_the_given_ones(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("known " + " ".join(["0.02", "-0.02"] * 50) + "\n")
    sentence = tuple(f"w{number}" for number in range(200))
    documents = [Document("1", (sentence, ("known",)), ())]
    make_encoder(tmp_path / "encoder", documents, vectors=path, min_document_frequency=1)
    vocabulary, weight = words_of(tmp_path / "encoder"), load_encoder(tmp_path / "encoder").embedding.weight
    random = weight[[vocabulary[word] for word in sentence]]
    assert random.std().item() == pytest.approx(0.02, rel=0.05)
    assert random.mean().item() == pytest.approx(0, abs=1e-3)


def test_without_vectors_the_weights_are_those_of_the_seed(tmp_path):
    made = make_encoder(tmp_path, DOCUMENTS, min_document_frequency=1, seed=7)
    set_seed(7)
    expected = LSTMEncoder(LSTMConfig(vocab_size=9)).state_dict()
    found = load_encoder(tmp_path).state_dict()
    assert list(found) == list(expected) and all(torch.equal(found[name], expected[name]) for name in found)
    assert made == "5 words"


@pytest.mark.parametrize("kind", ENCODER_KINDS)
def test_each_kind_is_made_in_its_published_size(tmp_path, kind):
    config = ENCODER_KINDS[kind]()
    before = config.to_dict()
    make_encoder(tmp_path, DOCUMENTS, config=config, min_document_frequency=1)
    assert config.to_dict() == before
    encoder = load_encoder(tmp_path).eval()
    output = encoder(torch.tensor([[3, 4, 5]])).last_hidden_state
    assert output.shape == (1, 3, {"bilstm": 256}.get(kind, 128))
    assert "embedding.weight" in dict(encoder.named_parameters())  # nothing is given that could be kept


def test_types_and_entities_are_counted_where_they_are_not_named(tmp_path):
    make_encoder(tmp_path, DOCUMENTS, config=ENCODER_KINDS["bilstm"]())
    config = load_encoder(tmp_path).config
    assert (config.types, config.entities) == (3, 2)
    named = LSTMConfig(hidden_size=8, type_size=2, types=9, entity_size=2, entities=12)
    make_encoder(tmp_path, DOCUMENTS, config=named)
    config = load_encoder(tmp_path).config
    assert (config.types, config.entities) == (9, 12)


def test_vectors_of_none_of_the_words_are_refused(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("Rome 1 2 3\nelse 1 2 3\n")
    with pytest.raises(EncoderError, match="none of its 2 words"):
        make_encoder(tmp_path / "encoder", DOCUMENTS, vectors=path)


@pytest.mark.shared
@pytest.mark.skipif(not GLOVE.exists(), reason="no GloVe file in ../shared")
def test_real_vectors_stay_as_they_are_in_the_published_encoder(tmp_path):
    config = ENCODER_KINDS["bilstm"]()
    make_encoder(tmp_path, generate_documents(20), config=config, vectors=GLOVE)
    encoder = load_encoder(tmp_path)
    assert encoder.config.input_size == 100
    assert "embedding.weight" not in dict(encoder.named_parameters())


LINES = "the 0.5 -1 2e-3\nof 1 2 3\n. . . 4 5 6\nat name@example.org 7 8 9\n\u00a0 1 1 1\n2 0 0 1\n"


def written(folder, text, name="vectors.txt"):
    path = folder / name
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_words_may_have_spaces_and_files_may_be_compressed(tmp_path, name):
    vectors = read_glove(written(tmp_path, LINES, name))
    assert list(vectors.rows) == ["the", "of", ". . .", "at name@example.org", "\u00a0", "2"]
    assert vectors.values.dtype == np.float32
    expected = [[0.5, -1, 2e-3], [1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [0, 0, 1]]
    np.testing.assert_allclose(vectors.values, expected)


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("\n", "\r\n"), lambda text: text.replace("\n", " \n")]
)
def test_line_ends_of_other_programs_are_no_values(tmp_path, change):
    vectors = read_glove(written(tmp_path, change(LINES)))
    assert vectors.values.shape == (6, 3) and vectors.values[1].tolist() == [1, 2, 3]


def test_the_first_of_repeated_words_counts(tmp_path):
    vectors = read_glove(written(tmp_path, "a 1 2\nb 3 4\na 5 6\nb 7 8\na 9 9\n"))
    assert vectors.rows == {"a": 0, "b": 1} and vectors.values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ""),
        ("the\n", "line 1"),
        ("\n", "line 1"),
        ("a 1 2\nb 3\n", "line 2"),
        ("a 1 2\n\n", "line 2"),
        ("a 1 2\n 3 4\n", "line 2"),
        ("a 1 2\nb 3 4 5\n", "line 2"),
        ("400000 3\na 1 2 3\n", "line 2"),
        ("a 1 2\nb 3 x\n", "line 2"),
        ("a 1 nan\n", "line 1"),
        ("a 1 1e999\n", "line 1"),
        (b"a 1 2\n\xff 3 4\n", "0xff"),
    ],
)
def test_what_is_not_of_the_format_is_refused_with_its_line(tmp_path, text, place):
    with pytest.raises(EncoderError) as error:
        read_glove(written(tmp_path, text))
    assert str(error.value).startswith(str(tmp_path)) and place in str(error.value)


def test_a_file_that_is_not_there_or_is_cut_is_refused(tmp_path):
    with pytest.raises(EncoderError, match=r"missing\.txt"):
        read_glove(tmp_path / "missing.txt")
    whole = gzip.compress(LINES.encode())
    (tmp_path / "cut.gz").write_bytes(whole[:-12])
    with pytest.raises(EncoderError, match=r"cut\.gz"):
        read_glove(tmp_path / "cut.gz")


COUNTS = Counter({"low": 9, "lower": 5, "newer": 7, "wide": 2, "*": 1})


def test_frequent_pairs_are_joined_first():
    # 4 special tokens and 10 letters, the start of a word among them; then what stands together most often:
    # the parts of ▁low 14 times each, er 12 times.
    tokens = subword_tokenizer(COUNTS, size=18).get_vocab()
    joined = {token for token in tokens if len(token) > 1 and not token.startswith("[")}
    assert joined == {"lo", "▁lo", "▁low", "er"}


def test_the_marker_is_known_though_no_document_has_it():
    tokenizer = DocumentTokenizer(subword_tokenizer(Counter({"low": 9}), size=30))
    assert tokenizer.marker_token not in (None, tokenizer.pad_token)


@pytest.mark.slow
def test_equal_words_give_equal_tokens_in_any_order_and_in_any_process():
    words = {f"w{number % 97}x{number}": 1 + number % 5 for number in range(400)}
    first = subword_tokenizer(Counter(words), size=200).backend_tokenizer.to_str()
    assert subword_tokenizer(Counter(dict(reversed(words.items()))), 200).backend_tokenizer.to_str() == first
    program = (
        "from collections import Counter\nfrom unnoted.models.encoders.from_scratch import subword_tokenizer\n"
        f"print(subword_tokenizer(Counter({words!r}), 200).backend_tokenizer.to_str(), end='')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == first


def test_an_encoder_of_subwords_knows_them(tmp_path):
    documents = list(generate_documents(20))
    config = BRANConfig(hidden_size=8)
    made = make_encoder(tmp_path, documents, config=config, tokenizer="subwords", subwords=150)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) == load_encoder(tmp_path).config.vocab_size == 150
    assert made == "146 subwords"
    for document, tokenized in zip(documents, DocumentTokenizer(tokenizer)(documents), strict=True):
        assert tokenizer.unk_token_id not in tokenized.tokens  # every letter of theirs is known
        assert len(tokenized.tokens) > document.word_count


def test_a_tokenizer_from_elsewhere_is_taken_as_it_is(tmp_path):
    documents = list(generate_documents(5))
    make_encoder(tmp_path / "one", documents, tokenizer="subwords", subwords=90)
    config, source = LSTMConfig(hidden_size=8), str(tmp_path / "one")
    made = make_encoder(tmp_path / "other", documents, config=config, tokenizer=source)
    assert made == f"86 tokens of {source}"
    one, other = (AutoTokenizer.from_pretrained(tmp_path / name).get_vocab() for name in ("one", "other"))
    assert one == other
    assert load_encoder(tmp_path / "other").config.vocab_size == 90


@pytest.mark.parametrize(
    "options",
    [
        {"tokenizer": "nowhere/at/all"},
        {"tokenizer": "subwords", "vectors": "vectors.txt"},
        {"config": BRANConfig(), "vectors": "vectors.txt"},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(tmp_path, options):
    (tmp_path / "vectors.txt").write_text("the 1 2 3\n")
    if "vectors" in options:
        options = options | {"vectors": tmp_path / options["vectors"]}
    with pytest.raises(EncoderError):
        make_encoder(tmp_path / "x", list(generate_documents(2)), **options)
    assert not (tmp_path / "x").exists()
