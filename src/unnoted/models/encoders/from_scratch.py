"""Encoders made for a corpus, without pretraining: vocabulary or BPE, GloVe vectors, new weights."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast, set_seed

from unnoted.data.document import Document
from unnoted.errors import DataError
from unnoted.io import numbered_lines, open_text
from unnoted.models.encoders.bran import BRANConfig
from unnoted.models.encoders.loading import WEIGHTS, EncoderError, build_encoder, resolve_folder
from unnoted.models.encoders.lstm import LSTMConfig, LSTMEncoder
from unnoted.models.tokenization import MARKER, DocumentTokenizer
from unnoted.utils import quiet_transformers, short_repr, wrap_errors

SPECIAL_TOKENS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}

WORD_START = "\u2581"
"""What subwords have in front of the first letter of a word."""

WORDS, SUBWORDS = "words", "subwords"
"""Tokenizers that are built; any other name is that of an existing one."""

DEFAULT_SUBWORDS = 10_000
"""Size of a BPE vocabulary; what BRAN's program has for abstracts of the same source as ChemDisGene's
(github.com/patverga/bran, configs/ctd/ctd)."""

OwnConfig: TypeAlias = LSTMConfig | BRANConfig

ENCODER_KINDS: dict[str, Callable[[], OwnConfig]] = {
    "recurrent": LSTMConfig,
    "bilstm": partial(
        LSTMConfig,
        input_size=100,
        train_words=False,
        type_size=20,
        entity_size=20,
        hidden_size=256,
        num_hidden_layers=1,
        num_attention_heads=0,
        hidden_dropout_prob=0.2,
        locked_dropout=True,
        learnt_start=True,
    ),
    "bran": BRANConfig,
}
"""Sizes by name: a small LSTM with attention for any architecture; DocRED's BiLSTM, without attention, and the
BRAN encoder of ChemDisGene, both as published."""


def make_encoder(
    folder: Path,
    documents: Iterable[Document],
    *,
    config: OwnConfig | None = None,
    vectors: Path | None = None,
    tokenizer: str = WORDS,
    subwords: int = DEFAULT_SUBWORDS,
    min_document_frequency: int = 3,
    seed: int = 0,
) -> str:
    """Write a new encoder and its tokenizer to a folder, for `RelationModel.from_encoder`.

    Words and subwords are lower-cased. A vocabulary of words has those of enough documents, and those with a
    given vector, in the documents or not; all others are one token. Words without a given vector start normal,
    with the standard deviation of the given ones (1 if none are given).

    Args:
        folder: where to.
        documents: for the vocabulary.
        config: the sizes, for example of `ENCODER_KINDS`; a small LSTM by default. The number of tokens and the
            size of given vectors are filled in; so are the numbers of types and of entities where they are 0.
            Without given vectors, word vectors are always trained.
        vectors: word vectors in GloVe's text format; for encoders over words.
        tokenizer: `words`, `subwords` (BPE over the documents), or a folder or hub name with a tokenizer.
        subwords: size of the BPE vocabulary, letters and special tokens included.
        min_document_frequency: of words without a vector.
        seed: of the weights.

    Returns:
        What the encoder knows, in words.

    Raises:
        EncoderError: the vectors or the tokenizer cannot be used.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.models.encoders import load_encoder
        >>> with TemporaryDirectory() as folder:
        ...     make_encoder(Path(folder), generate_documents(5), config=LSTMConfig(hidden_size=8))
        ...     load_encoder(folder).config.hidden_size
        '50 words'
        8
    """
    config = LSTMConfig() if config is None else config
    if vectors is not None and (tokenizer != WORDS or not isinstance(config, LSTMConfig)):
        raise EncoderError(
            f"vectors: {str(vectors)!r} cannot be used: only LSTM encoders over words take word vectors"
        )
    statistics = _CorpusStatistics(documents)
    given = None if vectors is None else read_glove(vectors)
    if given is not None and not statistics.document_frequency.keys() & given.rows.keys():
        raise EncoderError(
            f"{vectors}: none of its {len(given.rows):,} words is among the documents' "
            f"{len(statistics.document_frequency):,} words in lower case"
        )
    made = _make_tokenizer(tokenizer, statistics, given, subwords, min_document_frequency)
    made.save_pretrained(folder)
    set_seed(seed)
    encoder = build_encoder(_fit_config(config, statistics, made, given).to_dict())
    if given is not None:
        assert isinstance(encoder, LSTMEncoder)
        _copy_vectors(encoder.embedding, made.get_vocab(), given)
    # Not by its own `save_pretrained`: of processes that train together, that writes in the first one alone.
    encoder.config.save_pretrained(folder)
    save_model(encoder, str(folder / WEIGHTS), {"format": "pt"})
    kind = tokenizer if tokenizer in (WORDS, SUBWORDS) else f"tokens of {tokenizer}"
    known = f"{len(made) - len(made.all_special_ids):,} {kind}"
    found = 0 if given is None else sum(word in given.rows for word in made.get_vocab())
    return known if given is None else f"{known}, {found:,} of them with given vectors"


class _CorpusStatistics:
    """Word counts, numbers of types and of entities of documents."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.document_frequency: Counter[str] = Counter()
        self.occurrences: Counter[str] = Counter()
        self.entities = 0
        types: set[str] = set()
        for document in documents:
            own = Counter(word.lower() for sentence in document.sentences for word in sentence)
            self.document_frequency.update(own.keys())
            self.occurrences.update(own)
            types.update(mention.type for entity in document.entities for mention in entity.mentions)
            self.entities = max(self.entities, len(document.entities))
        self.types = len(types)


