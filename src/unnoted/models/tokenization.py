"""Documents → token ids, with `*` around every mention, and the token positions of the mentions.

The rules are those of DocRED's authors, made exact:

* Each word is tokenized by itself, so a word's tokens never depend on its neighbours. No document is truncated.
* A `*` stands before the first and after the last word of a mention. Mentions that start at the same word
  share their opening marker, those that end at the same word their closing one. Between two words, the closing
  marker of the left one comes before the opening marker of the right one. So mentions may nest and overlap,
  and each keeps its position: that of its opening marker.
* A word is tokenized with a space before it. WordPiece ignores the space; byte-level BPE (RoBERTa) needs it:
  without it, as in the authors' program, the document would be one word without end.
* A word may have no token (a control character, for BERT). It is counted; the markers around it stay.
* Without markers a mention extends from the first token of its words to the last one; a mention whose words
  have no token is at the token that follows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from unnoted.data.document import Document
from unnoted.errors import DataError, Defect, Kind
from unnoted.models.batch import Batch
from unnoted.utils import short_repr

if TYPE_CHECKING:  # transformers takes seconds to import, and is needed only with a model
    from transformers import PreTrainedTokenizerBase

Ids: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]

MARKER = "*"
"""The token before and after every mention."""

TYPE_WORDS = {
    "per": "person",
    "org": "organization",
    "loc": "place",
    "gpe": "place",
    "misc": "thing",
    "num": "number",
}
"""The words for common abbreviations of entity types; any other type is its own word."""

WORD_STARTS = "\u2581\u0120"
"""What SentencePiece and byte-level BPE write where a word begins."""

WORDS_PER_CALL = 256
"""Words that go to the tokenizer as one sequence: enough to amortise its overhead, few enough to parallelise."""

MAX_CACHED_WORDS = 1 << 20
"""The table is emptied beyond this many distinct words, so that a stream of documents cannot fill the memory."""


class WordTokens(NamedTuple):
    """The tokens of some words: `tokens[offsets[row] : offsets[row + 1]]` for each row; never modified."""

    rows: Offsets
    tokens: Ids
    offsets: Offsets


class WordTable:
    """The tokens of every word seen so far; safe to use from several threads.

    Args:
        backend: a tokenizer that neither truncates nor pads.

    Example:
        >>> from tokenizers import models, pre_tokenizers
        >>> backend = Tokenizer(models.WordPiece({"[UNK]": 0, "run": 1, "##s": 2}, unk_token="[UNK]"))
        >>> backend.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> found = WordTable(backend).look_up(["runs", "run", "runs"])
        >>> found.rows.tolist(), found.offsets.tolist(), found.tokens.tolist()
        ([0, 1, 0], [0, 2, 3], [1, 2, 1])
    """

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend
        self._lock = Lock()
        self._rows: dict[str, int] = {}
        # Replaced when words are added, never written to: callers may keep what they were given.
        self._tokens: Ids = np.zeros(0, dtype=np.int32)
        self._offsets: Offsets = np.zeros(1, dtype=np.int64)

    def look_up(self, words: Sequence[str]) -> WordTokens:
        """The tokens of each word.

        Raises:
            UnicodeEncodeError: a word has a lone surrogate.
        """
        with self._lock:
            if len(self._rows) > MAX_CACHED_WORDS:
                self._rows.clear()
                self._tokens, self._offsets = self._tokens[:0], self._offsets[:1]
            if new := [word for word in dict.fromkeys(words) if word not in self._rows]:
                self._add(new)
            rows = np.fromiter(map(self._rows.__getitem__, words), dtype=np.int64, count=len(words))
            return WordTokens(rows, self._tokens, self._offsets)

    def _add(self, words: list[str]) -> None:
        "".join(
            words
        ).encode()  # the tokenizer's own message about a lone surrogate names neither cause nor word
        starts = range(0, len(words), WORDS_PER_CALL)
        calls = [[" " + word for word in words[start : start + WORDS_PER_CALL]] for start in starts]
        tokens, counts = [self._tokens], [np.diff(self._offsets)]
        encodings = self._backend.encode_batch(calls, is_pretokenized=True, add_special_tokens=False)
        for call, encoding in zip(calls, encodings, strict=True):
            tokens.append(np.array(encoding.ids, dtype=np.int32))
            # A word without tokens is missing in word_ids; its count is 0.
            counts.append(np.bincount(np.array(encoding.word_ids, dtype=np.int64), minlength=len(call)))
        self._tokens = np.concatenate(tokens)
        self._offsets = to_offsets(np.concatenate(counts))
        self._rows.update(zip(words, range(len(self._rows), len(self._rows) + len(words)), strict=True))


@dataclass(frozen=True, slots=True)
class TokenizedDocuments:
    """D documents one after the other; those of document d lie between its offsets d and d + 1.

    Attributes:
        tokens: token ids, start and end tokens included.
        token_offsets: [D + 1].
        mention_position: the index, within its document, of each mention's opening marker or first token.
        mention_end: the index, within its document, of each mention's closing marker or last token.
        mention_sentence: the sentence, within its document, of each mention.
        mention_entity: the entity, within its document, of each mention.
        mention_offsets: [D + 1].
        sentence_tokens: the number of tokens, markers included, of each sentence.
        sentence_offsets: [D + 1].
        empty_words: the number of words without a token.
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


