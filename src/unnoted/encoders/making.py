"""An encoder made on the spot: a recurrent one that knows the documents' words, and has nothing learnt."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast, set_seed

from unnoted.documents.schema import Document
from unnoted.encoders.recurrent import RecurrentConfig, RecurrentEncoder

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
MARKER = "*"


def make_encoder(
    folder: Path,
    documents: Iterable[Document],
    *,
    size: int = 128,
    layers: int = 2,
    dropout: float = 0.1,
    rarest: int = 3,
    seed: int = 0,
) -> None:
    """Write a new encoder and its tokenizer to a folder, for `RelationModel.from_encoder` or a settings file.

    Args:
        folder: where to.
        documents: whose words the tokenizer is to know, without regard to case; others are all one token.
        size: of a token's state.
        layers: of the recurrence.
        dropout: the share of states that is dropped in training.
        rarest: words that are in fewer documents than this are left to the token of unknown words.
        seed: of the weights.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.documents.generator import generate_documents
        >>> from unnoted.encoders import load_encoder
        >>> with TemporaryDirectory() as folder:
        ...     make_encoder(Path(folder), generate_documents(5), size=8)
        ...     load_encoder(folder).config.hidden_size
        8
    """
    words = [*SPECIAL.values(), MARKER, *known_words(documents, rarest)]
    backend = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=SPECIAL["unk_token"])
    )
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **SPECIAL)  # type: ignore[no-untyped-call]
    tokenizer.save_pretrained(folder)
    set_seed(seed)
    config = RecurrentConfig(
        vocab_size=len(words), hidden_size=size, num_hidden_layers=layers, hidden_dropout_prob=dropout
    )
    RecurrentEncoder(config).save_pretrained(folder)


def known_words(documents: Iterable[Document], rarest: int) -> list[str]:
    """The words, in lower case and sorted, that are in at least `rarest` documents; not the marker.

    Example:
        >>> one, two = Document("1", (("A", "b"),), ()), Document("2", (("a", "*", "a"),), ())
        >>> known_words([one, two], rarest=2), known_words([one, two], rarest=1)
        (['a'], ['a', 'b'])
    """
    counts = Counter(
        word
        for document in documents
        for word in {word.lower() for sentence in document.sentences for word in sentence}
    )
    return sorted(word for word, count in counts.items() if count >= rarest and word != MARKER)
