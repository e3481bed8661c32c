"""Raw text into words and sentences, such that every mention starts and ends on a word."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import intern

from unnoted.data.document import Sentence

_WORD = re.compile(r"\w+(?:[-'’./]\w+)*|[^\w\s]")
_ENDS = frozenset(".!?")
_CLOSERS = frozenset("\"'’”)]}")
_ABBREVIATIONS = frozenset(
    {"al", "approx", "ca", "cf", "co", "corp", "dr", "e.g", "eg", "etc", "fig", "figs", "i.e", "ie", "inc"}
    | {"jr", "ltd", "mr", "mrs", "ms", "no", "nos", "prof", "sr", "st", "vs"}
)
"""Words after which a full stop ends no sentence."""


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text as sentences of words, with what is needed to find a character span among them."""

    sentences: tuple[Sentence, ...]
    word_starts: Sequence[int]
    word_ends: Sequence[int]
    sentence_starts: Sequence[int]

    def locate(self, start: int, end: int) -> tuple[int, int, int] | None:
        """The (sentence, start, end) in words of a character span; None if no word lies in it.

        Blanks at either end of the span are passed over.
        """
        first = bisect_left(self.word_starts, start)
        last = bisect_right(self.word_ends, end)
        if first >= last:
            return None
        sentence = bisect_right(self.sentence_starts, first) - 1
        offset = self.sentence_starts[sentence]
        return sentence, first - offset, last - offset


def split_text(text: str, spans: Sequence[tuple[int, int]] = (), breaks: Sequence[int] = ()) -> SplitText:
    """Split a text into words and sentences.

    Args:
        text: the raw text.
        spans: character spans of mentions. A word is cut where a span starts or ends inside it; no sentence
            ends inside a span.
        breaks: character positions at which a sentence ends whatever stands there (the end of a title).

    Example:
        >>> split = split_text("H2O2-induced stress rose. It fell.", [(0, 4)])
        >>> split.sentences
        (('H2O2', '-induced', 'stress', 'rose', '.'), ('It', 'fell', '.'))
        >>> split.locate(0, 4)
        (0, 0, 1)
    """
    starts, ends = _word_spans(text, [place for span in spans for place in span])
    forced = {bisect_left(starts, place) for place in breaks}
    return _joined(text, starts, ends, spans, forced, by_rule=True)


def split_at(
    text: str,
    words: Sequence[tuple[int, int]],
    spans: Sequence[tuple[int, int]] = (),
    sentences: Sequence[int] | None = None,
) -> SplitText:
    """Split a text where its source did.

    Args:
        text: the raw text.
        words: where each word stands.
        spans: character spans of mentions; no sentence ends inside one.
        sentences: the characters at which sentences start; by default as `split_text` has it.

    Example:
        >>> split_at("Go! Now", [(0, 3), (4, 7)], (), [0, 4]).sentences
        (('Go!',), ('Now',))
    """
    starts, ends = [start for start, _ in words], [end for _, end in words]
    given = {bisect_left(starts, place) for place in sentences or ()}
    return _joined(text, starts, ends, spans, given, by_rule=sentences is None)


def _joined(
    text: str,
    starts: list[int],
    ends: list[int],
    spans: Sequence[tuple[int, int]],
    given: set[int],
    by_rule: bool,
) -> SplitText:
    """Words joined to sentences, which begin at the given words, and by the rule of `split_text`."""
    words = [intern(text[start:end]) for start, end in zip(starts, ends, strict=True)]
    if not words:
        return SplitText((), (), (), ())
    found = set(_sentence_ends(text, words, starts, ends)) if by_rule else set()
    inside = _inside(spans, starts, ends)
    cuts = sorted(({0} | given | found) - inside - {len(words)})
    sentences = tuple(
        tuple(words[first:last]) for first, last in zip(cuts, [*cuts[1:], len(words)], strict=True)
    )
    return SplitText(sentences, starts, ends, cuts)


def _word_spans(text: str, boundaries: Iterable[int]) -> tuple[list[int], list[int]]:
    """Where words start and end; boundaries that fall inside a word cut it."""
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


def _inside(spans: Iterable[tuple[int, int]], starts: list[int], ends: list[int]) -> set[int]:
    """Indices of the words before which no sentence may end, because a span goes on there."""
    runs = sorted({(bisect_left(starts, start) + 1, bisect_right(ends, end)) for start, end in spans})
    inside: set[int] = set()
    reached = 0
    for first, last in runs:  # each word is added once, however many spans cover it
        inside.update(range(max(first, reached), last))
        reached = max(reached, last)
    return inside


def _sentence_ends(text: str, words: list[str], starts: list[int], ends: list[int]) -> list[int]:
    """Indices of the words before which a sentence ends by punctuation or an empty line."""
    found = []
    if "\n" in text:
        found += [
            index for index in range(1, len(words)) if text.count("\n", ends[index - 1], starts[index]) > 1
        ]
    for index, word in enumerate(words):
        if word not in _ENDS or (word == "." and index and _is_abbreviation(words[index - 1])):
            continue
        after = index + 1
        while after < len(words) and words[after] in _CLOSERS and starts[after] == ends[after - 1]:
            after += 1
        if after < len(words) and starts[after] > ends[after - 1] and not words[after][0].islower():
            found.append(after)
    return found


def _is_abbreviation(word: str) -> bool:
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def is_split_of(text: str, sentences: Sequence[Sentence]) -> bool:
    """Whether the words are the text's pieces in order, with only white space between them.

    Example:
        >>> is_split_of("It fell.", (("It", "fell", "."),)), is_split_of("It fell.", (("It",),))
        (True, False)
    """
    return "".join(text.split()) == "".join("".join(word.split()) for words in sentences for word in words)
