"""Raw text to words: nothing is lost, mentions meet word boundaries, and words are found in the text again."""

import time
from bisect import bisect_left, bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import text_documents

from unnoted.data import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents
from unnoted.data.tokenization import _WORD, MentionLocator, is_split_of, split_text, word_spans


@given(st.text(max_size=80), st.data())
def test_words_are_the_text_and_mentions_meet_them(text, data):
    place = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(place, place).filter(lambda s: s[0] < s[1]), max_size=6))
    breaks = data.draw(st.lists(place, max_size=2))
    split = split_text(text, spans, breaks)
    assert is_split_of(text, split.sentences)
    assert all(split.sentences)
    for start, end in spans:
        located = split.locate(start, end)
        if located is None:
            assert not text[start:end].strip()
        else:
            sentence, first, last = located
            covered = split.sentences[sentence][first:last]
            assert "".join(covered) == "".join(text[start:end].split())


@given(
    st.text(st.sampled_from("ab. !-\n"), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6),
)
def test_words_and_sentences_equal_a_plain_loop(text, spans):
    spans = [(a, b) for a, b in spans if a < b <= len(text)]
    words = [match.span() for match in _WORD.finditer(text)]
    for place in [place for span in spans for place in span]:
        words = [part for a, b in words for part in ([(a, place), (place, b)] if a < place < b else [(a, b)])]
    starts, ends = [a for a, _ in words], [b for _, b in words]
    inside = {at for a, b in spans for at in range(bisect_left(starts, a) + 1, bisect_right(ends, b))}
    split = split_text(text, spans)
    assert [word for sentence in split.sentences for word in sentence] == [text[a:b] for a, b in words]
    assert list(split.word_starts) == (starts if words else [])
    assert not inside & set(split.sentence_starts)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rose. It fell.", ["It rose .", "It fell ."]),
        ("Dr. Lorne met J. Bo. He left!", ["Dr . Lorne met J . Bo .", "He left !"]),
        ("It was 3.5 mg/kg. 'Why?' She left.", ["It was 3.5 mg/kg .", "' Why ? '", "She left ."]),
        ("et al. showed e.g. this. and that", ["et al . showed e.g . this . and that"]),
        ("A title\n\nA text", ["A title", "A text"]),
        ("IL-6-induced (p<0.05)", ["IL-6-induced ( p < 0.05 )"]),
        ("", []),
    ],
)
def test_sentences(text, sentences):
    assert [" ".join(words) for words in split_text(text).sentences] == sentences


def test_no_sentence_ends_inside_a_mention():
    text = "We saw E. coli! Twice. Fine."
    assert len(split_text(text).sentences) == 3
    assert len(split_text(text, [(7, 21)]).sentences) == 2


def test_thousands_of_overlapping_mentions_take_linear_time():
    text = "ab " * 100_000
    spans = [(3 * number, len(text) - 1) for number in range(2000)]
    began = time.process_time()
    split = split_text(text, spans)
    assert time.process_time() - began < 3
    assert split.locate(*spans[7]) == (0, 7, 100_000)


@given(text_documents())
def test_mentions_are_found_in_the_text(document):
    locator = MentionLocator(document)
    for entity in document.entities:
        for (start, end), mention in zip(locator.spans(entity), entity.mentions, strict=True):
            text = document.text[start:end]
            assert "".join(text.split()) == "".join("".join(document.words_of(mention)).split())
            assert text == text.strip()


def test_without_text_there_are_no_character_spans():
    (document,) = generate_documents(1)
    assert document.text is None and MentionLocator(document).spans(document.entities[0]) == ()


def test_a_word_of_white_space_has_an_empty_span():
    blank, around = Entity((Mention(0, 2, 3, "X", " "),)), Entity((Mention(0, 0, 3, "X", "a b"),))
    document = Document("d", (("a", "b", " "),), (blank, around), text="a b ")
    assert word_spans(document, document.text) == [[(0, 1), (2, 3), (3, 3)]]
    locator = MentionLocator(document)
    assert (locator.spans(blank), locator.spans(around)) == (((3, 3),), ((0, 3),))
    only = Document("d", ((" ",),), (Entity((Mention(0, 0, 1, "X", " "),)),), text=" ")
    assert MentionLocator(only).spans(only.entities[0]) == ((0, 0),)
