"""What annotation tools can hold comes back as it was: ids, characters, types, coreference, facts."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import TITLES, word_documents

from unnoted.data import DataError, Document, Entity, Fact, Mention, load_documents, write_documents
from unnoted.data.entity_clustering import AnnotatedSpan
from unnoted.data.formats.annotated_text import AnnotatedText, to_document
from unnoted.data.formats.records import ReadContext
from unnoted.data.tokenization import split_text
from unnoted.errors import DefectLog

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5)


@st.composite
def tool_documents(draw):
    """Text with spans of which no two are the same; entities have types of their own, so that no names join them."""
    text = draw(st.text(st.sampled_from("abZ9 .-!\n(µ😀"), min_size=1, max_size=50))
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(
        lambda span: (
            text[span[0] : span[1]].strip() and text[span[0] : span[1]] == text[span[0] : span[1]].strip()
        )
    )
    count = draw(st.integers(0, 6)) if text.strip() else 0
    spans = draw(st.lists(places, min_size=count, max_size=count, unique_by=lambda span: span[0]))
    split = split_text(text, spans)
    entities, number = [], 0
    while spans:
        size = draw(st.integers(1, len(spans)))
        mine, spans = spans[:size], spans[size:]
        kinds = [f"{draw(NAMES)}{number}" for _ in mine]
        mentions = (
            Mention(*split.locate(a, b), kind, text[a:b]) for (a, b), kind in zip(mine, kinds, strict=True)
        )
        entities.append(
            Entity(tuple(mentions), draw(st.none() | NAMES.map(lambda name, n=number: f"{name}{n}")))
        )
        number += 1
    pairs = [(h, t) for h in range(number) for t in range(number) if h != t]
    triples = (
        draw(st.lists(st.tuples(st.sampled_from(pairs), NAMES), max_size=5, unique=True)) if pairs else []
    )
    facts = tuple(Fact(head, tail, f"r{relation}") for (head, tail), relation in triples)
    return Document(draw(TITLES), split.sentences, tuple(entities), facts, text)


def in_text_order(document):
    """The same document with mentions and entities in the order of the text, which is the order spaCy has."""
    mentions = [sorted(entity.mentions, key=lambda mention: mention.span) for entity in document.entities]
    order = sorted(range(len(mentions)), key=lambda number: mentions[number][0].span)
    entities = tuple(Entity(tuple(mentions[number]), document.entities[number].id) for number in order)
    facts = (replace(f, head=order.index(f.head), tail=order.index(f.tail)) for f in document.facts)
    return replace(document, entities=entities, facts=tuple(sorted(facts, key=lambda fact: fact.triple)))


def again(documents, name, format):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_documents(path, documents, format) == len(documents)
        return list(load_documents(path))


@pytest.mark.parametrize(
    ("name", "format"), [("out", "brat"), ("a.json", "label-studio"), ("a.jsonl", "prodigy")]
)
@settings(max_examples=10, deadline=None)
@given(documents=st.lists(tool_documents(), min_size=1, max_size=2, unique_by=lambda document: document.id))
def test_marked_text_survives_write_and_read(name, format, documents):
    back = again(documents, name, format)
    assert sorted(back, key=lambda document: document.id) == sorted(
        documents, key=lambda document: document.id
    )


@settings(max_examples=8, deadline=None)
@given(document=tool_documents())
def test_a_docbin_survives_write_and_read(document):
    (back,) = again([document], "a.spacy", None)
    assert in_text_order(back) == in_text_order(document)


@st.composite
def row_documents(draw):
    """Documents of words as rows of tokens can hold them: without evidence, names as the words are."""
    document = draw(word_documents())
    entities = tuple(
        Entity(
            tuple(replace(mention, name=" ".join(document.words_of(mention))) for mention in entity.mentions),
            entity.id and f"{entity.id}{number}",
        )
        for number, entity in enumerate(document.entities)
    )
    return replace(document, entities=entities, facts=tuple(replace(f, evidence=()) for f in document.facts))


@settings(max_examples=8, deadline=None)
@given(documents=st.lists(row_documents(), min_size=1, max_size=3, unique_by=lambda document: document.id))
def test_rows_survive_write_and_read(documents):
    assert again(documents, "a.jsonl", "columns") == documents


@settings(max_examples=8, deadline=None)
@given(document=tool_documents(), cuts=st.sets(st.integers(0, 49)))
def test_a_docbin_keeps_sentences_that_no_rule_would_make(document, cuts):
    words = sum(document.sentences, ())
    if document.entities or not words:
        return
    edges = sorted({0, len(words)} | {cut for cut in cuts if cut < len(words)})
    sentences = tuple(words[a:b] for a, b in pairwise(edges))
    changed = replace(document, sentences=sentences)
    assert again([changed], "a.spacy", None) == [changed]


def test_words_that_are_not_those_of_the_text_are_named():
    """As a damaged file has them."""
    marked = AnnotatedText(
        "1", "Ada met", [AnnotatedSpan("T1", 0, 3, "PER", "Ada", None, "tokens 0 to 1")], words=[(4, 7)]
    )
    with pytest.raises(DataError, match="document '1': tokens 0 to 1: 'Ada', expected at least one word"):
        to_document(marked, ReadContext(DefectLog()))
