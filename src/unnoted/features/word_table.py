"""Every different word is tokenised once, in large calls."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Ids: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]

WORDS_A_CALL = 256
"""Words that go to the tokenizer as one sequence: many enough to amortise its cost, few enough to spread."""

WORDS_REMEMBERED = 1 << 20
"""Different words after which the table is emptied: a stream of documents must not fill the memory."""


class WordTable:
    """The words met so far and their tokens.

    A word is tokenised with a space before it (see `unnoted.features.tokenise` for why).

    Args:
        backend: must neither cut nor pad.

    Example:
        >>> from tokenizers import models, pre_tokenizers
        >>> backend = Tokenizer(models.WordPiece({"[UNK]": 0, "run": 1, "##s": 2}, unk_token="[UNK]"))
        >>> backend.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> table = WordTable(backend)
        >>> rows = table.rows(["runs", "run", "runs"])
        >>> rows.tolist(), table.offsets.tolist(), table.tokens.tolist()
        ([0, 1, 0], [0, 2, 3], [1, 2, 1])
    """

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend
        self._rows: dict[str, int] = {}
        self.tokens: Ids = np.zeros(0, dtype=np.int32)
        self.offsets: Offsets = np.zeros(1, dtype=np.int64)

    def rows(self, words: Sequence[str]) -> Offsets:
        """Each word's row: its tokens are `tokens[offsets[row] : offsets[row + 1]]`, until the next call.

        Raises:
            UnicodeEncodeError: if a word has a lone surrogate.
        """
        if len(self._rows) > WORDS_REMEMBERED:
            self._rows.clear()
            self.tokens, self.offsets = self.tokens[:0], self.offsets[:1]
        self._add([word for word in dict.fromkeys(words) if word not in self._rows])
        return np.fromiter(map(self._rows.__getitem__, words), dtype=np.int64, count=len(words))

    def _add(self, words: list[str]) -> None:
        "".join(
            words
        ).encode()  # the tokenizer's own complaint about a lone surrogate names neither cause nor word
        calls = [
            [" " + word for word in words[i : i + WORDS_A_CALL]] for i in range(0, len(words), WORDS_A_CALL)
        ]
        tokens, counts = [self.tokens], [np.diff(self.offsets)]
        encodings = self._backend.encode_batch(calls, is_pretokenized=True, add_special_tokens=False)
        for call, encoding in zip(calls, encodings, strict=True):
            tokens.append(np.array(encoding.ids, dtype=np.int32))
            # A word without tokens appears in no place of word_ids; its count is 0.
            counts.append(np.bincount(np.array(encoding.word_ids, dtype=np.int64), minlength=len(call)))
        self._rows.update(zip(words, range(len(self._rows), len(self._rows) + len(words)), strict=True))
        self.tokens = np.concatenate(tokens)
        self.offsets = np.concatenate(([0], np.cumsum(np.concatenate(counts))))
