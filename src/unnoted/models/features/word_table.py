"""Every different word is tokenised once, in large calls."""

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Ids: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]

WORDS_A_CALL = 256
"""Words that go to the tokenizer as one sequence: many enough to amortise its cost, few enough to spread."""

WORDS_REMEMBERED = 1 << 20
"""Different words after which the table is emptied: a stream of documents must not fill the memory."""


class WordTokens(NamedTuple):
    """The tokens of some words: those of a word are `tokens[offsets[row] : offsets[row + 1]]`.

    Nothing here changes any more, whatever the table learns afterwards.

    Attributes:
        rows: each word's row.
        tokens: of all words of the table.
        offsets: where each row of `tokens` begins, and where the last one ends.
    """

    rows: Offsets
    tokens: Ids
    offsets: Offsets


class WordTable:
    """The words met so far and their tokens; may be asked from several threads at once.

    A word is tokenised with a space before it (see `unnoted.models.features.tokenise` for why).

    Args:
        backend: must neither cut nor pad.

    Example:
        >>> from tokenizers import models, pre_tokenizers
        >>> backend = Tokenizer(models.WordPiece({"[UNK]": 0, "run": 1, "##s": 2}, unk_token="[UNK]"))
        >>> backend.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> table = WordTable(backend)
        >>> found = table.look_up(["runs", "run", "runs"])
        >>> found.rows.tolist(), found.offsets.tolist(), found.tokens.tolist()
        ([0, 1, 0], [0, 2, 3], [1, 2, 1])
    """

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend
        self._lock = Lock()
        self._rows: dict[str, int] = {}
        # Replaced when words are added, never written to: who has been given them may keep them.
        self._tokens: Ids = np.zeros(0, dtype=np.int32)
        self._offsets: Offsets = np.zeros(1, dtype=np.int64)

    def look_up(self, words: Sequence[str]) -> WordTokens:
        """The tokens of each word.

        Raises:
            UnicodeEncodeError: if a word has a lone surrogate.
        """
        with self._lock:
            if len(self._rows) > WORDS_REMEMBERED:
                self._rows.clear()
                self._tokens, self._offsets = self._tokens[:0], self._offsets[:1]
            if new := [word for word in dict.fromkeys(words) if word not in self._rows]:
                self._add(new)
            rows = np.fromiter(map(self._rows.__getitem__, words), dtype=np.int64, count=len(words))
            return WordTokens(rows, self._tokens, self._offsets)

    def _add(self, words: list[str]) -> None:
        "".join(
            words
        ).encode()  # the tokenizer's own complaint about a lone surrogate names neither cause nor word
        calls = [
            [" " + word for word in words[i : i + WORDS_A_CALL]] for i in range(0, len(words), WORDS_A_CALL)
        ]
        tokens, counts = [self._tokens], [np.diff(self._offsets)]
        encodings = self._backend.encode_batch(calls, is_pretokenized=True, add_special_tokens=False)
        for call, encoding in zip(calls, encodings, strict=True):
            tokens.append(np.array(encoding.ids, dtype=np.int32))
            # A word without tokens appears in no place of word_ids; its count is 0.
            counts.append(np.bincount(np.array(encoding.word_ids, dtype=np.int64), minlength=len(call)))
        self._tokens = np.concatenate(tokens)
        self._offsets = np.concatenate(([0], np.cumsum(np.concatenate(counts))))
        self._rows.update(zip(words, range(len(self._rows), len(self._rows) + len(words)), strict=True))
