"""Tokenization of raw text into sentences of words, and the alignment of words with characters.

Every mention starts and ends on a word boundary: a word is split where a mention starts or ends inside it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import TypeAlias

from unnoted.data.document import Document, Entity, Sentence

Span: TypeAlias = tuple[int, int]
"""Start and end (exclusive), in characters of a text."""

_WORD = re.compile(r"\w+(?:[-'’./]\w+)*|[^\w\s]")
_SENTENCE_ENDS = frozenset(".!?")
_CLOSERS = frozenset("\"'’”)]}")
_ABBREVIATIONS = frozenset(
    {"al", "approx", "ca", "cf", "co", "corp", "dr", "e.g", "eg", "etc", "fig", "figs", "i.e", "ie", "inc"}
    | {"jr", "ltd", "mr", "mrs", "ms", "no", "nos", "prof", "sr", "st", "vs"}
)


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text as sentences of words, with the characters of each word."""

    sentences: tuple[Sentence, ...]
    word_starts: Sequence[int]
    word_ends: Sequence[int]
    sentence_starts: Sequence[int]

    def locate(self, start: int, end: int) -> tuple[int, int, int] | None:
        """The (sentence, start, end) in words of a character span; None if it contains no word.

        White space at either end of the span is ignored.
        """
        first = bisect_left(self.word_starts, start)
        last = bisect_right(self.word_ends, end)
        if first >= last:
            return None
        sentence = bisect_right(self.sentence_starts, first) - 1
        offset = self.sentence_starts[sentence]
        return sentence, first - offset, last - offset


def split_text(
    text: str,
    spans: Sequence[Span] = (),
    breaks: Sequence[int] = (),
    words: Sequence[Span] | None = None,
    by_rule: bool = True,
) -> SplitText:
    """Split a text into words and sentences.

    Args:
        text: the raw text.
        spans: the characters of mentions. A word is split where a span starts or ends inside it; no sentence
            ends inside a span.
        breaks: characters at which a sentence ends in any case (the end of a title).
        words: the characters of each word, where the source knows them.
        by_rule: end sentences after punctuation and empty lines too.

    Example:
        >>> split = split_text("H2O2-induced stress rose. It fell.", [(0, 4)])
        >>> split.sentences
        (('H2O2', '-induced', 'stress', 'rose', '.'), ('It', 'fell', '.'))
        >>> split.locate(0, 4)
        (0, 0, 1)
        >>> split_text("Go! Now", words=[(0, 3), (4, 7)], breaks=[4]).sentences
        (('Go!',), ('Now',))
    """
    if words is None:
        starts, ends = _find_words(text, [place for span in spans for place in span])
    else:
        starts, ends = [start for start, _ in words], [end for _, end in words]
    if not starts:
        return SplitText((), (), (), ())
    pieces = [intern(text[start:end]) for start, end in zip(starts, ends, strict=True)]
    forced = {bisect_left(starts, place) for place in breaks}
    found = set(_find_sentence_starts(text, pieces, starts, ends)) if by_rule else set()
    cuts = sorted(({0} | forced | found) - _words_inside(spans, starts, ends) - {len(pieces)})
    sentences = tuple(
        tuple(pieces[first:last]) for first, last in zip(cuts, [*cuts[1:], len(pieces)], strict=True)
    )
    return SplitText(sentences, starts, ends, cuts)


def _find_words(text: str, boundaries: Iterable[int]) -> tuple[list[int], list[int]]:
    """Starts and ends of words, which boundaries split."""
    starts: list[int] = []
    ends: list[int] = []
    cuts = sorted(set(boundaries))
    next_cut = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while next_cut < len(cuts) and cuts[next_cut] <= start:
            next_cut += 1
        while next_cut < len(cuts) and cuts[next_cut] < end:
            starts.append(start)
            ends.append(start := cuts[next_cut])
            next_cut += 1
        starts.append(start)
        ends.append(end)
    return starts, ends


def _words_inside(spans: Iterable[Span], starts: list[int], ends: list[int]) -> set[int]:
    """Indices of words that continue a span: no sentence starts with them."""
    runs = sorted({(bisect_left(starts, start) + 1, bisect_right(ends, end)) for start, end in spans})
    inside: set[int] = set()
    reached = 0
    for first, last in runs:  # each word is added once, however many spans cover it
        inside.update(range(max(first, reached), last))
        reached = max(reached, last)
    return inside


def _find_sentence_starts(text: str, words: list[str], starts: list[int], ends: list[int]) -> list[int]:
    """Indices of words after an empty line, or after punctuation that ends a sentence."""
    found = []
    if "\n" in text:
        found += [
            index for index in range(1, len(words)) if text.count("\n", ends[index - 1], starts[index]) > 1
        ]
    for index, word in enumerate(words):
        if word not in _SENTENCE_ENDS:
            continue
        before = words[index - 1] if index else ""
        if word == "." and (before.lower() in _ABBREVIATIONS or (len(before) == 1 and before.isupper())):
            continue
        after = index + 1
        while after < len(words) and words[after] in _CLOSERS and starts[after] == ends[after - 1]:
            after += 1
        if after < len(words) and starts[after] > ends[after - 1] and not words[after][0].islower():
            found.append(after)
    return found


def is_split_of(text: str, sentences: Sequence[Sentence]) -> bool:
    """Whether the words are the pieces of the text in order, with only white space between them.

    Example:
        >>> is_split_of("It fell.", (("It", "fell", "."),)), is_split_of("It fell.", (("It",),))
        (True, False)
    """
    return "".join(text.split()) == "".join("".join(word.split()) for words in sentences for word in words)


def word_spans(document: Document, text: str) -> list[list[Span]]:
    """The characters of each word of each sentence in a text whose pieces the words are.

    A word of white space only has an empty span.

    Example:
        >>> document = Document("1", (("It", "fell", "."), ("So", "what", "?")), (), (), "It fell. So what?")
        >>> word_spans(document, document.text)[1]
        [(9, 11), (12, 16), (16, 17)]
    """
    # Only white space lies between words: the letters of the words are the letters of the text.
    letters = [place for place, letter in enumerate(text) if not letter.isspace()]
    found = []
    reached = 0
    end = 0
    for sentence in document.sentences:
        spans = []
        for word in sentence:
            length = len("".join(word.split()))
            start = letters[reached] if length else end
            reached += length
            end = letters[reached - 1] + 1 if length else end
            spans.append((start, end))
        found.append(spans)
    return found


class MentionLocator:
    """Finds mentions and sentences in the text of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @cached_property
    def _words(self) -> list[list[Span]] | None:
        text = self._document.text
        return None if text is None else word_spans(self._document, text)

    def spans(self, entity: Entity) -> tuple[Span, ...]:
        """The characters of each mention of an entity; none if the document has no text."""
        if self._words is None:
            return ()
        found = []
        for mention in entity.mentions:
            covered = self._words[mention.sentence][mention.start : mention.end]
            solid = [
                word for word in covered if word[0] < word[1]
            ] or covered  # that have letters, if one has
            found.append((solid[0][0], solid[-1][1]))
        return tuple(found)

    def sentence(self, number: int) -> str:
        """A sentence as it stands in the text; its words with blanks between them if the document has no text."""
        if self._words is None or self._document.text is None:
            return " ".join(self._document.sentences[number])
        words = self._words[number]
        return self._document.text[words[0][0] : words[-1][1]] if words else ""