class DocumentTokenizer:
    """Token ids and mention positions of documents, by the rules at the head of this module.

    Each distinct word is tokenized once; documents are put together from the table with array operations.
    One instance may be used from several threads.

    Args:
        tokenizer: a fast tokenizer of transformers; it is copied, its own settings stay as they are.
        markers: whether a marker stands before and after every mention.

    Attributes:
        identity: everything that token ids depend on, as one string.

    Raises:
        ValueError: the tokenizer is not a fast one, or lacks a start token, an end token or the marker.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", markers: bool = True) -> None:
        name = type(tokenizer).__name__
        source = getattr(tokenizer, "backend_tokenizer", None)
        if not isinstance(source, Tokenizer):
            raise ValueError(f"{name} is not a fast tokenizer: one with a tokenizer.json is needed")
        # A copy, because many a tokenizer.json truncates and pads, and transformers changes that with every call.
        backend = Tokenizer.from_str(source.to_str())
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = source.encode_special_tokens
        self._backend = backend
        self._words = WordTable(backend)
        self._unknown = tokenizer.unk_token_id
        self.start_token = _require_token(
            name, "start (cls, bos)", tokenizer.cls_token_id, tokenizer.bos_token_id
        )
        self.end_token = _require_token(
            name, "end (sep, eos)", tokenizer.sep_token_id, tokenizer.eos_token_id
        )
        self.pad_token = _require_token(name, "padding", tokenizer.pad_token_id, self.end_token)
        self.marker_token: int | None = None
        if markers:
            as_word = backend.encode(" " + MARKER, add_special_tokens=False).ids
            single = as_word[0] if len(as_word) == 1 and as_word[0] != self._unknown else None
            self.marker_token = _require_token(
                name, f"single {MARKER!r}", single, backend.token_to_id(MARKER)
            )
        special = (self.start_token, self.end_token, self.marker_token, backend.encode_special_tokens)
        self.identity = f"{backend.to_str()} {special}"

    def type_tokens(self, types: Sequence[str]) -> list[int]:
        """The tokens that open mentions in place of the marker: of unknown types first, then of each type.

        A type's token is the first piece of its word, so that the encoder already knows its meaning: "* Kelm *"
        becomes "place Kelm *". A type whose word has no known piece keeps the marker.

        Raises:
            ValueError: the documents are tokenized without markers.
        """
        if self.marker_token is None:
            raise ValueError("typed markers need markers around mentions")
        words = [TYPE_WORDS.get(name.lower(), name.lower()) for name in types]
        return [self.marker_token, *(self._first_piece(word, self.marker_token) for word in words)]

    def __call__(self, documents: Sequence[Document]) -> TokenizedDocuments:
        """Tokenize documents, in order.

        Raises:
            DataError: a mention lies outside its document, or a word is not valid Unicode.
        """
        words = [word for document in documents for sentence in document.sentences for word in sentence]
        try:
            known = self._words.look_up(words)
        except UnicodeEncodeError:
            raise first_defect(documents) from None
        mentions = _MentionSpans.from_documents(documents)
        opens, closes = np.zeros((2, len(words)), dtype=np.int64)  # whether a mention starts, ends at a word
        if self.marker_token is not None:
            opens[mentions.first_word] = 1
            closes[mentions.last_word] = 1
        pieces = np.diff(known.offsets)[known.rows]  # [W] tokens of each word
        words_before = to_offsets(document.word_count for document in documents)  # [D + 1]
        tokens_before = to_offsets(opens + pieces + closes)  # [W + 1]
        token_offsets = tokens_before[words_before] + 2 * np.arange(len(documents) + 1)
        document_of_word = np.repeat(np.arange(len(documents)), np.diff(words_before))
        word_start = (
            tokens_before[:-1] + 2 * document_of_word + 1
        )  # [W] the opening marker's position, if any
        word_end = word_start + opens + pieces  # [W] the closing marker's position, if any

        tokens = np.empty(token_offsets[-1], dtype=np.int32)
        tokens[token_offsets[:-1]] = self.start_token
        tokens[token_offsets[1:] - 1] = self.end_token
        first, last = word_start[mentions.first_word], word_end[mentions.last_word]  # [M] each
        if self.marker_token is None:
            last = np.maximum(first, last - 1)
        else:
            tokens[first] = tokens[last] = self.marker_token
        within = count_within(pieces)
        source = np.repeat(known.offsets[known.rows], pieces) + within
        tokens[np.repeat(word_start + opens, pieces) + within] = known.tokens[source]
        before = token_offsets[mentions.document]
        return TokenizedDocuments(
            tokens=tokens,
            token_offsets=token_offsets,
            mention_position=(first - before).astype(np.int32),
            mention_end=(last - before).astype(np.int32),
            mention_sentence=mentions.sentence.astype(np.int32),
            mention_entity=mentions.entity.astype(np.int32),
            mention_offsets=to_offsets(np.bincount(mentions.document, minlength=len(documents))),
            # Markers belong to the sentence of their mention.
            sentence_tokens=np.diff(tokens_before[_words_before_sentences(documents)]).astype(np.int32),
            sentence_offsets=to_offsets(len(document.sentences) for document in documents),
            empty_words=int((pieces == 0).sum()),
        )

    def _first_piece(self, word: str, otherwise: int) -> int:
        """The first known token of a word that has text, not only the mark that a word begins."""
        encoding = self._backend.encode(" " + word, add_special_tokens=False)
        for token, text in zip(encoding.ids, encoding.tokens, strict=True):
            if token != self._unknown and text.strip(WORD_STARTS):
                return int(token)
        return otherwise


def use_typed_markers(batch: Batch, type_tokens: Sequence[int]) -> Batch:
    """The batch with the opening marker of each mention replaced by the token of its type."""
    by_type = torch.tensor(type_tokens, device=batch.device)
    input_ids = batch.input_ids.clone()
    input_ids[batch.mention_document, batch.mention_position] = by_type[batch.mention_type]
    return replace(batch, input_ids=input_ids)


@dataclass(frozen=True, slots=True)
class _MentionSpans:
    """The mentions of several documents, their words as indices into the words of all documents."""

    document: Offsets
    entity: Offsets
    sentence: Offsets
    first_word: Offsets
    last_word: Offsets

    @classmethod
    def from_documents(cls, documents: Sequence[Document]) -> "_MentionSpans":
        if not all(entity.mentions for document in documents for entity in document.entities):
            raise first_defect(documents)
        rows = np.array(
            [
                (index, number, mention.sentence, mention.start, mention.end)
                for index, document in enumerate(documents)
                for number, entity in enumerate(document.entities)
                for mention in entity.mentions
            ],
            dtype=np.int64,
        )
        document, entity, sentence, start, end = rows.reshape(-1, 5).T  # [M] each
        sentences_before = to_offsets(len(document.sentences) for document in documents)
        words_before = _words_before_sentences(documents)
        if ((sentence < 0) | (sentence >= np.diff(sentences_before)[document])).any():
            raise first_defect(documents)
        among_all = sentences_before[document] + sentence
        if ((start < 0) | (start >= end) | (end > np.diff(words_before)[among_all])).any():
            raise first_defect(documents)
        return cls(
            document, entity, sentence, words_before[among_all] + start, words_before[among_all] + end - 1
        )


def to_offsets(counts: Iterable[int]) -> Offsets:
    """Where each of several lists begins when they stand one after the other, and where the last one ends."""
    if isinstance(counts, np.ndarray):
        return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return np.cumsum(np.fromiter(chain((0,), counts), dtype=np.int64))


def count_within(counts: NDArray[np.int64]) -> Offsets:
    """0 to n - 1 for each count n, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _words_before_sentences(documents: Sequence[Document]) -> Offsets:
    return to_offsets(len(sentence) for document in documents for sentence in document.sentences)


