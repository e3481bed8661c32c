from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.features import plain_tokens
from tests.unit.models.features.making import byte_level, document_of, documents, patient, word_piece
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from unnoted.data.document import Document, Entity, Mention
from unnoted.errors import DataError
from unnoted.models.features import word_table as words_module
from unnoted.models.features.tokenise import Tokenised, Tokeniser

TOKENIZERS = [(word_piece, "*"), (byte_level, "Ġ*")]


def rows(tokenised: Tokenised) -> list[list[int]]:
    offsets = tokenised.token_offsets
    return [tokenised.tokens[a:b].tolist() for a, b in pairwise(offsets)]


def by_entity(tokenised: Tokenised, column: np.ndarray, entities: list[int]) -> list[list[list[int]]]:
    """What a column says of each document's entities' mentions."""
    found: list[list[list[int]]] = [[[] for _ in range(count)] for count in entities]
    for document, (start, end) in enumerate(pairwise(tokenised.mention_offsets)):
        for row in range(start, end):
            found[document][tokenised.mention_entity[row]].append(int(column[row]))
    return found


def spelt(words: str, *spans: tuple[int, int]) -> str:
    tokenizer = word_piece()
    tokenised = Tokeniser(tokenizer)([document_of(words, *spans)])
    return " ".join(tokenizer.convert_ids_to_tokens(tokenised.tokens.tolist()))


@pytest.mark.parametrize(("tokenizer", "marker"), TOKENIZERS)
@patient
@given(corpus=st.lists(documents(), max_size=4))
def test_ids_and_positions_are_those_of_the_plain_implementation(tokenizer, marker, corpus):
    tokeniser = Tokeniser(tokenizer())
    tokenised = tokeniser(corpus)
    plain = [plain_tokens(document, tokenizer(), marker) for document in corpus]
    counts = [len(document.entities) for document in corpus]
    assert rows(tokenised) == [tokens for tokens, _, _ in plain]
    assert by_entity(tokenised, tokenised.mention_position, counts) == [places for _, places, _ in plain]
    assert by_entity(tokenised, tokenised.mention_end, counts) == [ends for _, _, ends in plain]
    assert by_entity(tokenised, tokenised.mention_sentence, counts) == [
        [[mention.sentence for mention in entity.mentions] for entity in document.entities]
        for document in corpus
    ]
    assert len(tokenised.mention_position) == sum(len(e.mentions) for d in corpus for e in d.entities)
    starts = tokenised.token_offsets.repeat(
        [*tokenised.mention_offsets[1:] - tokenised.mention_offsets[:-1], 0]
    )
    assert (tokenised.tokens[starts + tokenised.mention_position] == tokeniser.marker_token).all()


@patient
@given(corpus=st.lists(documents(), max_size=4))
def test_without_markers_mentions_stand_where_the_plain_implementation_says(corpus):
    tokenised = Tokeniser(word_piece(), markers=False)(corpus)
    plain = [plain_tokens(document, word_piece(), None) for document in corpus]
    counts = [len(document.entities) for document in corpus]
    assert rows(tokenised) == [tokens for tokens, _, _ in plain]
    assert by_entity(tokenised, tokenised.mention_position, counts) == [places for _, places, _ in plain]
    assert by_entity(tokenised, tokenised.mention_end, counts) == [ends for _, _, ends in plain]


def test_without_markers_a_mention_without_a_token_stands_at_the_next_one():
    tokenised = Tokeniser(word_piece(), markers=False)([document_of("a \x07 b \x07", (1, 2), (3, 4))])
    assert tokenised.mention_position.tolist() == [2, 3] == tokenised.mention_end.tolist()
    assert len(tokenised.tokens) == 4


@patient
@given(document=documents())
def test_a_space_before_a_word_changes_nothing_for_the_kind_of_bert(document):
    without = [word_piece().tokenize(word) for sentence in document.sentences for word in sentence]
    with_space = [word_piece().tokenize(" " + word) for sentence in document.sentences for word in sentence]
    assert without == with_space