def _fit_config(
    config: OwnConfig,
    statistics: _CorpusStatistics,
    tokenizer: PreTrainedTokenizerBase,
    given: "WordVectors | None",
) -> OwnConfig:
    """A copy of the configuration that fits the documents, the tokenizer and the vectors."""
    fitted = deepcopy(config)
    fitted.vocab_size = len(tokenizer)
    fitted.pad_token_id = DocumentTokenizer(tokenizer, markers=False).pad_token
    if isinstance(fitted, LSTMConfig):
        fitted.train_words = fitted.train_words or given is None
        fitted.input_size = fitted.input_size if given is None else given.values.shape[1]
        fitted.types = fitted.types or statistics.types
        fitted.entities = fitted.entities or statistics.entities
    return fitted


def _copy_vectors(embedding: nn.Embedding, vocabulary: dict[str, int], given: "WordVectors") -> None:
    found = [(number, given.rows[word]) for word, number in vocabulary.items() if word in given.rows]
    numbers, rows = (torch.tensor(column) for column in zip(*found, strict=True))
    values = torch.from_numpy(given.values)
    with torch.no_grad():
        embedding.weight.mul_(values.std())
        embedding.weight[numbers] = values[rows]


def _make_tokenizer(
    kind: str,
    statistics: _CorpusStatistics,
    given: "WordVectors | None",
    subwords: int,
    min_document_frequency: int,
) -> PreTrainedTokenizerBase:
    if kind == SUBWORDS:
        return subword_tokenizer(statistics.occurrences, subwords)
    if kind == WORDS:
        counts = statistics.document_frequency.items()
        frequent = {word for word, count in counts if count >= min_document_frequency}
        # Given words need not be in the documents: new documents will have others.
        lower = set() if given is None else {word for word in given.rows if word == word.lower()}
        return word_tokenizer(sorted((frequent | lower) - {MARKER}))
    expected = f"{WORDS!r}, {SUBWORDS!r}, a folder with tokenizer.json or a name on the hub"
    with (
        wrap_errors(f"tokenizer {kind!r}", "no usable tokenizer", expected, EncoderError),
        quiet_transformers(),
    ):
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            resolve_folder(kind), trust_remote_code=False
        )
    return tokenizer


