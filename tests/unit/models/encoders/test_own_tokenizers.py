"""Tokenizers of made encoders: subwords from the documents, or one from elsewhere."""

import subprocess
import sys
from collections import Counter

import pytest
from transformers import AutoTokenizer

from unnoted.data.synthetic import generate_documents
from unnoted.models.encoders import EncoderError, RecurrentConfig, TransformerConvolutionsConfig, load_encoder
from unnoted.models.encoders.making import MadeEncoder, make_encoder
from unnoted.models.encoders.own_tokenizers import subword_tokenizer
from unnoted.models.tokenization import DocumentTokenizer

COUNTS = Counter({"low": 9, "lower": 5, "newer": 7, "wide": 2, "*": 1})


def test_frequent_pairs_are_joined_first():
    # 4 special tokens and 10 letters, the start of a word among them; then what stands together most often:
    # the parts of ▁low 14 times each, er 12 times.
    tokens = subword_tokenizer(COUNTS, size=18).get_vocab()
    joined = {token for token in tokens if len(token) > 1 and not token.startswith("[")}
    assert joined == {"lo", "▁lo", "▁low", "er"}


def test_a_word_is_the_sum_of_its_tokens_and_case_does_not_count():
    tokenizer = subword_tokenizer(COUNTS, size=25)
    for word in COUNTS:
        assert "".join(tokenizer.tokenize(word.upper())) == "▁" + word
        assert tokenizer.tokenize(" " + word) == tokenizer.tokenize(word)


def test_the_marker_is_known_though_no_document_has_it():
    tokeniser = DocumentTokenizer(subword_tokenizer(Counter({"low": 9}), size=30))
    assert tokeniser.marker_token not in (None, tokeniser.pad_token)


@pytest.mark.slow
def test_equal_words_give_equal_tokens_in_any_order_and_in_any_process():
    words = {f"w{number % 97}x{number}": 1 + number % 5 for number in range(400)}
    first = subword_tokenizer(Counter(words), size=200).backend_tokenizer.to_str()
    assert subword_tokenizer(Counter(dict(reversed(words.items()))), 200).backend_tokenizer.to_str() == first
    program = (
        "from collections import Counter\nfrom unnoted.models.encoders.own_tokenizers import subword_tokenizer\n"
        f"print(subword_tokenizer(Counter({words!r}), 200).backend_tokenizer.to_str(), end='')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == first


def test_an_encoder_of_subwords_knows_them(tmp_path):
    documents = list(generate_documents(20))
    config = TransformerConvolutionsConfig(hidden_size=8)
    made = make_encoder(tmp_path, documents, config=config, tokenizer="subwords", subwords=150)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) == load_encoder(tmp_path).config.vocab_size == 150
    assert made == MadeEncoder(146, tokens="subwords") and str(made) == "146 subwords"
    tokenised = DocumentTokenizer(tokenizer)(documents)
    assert tokenizer.unk_token_id not in tokenised.tokens  # every letter of theirs is known
    assert len(tokenised.tokens) > sum(document.word_count for document in documents)


def test_a_tokenizer_from_elsewhere_is_taken_as_it_is(tmp_path):
    documents = list(generate_documents(5))
    make_encoder(tmp_path / "one", documents, tokenizer="subwords", subwords=90)
    config, source = RecurrentConfig(hidden_size=8), str(tmp_path / "one")
    made = make_encoder(tmp_path / "other", documents, config=config, tokenizer=source)
    assert str(made) == f"86 tokens of {source}"
    one, other = (AutoTokenizer.from_pretrained(tmp_path / name).get_vocab() for name in ("one", "other"))
    assert one == other
    assert load_encoder(tmp_path / "other").config.vocab_size == 90


def test_what_cannot_be_used_is_refused(tmp_path):
    documents, vectors = list(generate_documents(2)), tmp_path / "vectors.txt"
    vectors.write_text("the 1 2 3\n")
    with pytest.raises(EncoderError, match=r"tokenizer '.*nowhere': found no usable tokenizer"):
        make_encoder(tmp_path / "x", documents, tokenizer=str(tmp_path / "nowhere"))
    with pytest.raises(EncoderError, match="expected none: the tokens are subwords, not words"):
        make_encoder(tmp_path / "x", documents, tokenizer="subwords", vectors=vectors)
    with pytest.raises(EncoderError, match="expected none: transformer-convolutions learns its own"):
        make_encoder(tmp_path / "x", documents, config=TransformerConvolutionsConfig(), vectors=vectors)
    assert not (tmp_path / "x").exists()
