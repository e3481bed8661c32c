"""Small tokenizers, and random documents for them."""

from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from unnoted.data.document import Document, Entity, Fact, Mention

TYPES = ("PER", "LOC", "ORG")
RELATIONS = ("born-in", "works-for", "part-of")
LETTERS = "abcdefgh"

patient = settings(deadline=None)
"""For properties whose first example also builds a tokenizer."""


@cache
def word_piece() -> PreTrainedTokenizerFast:
    """BERT's kind: lower case, [CLS] and [SEP]; its backend cuts and pads, as many published ones do."""
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*LETTERS, *("##" + letter for letter in LETTERS), "abc", "##def", "é", "##é", "*", "-", "中"]
    vocabulary = {piece: number for number, piece in enumerate([*specials, *pieces])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.enable_truncation(8)
    backend.enable_padding(length=8)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


@cache
def byte_level() -> PreTrainedTokenizerFast:
    """RoBERTa's kind: byte-level BPE that sees the space before a word."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(["abc abcdef * * def fed * abc"] * 3, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


# Letters, a marker inside a word, an accent, a character BERT drops, a space, and one that it splits off.
words = st.text(alphabet=LETTERS + "AÉ*-\x07\u200b 中", max_size=5) | st.sampled_from(["[SEP]", "</s>"])


@st.composite
def documents(draw, most_entities: int = 5, relations: tuple[str, ...] = RELATIONS) -> Document:
    """Any number of words and entities, also none; mentions nest, overlap and repeat."""
    sentences = draw(st.lists(st.lists(words, max_size=6).map(tuple), max_size=4).map(tuple))
    spans = [
        (number, start, end)
        for number, sentence in enumerate(sentences)
        for start in range(len(sentence))
        for end in range(start + 1, len(sentence) + 1)
    ]
    entities: tuple[Entity, ...] = ()
    if spans:
        mention = st.builds(
            lambda span, type: Mention(*span, type, "name"), st.sampled_from(spans), st.sampled_from(TYPES)
        )
        entity = st.lists(mention, min_size=1, max_size=3).map(lambda mentions: Entity(tuple(mentions)))
        entities = draw(st.lists(entity, max_size=most_entities).map(tuple))
    facts: tuple[Fact, ...] = ()
    if entities:
        ends = st.integers(0, len(entities) - 1)
        evidence = st.lists(st.integers(0, len(sentences) - 1), max_size=3).map(tuple)
        fact = st.builds(Fact, ends, ends, st.sampled_from(relations), evidence)
        facts = draw(st.lists(fact, max_size=6).map(tuple))
    return Document(draw(st.text(alphabet=LETTERS, min_size=1)), sentences, entities, facts)


def document_of(words: str, *spans: tuple[int, int], facts: tuple[Fact, ...] = (), id: str = "d") -> Document:
    """One sentence, one entity for each span, types in turn."""
    entities = tuple(
        Entity((Mention(0, start, end, TYPES[number % len(TYPES)], "name"),))
        for number, (start, end) in enumerate(spans)
    )
    return Document(id, (tuple(words.split(" ")),), entities, facts)


def chain_of(length: int, id: str = "d", entities: int = 3) -> Document:
    """A document of so many words, with one fact between its first two entities."""
    spans = [(number, number + 1) for number in range(entities)]
    facts = (Fact(0, 1, RELATIONS[0]),) if entities > 1 else ()
    return document_of(" ".join(["abc"] * length), *spans, facts=facts, id=id)
