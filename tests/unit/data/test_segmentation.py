"""Raw text into words: nothing is lost and every mention meets word boundaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnoted.data.segmentation import is_split_of, split_text


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
