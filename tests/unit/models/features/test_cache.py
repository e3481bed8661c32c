from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from tests.unit.models.features.making import RELATIONS, byte_level, chain_of, documents, patient, word_piece
from tests.unit.models.features.test_dataset import same

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.models.features import FeatureCache, Tokeniser, cache, dataset, featurise
from unnoted.models.features.cache import cache_directory, fingerprint

MENTION = Mention(0, 0, 1, "PER", "Ada")
DOCUMENT = Document(
    "d1",
    (("Ada", "works"), ("here",)),
    (Entity((MENTION,), "Q1"), Entity((replace(MENTION, sentence=1),), None)),
    (Fact(0, 1, "works-for", (0,)),),
)


def with_mention(**changes: object) -> Document:
    first, *others = DOCUMENT.entities
    return replace(DOCUMENT, entities=(replace(first, mentions=(replace(MENTION, **changes),)), *others))


CHANGED = [
    replace(DOCUMENT, id="d2"),
    replace(DOCUMENT, text="Ada works here"),
    replace(DOCUMENT, sentences=(("Ada", "worked"), ("here",))),
    replace(DOCUMENT, sentences=(("Ada", "works", "here"),)),
    replace(DOCUMENT, sentences=(("Ada works",), ("here",))),
    replace(DOCUMENT, sentences=(("Ada", "works"), (), ("here",))),
    with_mention(sentence=1),
    with_mention(start=1),
    with_mention(end=2),
    with_mention(type="LOC"),
    with_mention(name="A."),
    replace(DOCUMENT, entities=DOCUMENT.entities[::-1]),
    replace(DOCUMENT, entities=(replace(DOCUMENT.entities[0], id="Q2"), DOCUMENT.entities[1])),
    replace(
        DOCUMENT, entities=(replace(DOCUMENT.entities[0], mentions=(MENTION, MENTION)), DOCUMENT.entities[1])
    ),
    DOCUMENT.with_facts(()),
    DOCUMENT.with_facts([Fact(1, 0, "works-for", (0,))]),
    DOCUMENT.with_facts([Fact(0, 1, "born-in", (0,))]),
    DOCUMENT.with_facts([Fact(0, 1, "works-for", (1,))]),
    DOCUMENT.with_facts([Fact(0, 1, "works-for")]),
]


def key(corpus=(DOCUMENT,), tokeniser="t", relations=RELATIONS, candidates=None, types=()) -> str:
    return fingerprint(corpus, tokeniser, relations, candidates or CandidatePairs(), types)


def test_the_key_changes_with_every_field():
    keys = [key(), *(key([document]) for document in CHANGED)]
    assert len(set(keys)) == len(CHANGED) + 1


def test_the_key_changes_with_order_number_and_every_rule(monkeypatch):
    other = CHANGED[0]
    keys = [
        key(),
        key([]),
        key([DOCUMENT, DOCUMENT]),
        key([DOCUMENT, other]),
        key([other, DOCUMENT]),
        key(tokeniser="u"),
        key(types=("PER",)),
        key(types=("PER", "LOC")),
        key(relations=RELATIONS[::-1]),
        key(relations=RELATIONS[:1]),
        key(candidates=CandidatePairs(frozenset({("PER", "LOC")}))),
        key(candidates=CandidatePairs(frozenset({("LOC", "PER")}))),
    ]
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    keys.append(key())
    assert len(set(keys)) == len(keys)


@patient
@given(documents())
def test_equal_documents_have_equal_keys_however_they_were_made(document):
    again = Document(
        "".join(document.id),
        tuple(tuple("".join(list(word)) for word in sentence) for sentence in document.sentences),
        tuple(replace(entity) for entity in document.entities),
        tuple(replace(fact) for fact in document.facts),
    )
    assert key([again]) == key([document])


def test_a_tokenizer_is_known_by_what_it_does_not_by_how_it_was_last_called():
    identity = Tokeniser(word_piece()).identity
    word_piece()(["a b c"], truncation=True, max_length=2, padding="max_length")
    assert Tokeniser(word_piece()).identity == identity
    assert Tokeniser(byte_level()).identity != identity


def test_the_second_run_makes_nothing(tmp_path, monkeypatch):
    corpus = [chain_of(3, "one"), chain_of(7, "two")]
    arguments = corpus, word_piece(), RELATIONS, CandidatePairs()
    first = featurise(*arguments, FeatureCache(tmp_path))
    assert same(first, featurise(*arguments))
    monkeypatch.setattr(dataset, "record_batch", None)
    assert same(featurise(*arguments, FeatureCache(tmp_path)), first)
    with pytest.raises(TypeError):  # a changed document is made anew
        featurise([corpus[0], chain_of(8, "two")], *arguments[1:], FeatureCache(tmp_path))
    assert [path.suffix for path in tmp_path.iterdir()] == [".arrow"]


def flipped(content: bytes, place: float) -> bytes:
    middle = int(place * (len(content) - 1))
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "lengthened": lambda content: content + b"\0",
    **{
        f"flipped at {place}": lambda content, place=place: flipped(content, place)
        for place in (0, 0.3, 0.6, 1)
    },
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again_and_said(damage, tmp_path, caplog):
    arguments = [chain_of(3)], word_piece(), RELATIONS, CandidatePairs(), FeatureCache(tmp_path)
    whole = featurise(*arguments[:4])
    featurise(*arguments)
    [path] = tmp_path.iterdir()
    content = path.read_bytes()
    path.write_bytes(DAMAGES[damage](content))
    assert same(featurise(*arguments), whole)
    assert "is damaged" in caplog.text
    assert [other.read_bytes() for other in tmp_path.iterdir()] == [content]


def test_an_interrupted_writing_leaves_nothing(tmp_path):
    def interrupted(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FeatureCache(tmp_path).write("key", interrupted)
    assert list(tmp_path.iterdir()) == []


def test_the_directory_is_the_argument_or_the_variable_or_in_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("UNNOTED_CACHE", raising=False)
    assert cache_directory() == tmp_path / ".cache" / "unnoted"
    monkeypatch.setenv("UNNOTED_CACHE", str(tmp_path / "named"))
    assert cache_directory() == tmp_path / "named"
    assert FeatureCache(tmp_path / "given").directory == tmp_path / "given"
