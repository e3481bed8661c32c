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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from unnoted.data.document import Document
from unnoted.data.validation import validate_documents
from unnoted.models.batch import Batch

if TYPE_CHECKING:  # transformers takes seconds to import, and is needed only with a model
    from transformers import PreTrainedTokenizerBase

Ids: TypeAlias = NDArray[np.int32]

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
"""The table of words is emptied beyond so many, so that a stream of documents cannot fill the memory."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenizedDocument:
    """The tokens of a document, and where its mentions are among them.

    Attributes:
        tokens: token ids, start and end token included.
        mention_position: the index of each mention's opening marker or first token.
        mention_end: the index of each mention's closing marker or last token.
        sentence_tokens: the number of tokens, markers included, of each sentence.
        empty_words: the number of words without a token.
    """

    tokens: Ids
    mention_position: Ids
    mention_end: Ids
    sentence_tokens: Ids
    empty_words: int


class DocumentTokenizer:
    """Token ids and mention positions of documents, by the rules at the head of this module.

    Each distinct word is tokenized once. One instance may be used from several threads.

    Args:
        tokenizer: a fast tokenizer of transformers; it is copied, its own settings stay as they are.
        markers: whether a marker stands before and after every mention.

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
        self._table: dict[str, list[int]] = {}
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

    def type_tokens(self, types: Sequence[str]) -> list[int]:
        """The tokens that open mentions in place of the marker: of unknown types first, then of each type.

        A type's token is the first piece of its word, so that the encoder already knows its meaning: "* Kelm *"
        becomes "place Kelm *". A type whose word has no known piece keeps the marker.
        """
        if self.marker_token is None:
            raise ValueError("typed markers need markers around mentions")
        tokens = [self.marker_token]
        for name in types:
            word = TYPE_WORDS.get(name.lower(), name.lower())
            encoding = self._backend.encode(" " + word, add_special_tokens=False)
            known = [
                token
                for token, text in zip(encoding.ids, encoding.tokens, strict=True)
                if token != self._unknown and text.strip(WORD_STARTS)  # more than the mark that a word begins
            ]
            tokens.append(known[0] if known else self.marker_token)
        return tokens

    def __call__(self, documents: Sequence[Document]) -> list[TokenizedDocument]:
        """Tokenize documents, in order."""
        try:
            table = self._look_up(
                word for document in documents for sentence in document.sentences for word in sentence
            )
        except UnicodeEncodeError:
            refuse(documents)
        return [self._tokenize(document, table) for document in documents]

    def _look_up(self, words: Iterable[str]) -> Mapping[str, list[int]]:
        """The tokens of these words, among others."""
        if len(self._table) > MAX_CACHED_WORDS:
            self._table = {}  # another thread may still read the old one
        table = self._table
        new = [word for word in dict.fromkeys(words) if word not in table]
        # The tokenizer's own message about a lone surrogate names neither cause nor word.
        "".join(new).encode()
        starts = range(0, len(new), WORDS_PER_CALL)
        calls = [[" " + word for word in new[start : start + WORDS_PER_CALL]] for start in starts]
        tokens: list[list[int]] = [[] for _ in new]
        encodings = self._backend.encode_batch(calls, is_pretokenized=True, add_special_tokens=False)
        for start, encoding in zip(starts, encodings, strict=True):
            for token, word in zip(encoding.ids, encoding.word_ids, strict=True):
                assert word is not None  # there are no special tokens
                tokens[start + word].append(token)
        table.update(zip(new, tokens, strict=True))
        return table

    def _tokenize(self, document: Document, table: Mapping[str, list[int]]) -> TokenizedDocument:
        words = [word for sentence in document.sentences for word in sentence]
        words_before = list(accumulate(map(len, document.sentences), initial=0))  # of each sentence
        first_words, last_words = [], []  # of each mention
        for entity in document.entities:
            if not entity.mentions:
                refuse([document])
            for mention in entity.mentions:
                if not 0 <= mention.sentence < len(document.sentences):
                    refuse([document])
                if not 0 <= mention.start < mention.end <= len(document.sentences[mention.sentence]):
                    refuse([document])
                first_words.append(words_before[mention.sentence] + mention.start)
                last_words.append(words_before[mention.sentence] + mention.end - 1)

        marker, opens, closes = self.marker_token, set(first_words), set(last_words)
        tokens = [self.start_token]
        begins, ends = [], []  # of each word, with and without its markers
        for number, word in enumerate(words):
            begins.append(len(tokens))
            if marker is not None and number in opens:
                tokens.append(marker)
            tokens += table[word]
            ends.append(len(tokens))
            if marker is not None and number in closes:
                tokens.append(marker)
        begins.append(len(tokens))
        tokens.append(self.end_token)

        position = np.array([begins[word] for word in first_words], dtype=np.int32)
        end = np.array([ends[word] for word in last_words], dtype=np.int32)
        return TokenizedDocument(
            tokens=np.array(tokens, dtype=np.int32),
            mention_position=position,
            mention_end=np.maximum(position, end - 1) if marker is None else end,
            sentence_tokens=np.diff([begins[word] for word in words_before]).astype(np.int32),
            empty_words=sum(not table[word] for word in words),
        )


def use_typed_markers(batch: Batch, type_tokens: Sequence[int]) -> Batch:
    """The batch with the opening marker of each mention replaced by the token of its type."""
    by_type = torch.tensor(type_tokens, device=batch.device)
    input_ids = batch.input_ids.clone()
    input_ids[batch.mention_document, batch.mention_position] = by_type[batch.mention_type]
    return replace(batch, input_ids=input_ids)


def refuse(documents: Sequence[Document]) -> NoReturn:
    """Raise the located error of documents made by hand, one of which points outside itself."""
    validate_documents(documents, "features")
    raise AssertionError("the documents have no defect")


def _require_token(name: str, role: str, *tokens: int | None) -> int:
    """The first of the token ids that is set."""
    for token in tokens:
        if token is not None:
            return token
    raise ValueError(f"{name} has no {role} token")