def test_the_byte_level_kind_sees_whole_words():
    tokenised = Tokeniser(byte_level())([document_of("abc abc", (1, 2))])
    tokens = byte_level().convert_ids_to_tokens(tokenised.tokens.tolist())
    assert tokens == ["<s>", "Ġabc", "Ġ*", "Ġabc", "Ġ*", "</s>"]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 1)], "[CLS] * a * b c [SEP]"),
        ([(0, 1), (1, 2)], "[CLS] * a * * b * c [SEP]"),
        ([(0, 3), (1, 2)], "[CLS] * a * b * c * [SEP]"),
        ([(0, 2), (1, 3)], "[CLS] * a * b * c * [SEP]"),
        ([(0, 2), (0, 3)], "[CLS] * a b * c * [SEP]"),
        ([(0, 3), (2, 3)], "[CLS] * a b * c * [SEP]"),
        ([(0, 1), (0, 1)], "[CLS] * a * b c [SEP]"),
        ([], "[CLS] a b c [SEP]"),
    ],
)
def test_markers_of_neighbouring_nested_overlapping_and_equal_mentions(spans, expected):
    assert spelt("a b c", *spans) == expected


def test_a_word_without_tokens_keeps_its_markers_and_is_counted():
    assert spelt("a \x07 b", (1, 2), (2, 3)) == "[CLS] a * * * b * [SEP]"
    tokenised = Tokeniser(word_piece())([document_of("a \x07 b \x07", (1, 2), (2, 3))])
    assert tokenised.empty_words == 2
    assert tokenised.mention_position.tolist() == [2, 4]


def test_nothing_is_cut_and_the_given_tokenizer_is_left_alone():
    tokenizer = word_piece()
    before = tokenizer.backend_tokenizer.to_str()
    tokeniser = Tokeniser(tokenizer)
    assert len(tokeniser([document_of(" ".join(["ab"] * 1000))]).tokens) == 2002
    assert tokenizer.backend_tokenizer.to_str() == before


def test_no_documents_and_a_document_without_words():
    tokeniser = Tokeniser(word_piece())
    assert rows(tokeniser([])) == []
    assert rows(tokeniser([Document("d", (), ())])) == [[tokeniser.start_token, tokeniser.end_token]]


@patient
@given(corpus=st.lists(documents(), min_size=1, max_size=4))
def test_a_full_table_of_words_is_emptied_without_changing_anything(corpus):
    tokeniser = Tokeniser(word_piece())
    expected = [rows(tokeniser([document])) for document in corpus]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words_module, "WORDS_REMEMBERED", 0)
        assert [rows(tokeniser([document])) for document in corpus] == expected


def test_more_words_than_go_in_one_call():
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    assert len(words) > words_module.WORDS_A_CALL
    document = document_of(" ".join(words), (300, 302))
    tokenised = Tokeniser(word_piece())([document])
    assert rows(tokenised)[0] == plain_tokens(document, word_piece(), "*")[0]


def bare(**specials: str) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel({"a": 0, "<s>": 1, "</s>": 2, "?": 3}, unk_token="?"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="?", **specials)


@pytest.mark.parametrize(
    ("specials", "missing"),
    [
        ({}, "start"),
        ({"bos_token": "<s>"}, "end"),
        ({"bos_token": "<s>", "eos_token": "</s>"}, r"single '\*'"),
    ],
)
def test_a_tokenizer_that_lacks_something_is_refused_by_name(specials, missing):
    with pytest.raises(ValueError, match=f"TokenizersBackend without a {missing}"):
        Tokeniser(bare(**specials))


def test_a_slow_tokenizer_is_refused():
    class Slow:
        cls_token_id = 0

    with pytest.raises(ValueError, match="found Slow, expected a fast one"):
        Tokeniser(Slow())


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            document_of("a b", (1, 3)),
            r"'d': entities\[0\].mentions\[0\]: found words 1 to 3, expected words below 2",
        ),
        (document_of("a b", (0, 1), (1, 1)), r"entities\[1\].*found words 1 to 1"),
        (document_of("a b", (-1, 1)), "found words -1 to 1"),
        (
            Document("d", (("a",),), (Entity((Mention(1, 0, 1, "PER", "a"),)),)),
            "found sentence 1, expected a sentence index below 1",
        ),
        (Document("d", (("a",),), (Entity((Mention(-1, 0, 1, "PER", "a"),)),)), "found sentence -1"),
        (Document("d", (("a",),), (Entity(()),)), "found no mention, expected at least one"),
        (document_of("a \ud800"), r"sentences\[0\]: found '\\ud800', expected words of valid Unicode"),
    ],
)
def test_a_document_that_points_outside_itself_is_refused_and_named(document, message):
    with pytest.raises(DataError, match=message):
        Tokeniser(word_piece())([document_of("a b", (0, 1), id="fine"), document])
