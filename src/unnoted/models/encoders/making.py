"""An encoder made on the spot, for the words of documents; nothing is learnt yet but given word vectors."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, set_seed

from unnoted.data.document import Document
from unnoted.models.encoders.convolutional_attention import (
    ConvolutionalAttentionConfig,
    ConvolutionalAttentionEncoder,
)
from unnoted.models.encoders.glove import WordVectors, read_glove
from unnoted.models.encoders.own_tokenizers import (
    SPECIAL,
    SUBWORDS,
    WORDS,
    subword_tokenizer,
    tokenizer_from,
    word_tokenizer,
)
from unnoted.models.encoders.pretrained import EncoderError, build_encoder
from unnoted.models.encoders.recurrent import RecurrentConfig, RecurrentEncoder
from unnoted.models.encoders.survey import Survey
from unnoted.models.encoders.transformer_convolutions import TransformerConvolutionsConfig
from unnoted.models.tokenization import MARKER, DocumentTokenizer
from unnoted.utils import quiet_transformers

MakeableConfig: TypeAlias = RecurrentConfig | ConvolutionalAttentionConfig | TransformerConvolutionsConfig
"""The sizes of an encoder that can be made."""

ENCODER_KINDS: dict[str, Callable[[], MakeableConfig]] = {
    "recurrent": RecurrentConfig,
    "bilstm": partial(
        RecurrentConfig,
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
    "convolutional-attention": ConvolutionalAttentionConfig,
    "transformer-convolutions": TransformerConvolutionsConfig,
}
"""The sizes of encoders by name: a small one for any pairs, DocRED's BiLSTM (128 a direction; it gives no
attention), BRAN's, and that of BRAN in the ChemDisGene paper's program; the last three as published."""

SUBWORD_VOCABULARY = 10_000
"""How many subwords are learnt if nobody says; what BRAN's program has for abstracts of the same source as
ChemDisGene's (github.com/patverga/bran, configs/ctd/ctd)."""


@dataclass(frozen=True, slots=True)
class MadeEncoder:
    """What a made encoder knows.

    Attributes:
        words: how many words or other tokens, special tokens not counted.
        found: how many of them have a vector from the file; the others' are random.
        repeated: how many lines of the file name one of these words again; the first one counts.
        tokens: what they are called.

    Example:
        >>> print(MadeEncoder(words=5, found=3, repeated=1))
        5 words, 3 of them with given vectors; 1 repeated in the file, the first counts
    """

    words: int
    found: int = 0
    repeated: int = 0
    tokens: str = WORDS

    @classmethod
    def of(cls, kind: str, tokenizer: PreTrainedTokenizerBase, given: WordVectors | None) -> "MadeEncoder":
        """What an encoder with this tokenizer, of this kind, and these vectors knows."""
        known = len(tokenizer) - len(tokenizer.all_special_ids)
        tokens = kind if kind in (WORDS, SUBWORDS) else f"tokens of {kind}"
        if given is None:
            return cls(known, tokens=tokens)
        return cls(known, sum(word in given.rows for word in tokenizer.get_vocab()), given.repeated, tokens)

    def __str__(self) -> str:
        if self.tokens != WORDS:
            return f"{self.words:,} {self.tokens}"
        text = f"{self.words:,} words, {self.found:,} of them with given vectors"
        return f"{text}; {self.repeated:,} repeated in the file, the first counts" if self.repeated else text