def word_tokenizer(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """A token for each of these words, whatever their case, after the special tokens and the marker."""
    numbers = {word: number for number, word in enumerate((*SPECIAL_TOKENS.values(), MARKER, *words))}
    return _wrap(_make_backend(models.WordLevel(numbers, unk_token=SPECIAL_TOKENS["unk_token"])))


def subword_tokenizer(occurrences: Counter[str], size: int) -> PreTrainedTokenizerFast:
    """Byte-pair encoding: frequent words are one token, rare ones are put together from several.

    It depends on the counts alone. A letter that never occurred is the unknown token; the marker is known.

    Args:
        occurrences: how often each word, in lower case, occurs.
        size: number of tokens, special ones included; at least one for each letter.

    Reference:
        Sennrich, Haddow, Birch (2016): Neural machine translation of rare words with subword units.

    Example:
        >>> tokenizer = subword_tokenizer(Counter({"low": 9, "lower": 5, "newer": 7}), size=16)
        >>> tokenizer.tokenize("Lower new")
        ['▁low', 'er', '▁', 'n', 'e', 'w']
    """
    backend = _make_backend(models.BPE(unk_token=SPECIAL_TOKENS["unk_token"]))
    # The start of a word is a letter of its own, not a property of tokens (##...): those are numbered in the
    # order of a hash table, which differs between processes, and by their numbers ties are decided.
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement=WORD_START, prepend_scheme="always")
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL_TOKENS.values()),
        initial_alphabet=[MARKER],
        show_progress=False,
    )
    # Sorted: the order of documents must not matter.
    repeated = (" ".join([word] * count) for word, count in sorted(occurrences.items()))
    backend.train_from_iterator(repeated, trainer)
    return _wrap(backend)


def _make_backend(model: models.Model) -> Tokenizer:
    backend = Tokenizer(model)
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return backend


def _wrap(backend: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **SPECIAL_TOKENS)  # type: ignore[no-untyped-call]


class WordVectors(NamedTuple):
    """Words and their vectors, in the order of the file; of a repeated word the first.

    Attributes:
        rows: the row of each word in `values`.
        values: float32 [words, size].
    """

    rows: dict[str, int]
    values: NDArray[np.float32]


def read_glove(path: Path) -> WordVectors:
    r"""Read word vectors in GloVe's text format, plain or gzip: on each line a word and its values.

    There is no header; the first line says how many values there are. Some public files have words with spaces
    in them, so lines are split from the right.

    Raises:
        EncoderError: the file cannot be read, or a line is not of the format; names the line.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "vectors.txt"
        ...     _ = path.write_text("the 0.5 -1\n. . . 2 3\n")
        ...     vectors = read_glove(path)
        >>> vectors.rows, vectors.values.tolist()
        ({'the': 0, '. . .': 1}, [[0.5, -1.0], [2.0, 3.0]])
    """
    rows: dict[str, int] = {}
    values: list[NDArray[np.float32]] = []
    size = 0
    try:
        with open_text(path) as stream:
            for number, line in numbered_lines(stream):
                size = size or line.rstrip().count(" ")
                word, *fields = line.rstrip().rsplit(" ", size)
                vector = _parse_vector(fields)
                # A word with spaces is one thing, too many values are another.
                too_many = " " in word and _parse_vector(word.split(" ")[-1:]) is not None
                if not word or not size or len(fields) < size or vector is None or too_many:
                    raise EncoderError(
                        f"{path}, line {number}: {short_repr(line)} is not a word and {size or 'its'} finite numbers"
                    )
                if word not in rows:
                    rows[word] = len(values)
                    values.append(vector)
    except DataError as error:
        raise EncoderError(f"{path}: {error.defect.within_file}") from None
    if not values:
        raise EncoderError(f"{path}: the file is empty; expected a word and its values on each line")
    return WordVectors(rows, np.stack(values))


def _parse_vector(fields: list[str]) -> NDArray[np.float32] | None:
    """The numbers; None where one is not a finite number."""
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError:
        return None
    return vector if np.isfinite(vector).all() else None
