"""Documents → token ids, with `*` around every mention or without, and where each mention stands.

The rules, which are those of DocRED's authors made exact:

* Each word is tokenised by itself, so a word's tokens never depend on its neighbours. No document is cut.
* A `*` stands before the first and after the last word of a mention. Mentions that start at the same word
  share their opening marker, those that end at the same word share their closing one. Between two words, the
  closing marker of the left one comes before the opening marker of the right one. So mentions may nest and
  overlap freely, and every one of them keeps its position: that of its opening marker.
* A word is tokenised with a space before it. BERT-type tokenizers do not see the space. Byte-level ones
  (RoBERTa) do: without it, as in the authors' program, they would read the document as one word without end,
  unlike anything that they were trained on. This is the one place where we part from that program.
* A word may have no token (a control character, for BERT). It is counted; the markers around it still stand.
* Without markers a mention stands from the first token of its words to the last one; a mention whose words
  have no token stands at the token that follows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from unnoted.data.document import Document
from unnoted.models.features.faults import first_fault
from unnoted.models.features.word_table import Ids, Offsets, WordTable

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from transformers import PreTrainedTokenizerBase

MARKER = "*"
"""What stands before and after every mention."""


@dataclass(frozen=True, slots=True)
class Tokenised:
    """D documents one after the other; row d of a ragged column lies between its offsets d and d + 1.

    Attributes:
        tokens: the token ids, with the start and end token of each document.
        token_offsets: [D + 1].
        mention_position: the index, within its document, of each mention's opening marker or first token.
        mention_end: the index, within its document, of each mention's closing marker or last token.
        mention_sentence: the sentence, within its document, that each mention stands in.
        mention_entity: the entity, within its document, that each mention names.
        mention_offsets: [D + 1].
        sentence_tokens: how many tokens, markers included, each sentence has.
        sentence_offsets: [D + 1].
        empty_words: how many words have no token.
    """

    tokens: Ids
    token_offsets: Offsets
    mention_position: Ids
    mention_end: Ids
    mention_sentence: Ids
    mention_entity: Ids
    mention_offsets: Offsets
    sentence_tokens: Ids
    sentence_offsets: Offsets
    empty_words: int


class Tokeniser:
    """Turns documents into token ids and mention positions, by the rules at the head of this file.

    Words repeat, so each different word is tokenised once, and documents are laid out from the table of words
    with array operations. One tokeniser may be used from several threads at once.

    Args:
        tokenizer: a fast tokenizer of transformers. It is copied: its own settings stay as they are.
        markers: whether a marker stands before and after every mention.

    Raises:
        ValueError: if the tokenizer is not a fast one, or lacks a start token, an end token or the marker.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", markers: bool = True) -> None:
        name = type(tokenizer).__name__
        source = getattr(tokenizer, "backend_tokenizer", None)
        if not isinstance(source, Tokenizer):
            raise ValueError(f"tokenizer: found {name}, expected a fast one (one that has a tokenizer.json)")
        # A copy, because many a tokenizer.json cuts and pads, and transformers changes that with every call.
        backend = Tokenizer.from_str(source.to_str())
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = source.encode_special_tokens
        self._words = WordTable(backend)
        self.start_token = _required(name, "start (cls, bos)", tokenizer.cls_token_id, tokenizer.bos_token_id)
        self.end_token = _required(name, "end (sep, eos)", tokenizer.sep_token_id, tokenizer.eos_token_id)
        self.marker_token = _marker_token(name, backend, tokenizer.unk_token_id) if markers else None
        self.pad_token = _required(name, "padding", tokenizer.pad_token_id, self.end_token)
        special = (self.start_token, self.end_token, self.marker_token, backend.encode_special_tokens)
        self.identity = f"{backend.to_str()} {special}"
        """Everything that the token ids depend on, as one string."""

    def __call__(self, documents: Sequence[Document]) -> Tokenised:
        """Tokenise documents, in order.

        Raises:
            DataError: if a mention lies outside its document, or a word is no valid Unicode.
        """
        words = [word for document in documents for sentence in document.sentences for word in sentence]
        try:
            known = self._words.look_up(words)
        except UnicodeEncodeError:
            raise first_fault(documents) from None
        mentions = _Mentions.of(documents)
        opens, closes = np.zeros((2, len(words)), dtype=np.int64)  # whether a mention starts, ends at a word
        if self.marker_token is not None:
            opens[mentions.first_word] = 1
            closes[mentions.last_word] = 1
        pieces = np.diff(known.offsets)[known.rows]
        words_before = _offsets(document.word_count for document in documents)  # [D + 1]
        tokens_before = np.concatenate(([0], np.cumsum(opens + pieces + closes)))  # [W + 1]
        token_offsets = tokens_before[words_before] + 2 * np.arange(len(documents) + 1)
        document_of_word = np.repeat(np.arange(len(documents)), np.diff(words_before))
        word_start = tokens_before[:-1] + 2 * document_of_word + 1  # [W] the opening marker's place, if any

        tokens = np.empty(token_offsets[-1], dtype=np.int32)
        tokens[token_offsets[:-1]] = self.start_token
        tokens[token_offsets[1:] - 1] = self.end_token
        word_end = word_start + opens + pieces  # [W] the closing marker's place, if any
        first, last = word_start[mentions.first_word], word_end[mentions.last_word]  # [M] each
        if self.marker_token is None:
            last = np.maximum(first, last - 1)
        else:
            tokens[first] = tokens[last] = self.marker_token
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        source = np.repeat(known.offsets[known.rows], pieces) + within
        tokens[np.repeat(word_start + opens, pieces) + within] = known.tokens[source]
        before = token_offsets[mentions.document]
        return Tokenised(
            tokens=tokens,
            token_offsets=token_offsets,
            mention_position=(first - before).astype(np.int32),
            mention_end=(last - before).astype(np.int32),
            mention_sentence=mentions.sentence.astype(np.int32),
            mention_entity=mentions.entity.astype(np.int32),
            mention_offsets=_offsets(np.bincount(mentions.document, minlength=len(documents))),
            # Markers stand inside the sentence of their mention.
            sentence_tokens=np.diff(tokens_before[_words_before_sentences(documents)]).astype(np.int32),
            sentence_offsets=_offsets(len(document.sentences) for document in documents),
            empty_words=int((pieces == 0).sum()),
        )


