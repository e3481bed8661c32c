"""Mentions in the raw text, in characters; and what documents and corpora say of themselves."""

from hypothesis import given
from tests.strategies import text_documents

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.mention_offsets import TextPlaces
from unnoted.data.synthetic import generate_documents
from unnoted.data.visualization.notebook import SHOWN


@given(text_documents())
def test_a_mention_is_found_where_its_words_stand(document):
    places = TextPlaces(document)
    for entity in document.entities:
        found = [document.text[start:end] for start, end in places.of(entity)]
        for text, mention in zip(found, entity.mentions, strict=True):
            assert "".join(text.split()) == "".join("".join(document.words_of(mention)).split())
            assert text == text.strip()


def test_without_text_there_are_no_places():
    (document,) = generate_documents(1)
    assert document.text is None and TextPlaces(document).of(document.entities[0]) == ()


def test_reprs_are_short_and_name_what_is_there():
    documents = tuple(generate_documents(SHOWN + 2))
    corpus = Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
    first = documents[0]
    assert repr(first) == (
        f"<Document {first.id!r}: {len(first.sentences)} sentences, {len(first.entities)} entities, {len(first.facts)} facts>"
    )
    facts = sum(len(document.facts) for document in documents)
    assert repr(corpus) == f"<Corpus: 12 documents, {len(corpus.relations)} relations, {facts} facts>"
    assert len(repr([corpus, *documents])) < 2000


def test_notebooks_get_html():
    documents = tuple(generate_documents(SHOWN + 2))
    corpus = Corpus(
        documents, RelationVocabulary(("child_of",), {"child_of": "is a child of"}), CandidatePairs()
    )
    html = corpus._repr_html_()
    assert html.count("<details") == SHOWN and f"The first {SHOWN} of 12 documents." in html
    assert "is a child of" in html and html.count("<style>") == 1
    drawn = documents[0]._repr_html_()
    assert drawn.count('<tr class="fact"') == len(documents[0].facts) > 0