def _require_token(name: str, role: str, *tokens: int | None) -> int:
    """The first of the token ids that is set."""
    for token in tokens:
        if token is not None:
            return token
    raise ValueError(f"{name} has no {role} token")


def first_defect(documents: Iterable[Document]) -> DataError:
    """The first defect of documents made by hand, located; readers of files check what they read.

    Example:
        >>> from unnoted.data import Entity, Mention
        >>> outside = Entity((Mention(0, 1, 3, "PER", "Ada"),))
        >>> print(first_defect([Document("d1", (("Hello", "Ada"),), (outside,))]).defect.field)
        entities[0].mentions[0]
    """
    for document in documents:
        for place, found, expected in _defects(document):
            return DataError(Defect(Kind.MALFORMED, "features", document.id, place, found, expected))
    raise AssertionError("the documents have no defect")


def _defects(document: Document) -> Iterator[tuple[str, str, str]]:
    """Each defect as (field, found, expected)."""
    sentences, entities = len(document.sentences), len(document.entities)
    if not _is_encodable(document.id):
        yield "id", short_repr(document.id), "valid Unicode"
    for number, sentence in enumerate(document.sentences):
        for word in sentence:
            if not _is_encodable(word):
                yield f"sentences[{number}]", short_repr(word), "words of valid Unicode"
    for number, entity in enumerate(document.entities):
        if not entity.mentions:
            yield f"entities[{number}]", "no mention", "at least one mention"
        for index, mention in enumerate(entity.mentions):
            place = f"entities[{number}].mentions[{index}]"
            if not 0 <= mention.sentence < sentences:
                yield place, f"sentence {mention.sentence}", f"a sentence index below {sentences}"
            elif not 0 <= mention.start < mention.end <= len(document.sentences[mention.sentence]):
                expected = f"words below {len(document.sentences[mention.sentence])}"
                yield place, f"words {mention.start} to {mention.end}", expected
    for number, fact in enumerate(document.facts):
        for end in (fact.head, fact.tail):
            if not 0 <= end < entities:
                yield f"facts[{number}]", f"entity {end}", f"an entity index below {entities}"
        for support in fact.evidence:
            if not 0 <= support < sentences:
                yield (
                    f"facts[{number}].evidence",
                    f"sentence {support}",
                    f"a sentence index below {sentences}",
                )
    for number, (head, tail, _) in enumerate(document.negatives):
        for end in (head, tail):
            if not 0 <= end < entities:
                yield f"negatives[{number}]", f"entity {end}", f"an entity index below {entities}"


def _is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogates, which neither tokenizers nor files accept."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