def make_encoder(
    folder: Path,
    documents: Iterable[Document],
    *,
    config: MakeableConfig | None = None,
    vectors: Path | None = None,
    tokenizer: str = WORDS,
    subwords: int = SUBWORD_VOCABULARY,
    rarest: int = 3,
    seed: int = 0,
) -> MadeEncoder:
    """Write a new encoder and its tokenizer to a folder, for `RelationModel.from_encoder` or a settings file.

    Words and subwords are taken without regard to case. An encoder of words knows those that are in many
    documents, and those that have a given vector, in the documents or not; all others are one token. Given
    vectors are looked up in lower case. The vectors of other words are normal, with the standard deviation of
    the given ones (1 if none are given).

    Args:
        folder: where to.
        documents: whose words the tokenizer is to know.
        config: the encoder's sizes, for example those of `ENCODER_KINDS`; a small recurrent one by default.
            The number of words, and the size of their vectors if those are given, is filled in; so are the
            numbers of types and of entities where they are 0. Without given vectors, words are always learnt.
        vectors: a file of word vectors in GloVe's text format; for encoders of words that take them.
        tokenizer: `words`, `subwords` that are learnt from the documents, or a folder or name on the hub that
            has a tokenizer, which is taken as it is.
        subwords: how many, letters and special tokens included.
        rarest: words that are in fewer documents than this, and have no vector, are not known.
        seed: of the weights.

    Raises:
        EncoderError: if the vectors cannot be read or used, or there is no such tokenizer.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.models.encoders import load_encoder
        >>> with TemporaryDirectory() as folder:
        ...     config = RecurrentConfig(hidden_size=8)
        ...     made = make_encoder(Path(folder), generate_documents(5), config=config)
        ...     load_encoder(folder).config.hidden_size
        8
        >>> made.found
        0
    """
    config = RecurrentConfig() if config is None else config
    if vectors is not None:
        _check_takes_vectors(config, tokenizer, vectors)
    survey = Survey.of(documents)
    given = None if vectors is None else _given_vectors(vectors, survey)
    made = _tokenizer(tokenizer, survey.known_words(rarest, given), survey, subwords)
    made.save_pretrained(folder)
    encoder = _encoder(_fitted(config, survey, made, given), made, given, seed)
    with quiet_transformers():
        encoder.save_pretrained(folder)
    return MadeEncoder.of(tokenizer, made, given)


def _tokenizer(kind: str, words: list[str], survey: Survey, subwords: int) -> PreTrainedTokenizerBase:
    if kind == WORDS:
        return word_tokenizer([*SPECIAL.values(), MARKER, *words])
    return subword_tokenizer(survey.occurrences, subwords) if kind == SUBWORDS else tokenizer_from(kind)


def _encoder(
    config: MakeableConfig, tokenizer: PreTrainedTokenizerBase, given: WordVectors | None, seed: int
) -> PreTrainedModel:
    set_seed(seed)
    encoder = build_encoder(config.to_dict())
    if given is not None:
        assert isinstance(encoder, RecurrentEncoder | ConvolutionalAttentionEncoder)
        _put_vectors(encoder.embedding, tokenizer.get_vocab(), given)
    return encoder


def _given_vectors(path: Path, survey: Survey) -> WordVectors:
    given = read_glove(path)
    if not survey.counts.keys() & given.rows.keys():
        raise EncoderError(
            f"{path}: found vectors of {given.lines:,} words, none of them among the documents' "
            f"{len(survey.counts):,} words in lower case; expected vectors of the documents' language"
        )
    return given


def _check_takes_vectors(config: MakeableConfig, tokenizer: str, vectors: Path) -> None:
    """Refuse vectors of words where tokens are no words, or vectors are none of the encoder's inputs."""
    kept = not isinstance(config, TransformerConvolutionsConfig)
    if tokenizer == WORDS and kept:
        return
    reason = f"the tokens are {tokenizer}, not words" if kept else "transformer-convolutions learns its own"
    raise EncoderError(f"vectors: found {str(vectors)!r}, expected none: {reason}")


def _fitted(
    config: MakeableConfig, survey: Survey, tokenizer: PreTrainedTokenizerBase, given: WordVectors | None
) -> MakeableConfig:
    """A copy of the configuration that fits the documents, the tokenizer and the vectors."""
    fitted = deepcopy(config)
    fitted.vocab_size = len(tokenizer)
    fitted.pad_token_id = DocumentTokenizer(tokenizer, markers=False).pad_token
    if isinstance(fitted, TransformerConvolutionsConfig):
        return fitted
    fitted.train_words = fitted.train_words or given is None
    if given is not None:
        fitted.input_size = given.size
    if isinstance(fitted, RecurrentConfig):
        fitted.types = fitted.types or survey.types
        fitted.entities = fitted.entities or survey.entities
    return fitted


def _put_vectors(embedding: nn.Embedding, vocabulary: dict[str, int], given: WordVectors) -> None:
    found = [(number, given.rows[word]) for word, number in vocabulary.items() if word in given.rows]
    numbers, rows = (torch.tensor(column) for column in zip(*found, strict=True))
    values = torch.from_numpy(given.values)
    with torch.no_grad():
        embedding.weight.mul_(values.std())
        embedding.weight[numbers] = values[rows]
