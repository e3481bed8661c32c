from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.batches import random_batch
from tests.reference.features import plain_tokens
from tests.unit.models.factories import byte_level, document_of, documents, patient, word_piece
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from unnoted.data.document import Document, Entity, Mention
from unnoted.errors import DataError
from unnoted.models import tokenization
from unnoted.models.tokenization import DocumentTokenizer, use_typed_markers


def rows(tokenized) -> list[list[int]]:
    return [document.tokens.tolist() for document in tokenized]


def spelled(words: str, *spans: tuple[int, int]) -> str:
    [tokenized] = DocumentTokenizer(word_piece())([document_of(words, *spans)])
    return " ".join(word_piece().convert_ids_to_tokens(tokenized.tokens.tolist()))


@pytest.mark.parametrize(("tokenizer", "marker"), [(word_piece, "*"), (byte_level, "Ġ*"), (word_piece, None)])
@patient
@given(corpus=st.lists(documents(), max_size=4))
def test_equals_the_plain_implementation(tokenizer, marker, corpus):
    tokenized = DocumentTokenizer(tokenizer(), markers=marker is not None)(corpus)
    for found, document in zip(tokenized, corpus, strict=True):
        tokens, first, last = plain_tokens(document, tokenizer(), marker)
        assert found.tokens.tolist() == tokens
        assert found.mention_position.tolist() == list(chain(*first))
        assert found.mention_end.tolist() == list(chain(*last))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 1), (1, 2)], "[CLS] * a * * b * c [SEP]"),
        ([(0, 3), (1, 2)], "[CLS] * a * b * c * [SEP]"),
        ([(0, 2), (1, 3)], "[CLS] * a * b * c * [SEP]"),
        ([(0, 2), (0, 3)], "[CLS] * a b * c * [SEP]"),
        ([(0, 3), (2, 3)], "[CLS] * a b * c * [SEP]"),
        ([(0, 1), (0, 1)], "[CLS] * a * b c [SEP]"),
    ],
)
def test_markers_of_adjacent_nested_overlapping_and_equal_mentions(spans, expected):
    assert spelled("a b c", *spans) == expected


def test_word_without_tokens_keeps_its_markers_and_is_counted():
    assert spelled("a \x07 b", (1, 2), (2, 3)) == "[CLS] a * * * b * [SEP]"
    assert DocumentTokenizer(word_piece())([document_of("a \x07 b \x07", (1, 2))])[0].empty_words == 2


def test_nothing_is_truncated_and_the_tokenizer_is_left_alone():
    before = word_piece().backend_tokenizer.to_str()
    assert len(DocumentTokenizer(word_piece())([document_of(" ".join(["ab"] * 1000))])[0].tokens) == 2002
    assert word_piece().backend_tokenizer.to_str() == before


def test_no_documents_and_a_document_without_words():
    tokenizer = DocumentTokenizer(word_piece())
    assert rows(tokenizer([])) == []
    assert rows(tokenizer([Document("d", (), ())])) == [[tokenizer.start_token, tokenizer.end_token]]


@patient
@given(corpus=st.lists(documents(), min_size=1, max_size=4))
def test_emptying_the_word_table_changes_nothing(corpus):
    tokenizer = DocumentTokenizer(word_piece())
    expected = [rows(tokenizer([document])) for document in corpus]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenization, "MAX_CACHED_WORDS", 0)
        assert [rows(tokenizer([document])) for document in corpus] == expected


def bare(**specials: str) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel({"a": 0, "<s>": 1, "</s>": 2, "?": 3}, unk_token="?"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="?", **specials)


class Slow:
    cls_token_id = 0


@pytest.mark.parametrize(
    ("tokenizer", "lacking"),
    [
        (bare(), "start"),
        (bare(bos_token="<s>"), "end"),
        (bare(bos_token="<s>", eos_token="</s>"), r"'\*'"),
        (Slow(), "fast"),
    ],
)
def test_unusable_tokenizer_is_refused(tokenizer, lacking):
    with pytest.raises(ValueError, match=lacking):
        DocumentTokenizer(tokenizer)


def mention(*place: int) -> tuple[Entity, ...]:
    return (Entity((Mention(*place, "PER", "a"),)),)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (document_of("a b", (1, 3)), "entities[0].mentions[0].start/end"),
        (document_of("a b", (0, 1), (1, 1)), "entities[1].mentions[0].start/end"),
        (document_of("a b", (-1, 1)), "entities[0].mentions[0].start/end"),
        (Document("d", (("a",),), mention(1, 0, 1)), "entities[0].mentions[0].sentence"),
        (Document("d", (("a",),), mention(-1, 0, 1)), "entities[0].mentions[0].sentence"),
        (Document("d", (("a",),), (Entity(()),)), "entities[0]"),
        (document_of("a \ud800"), "sentence 0"),
    ],
)
def test_document_that_points_outside_itself_is_located(document, field):
    with pytest.raises(DataError) as caught:
        DocumentTokenizer(word_piece())([document_of("a b", (0, 1), id="fine"), document])
    assert (caught.value.defect.document, caught.value.defect.field) == ("d", field)


def test_typed_markers_replace_the_opening_marker_of_each_mention():
    batch = random_batch([20, 14], [4, 3])
    tokens = [45, 46, 47, 48]
    typed = use_typed_markers(batch, tokens).input_ids
    expected = batch.input_ids.clone()
    mentions = zip(
        batch.mention_document.tolist(),
        batch.mention_position.tolist(),
        batch.mention_type.tolist(),
        strict=True,
    )
    for document, position, kind in mentions:
        expected[document, position] = tokens[kind]
    assert torch.equal(typed, expected)


def metaspace() -> PreTrainedTokenizerFast:
    pieces = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[PAD]",
        "*",
        "▁",
        "p",
        "e",
        "r",
        "s",
        "o",
        "n",
        "g",
        "▁o",
        "▁or",
        "person",
    ]
    backend = Tokenizer(
        models.BPE({piece: i for i, piece in enumerate(pieces)}, [("▁", "o"), ("▁o", "r")], unk_token="[UNK]")
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def test_typed_markers_share_the_marker_of_the_tokenizer_and_skip_bare_word_starts():
    # SentencePiece splits " *" into "▁" and "*": neither the marker nor a type may become "▁".
    tokenizer = DocumentTokenizer(metaspace())
    opening = metaspace().convert_ids_to_tokens(tokenizer.type_tokens(("PER", "ORG", "中")))
    assert opening == ["*", "p", "▁or", "*"]
    assert tokenizer.type_tokens(())[0] == tokenizer.marker_token


def test_typed_markers_need_markers():
    with pytest.raises(ValueError, match="markers"):
        DocumentTokenizer(word_piece(), markers=False).type_tokens(("PER",))