@dataclass(frozen=True, slots=True)
class _Mentions:
    """The mentions of several documents, and their words as indices into the words of all the documents."""

    document: Offsets
    entity: Offsets
    sentence: Offsets
    first_word: Offsets
    last_word: Offsets

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "_Mentions":
        if not all(entity.mentions for document in documents for entity in document.entities):
            raise first_fault(documents)
        rows = np.array(
            [
                (index, number, mention.sentence, mention.start, mention.end)
                for index, document in enumerate(documents)
                for number, entity in enumerate(document.entities)
                for mention in entity.mentions
            ],
            dtype=np.int64,
        )
        document, entity, sentence, start, end = rows.reshape(-1, 5).T
        sentences_before = _offsets(len(document.sentences) for document in documents)
        words_before = _words_before_sentences(documents)
        if ((sentence < 0) | (sentence >= np.diff(sentences_before)[document])).any():
            raise first_fault(documents)
        line = sentences_before[document] + sentence  # among the sentences of all the documents
        if ((start < 0) | (start >= end) | (end > np.diff(words_before)[line])).any():
            raise first_fault(documents)
        return cls(document, entity, sentence, words_before[line] + start, words_before[line] + end - 1)


def _words_before_sentences(documents: Sequence[Document]) -> Offsets:
    """Where each sentence begins among the words of all the documents, and where the last one ends."""
    return _offsets(len(sentence) for document in documents for sentence in document.sentences)


def _offsets(counts: Iterable[int]) -> Offsets:
    """Where each of several lists begins when they stand one after the other, and where the last one ends."""
    return np.cumsum(np.fromiter(chain((0,), counts), dtype=np.int64))


def _required(name: str, role: str, *tokens: int | None) -> int:
    """The first of the token ids that is set."""
    for token in tokens:
        if token is not None:
            return token
    raise ValueError(f"tokenizer: found {name} without a {role} token, expected one that has it")


def _marker_token(name: str, backend: Tokenizer, unknown: int | None) -> int:
    as_word = backend.encode(" " + MARKER, add_special_tokens=False).ids
    if len(as_word) == 1 and as_word[0] != unknown:
        return int(as_word[0])
    return _required(name, f"single {MARKER!r}", backend.token_to_id(MARKER))
