"""The tokenizer of an encoder that is made: words, subwords learnt from documents, or one from elsewhere."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from unnoted.models.encoders.hub import hub_options
from unnoted.models.encoders.pretrained import EncoderError
from unnoted.models.tokenization import MARKER
from unnoted.utils import quiet_transformers, wrap_errors

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
"""The tokens that stand for no text, in the order of their numbers."""

WORD_START = "▁"
"""What subwords have in front of the first letter of a word."""

WORDS, SUBWORDS = "words", "subwords"
"""Tokenizers that are made; any other name is that of one from elsewhere."""


def word_tokenizer(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """A token for each of these words, whatever their case, numbered in order; all other words are one token.

    Args:
        words: the special tokens first.
    """
    numbers = {word: number for number, word in enumerate(words)}
    return _wrapped(_backend(models.WordLevel(numbers, unk_token=SPECIAL["unk_token"])))


def subword_tokenizer(occurrences: Counter[str], size: int) -> PreTrainedTokenizerFast:
    """Byte-pair encoding: frequent words are one token, rare ones are put together from several.

    It follows from the words alone: equal counts give equal tokens in equal order. A letter that never
    occurred is the unknown token; the marker is always known.

    Args:
        occurrences: how often each word, in lower case, occurs.
        size: how many tokens there may be, special ones included; there are as many as letters at least.

    Reference:
        Sennrich, Haddow, Birch (2016): Neural machine translation of rare words with subword units.

    Example:
        >>> tokenizer = subword_tokenizer(Counter({"low": 9, "lower": 5, "newer": 7}), size=16)
        >>> tokenizer.tokenize("Lower new")
        ['▁low', 'er', '▁', 'n', 'e', 'w']
    """
    backend = _backend(models.BPE(unk_token=SPECIAL["unk_token"]))
    # The start of a word is a letter of its own, not a property of tokens (##...): those are numbered in the
    # order of a hash table, which is another in every process, and by their numbers ties are decided.
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement=WORD_START, prepend_scheme="always")
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL.values()),
        initial_alphabet=[MARKER],
        show_progress=False,
    )
    backend.train_from_iterator(_repeated(occurrences), trainer)
    return _wrapped(backend)


def tokenizer_from(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer in a folder, or by its name on the hub.

    Raises:
        EncoderError: if there is none that can be used.
    """
    expected = f"{WORDS!r}, {SUBWORDS!r}, a folder with tokenizer.json or a name on the hub"
    with (
        wrap_errors(f"tokenizer {name!r}", "no usable tokenizer", expected, EncoderError),
        quiet_transformers(),
    ):
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, **hub_options(name)
        )
    return tokenizer


def _backend(model: models.Model) -> Tokenizer:
    backend = Tokenizer(model)
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return backend


def _wrapped(backend: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **SPECIAL)  # type: ignore[no-untyped-call]


def _repeated(occurrences: Counter[str]) -> Iterator[str]:
    """Each word as often as it occurs, sorted: words found in another order must give the same tokens."""
    for word, count in sorted(occurrences.items()):
        yield " ".join([word] * count)
