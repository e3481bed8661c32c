"""Hypothesis strategies: valid documents of every shape the schema allows."""

from hypothesis import strategies as st

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.tokenization import split_text

TYPES = st.sampled_from(["PER", "LOC", "ORG", "Chemical", "Gene"])
RELATIONS = st.sampled_from(["P17", "spouse", "chem_gene:affects^binding", "größer als"])
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["Cs"])
WORDS = st.text(CHARACTERS, min_size=1, max_size=6)
TITLES = st.text(CHARACTERS, min_size=1, max_size=12)
IDENTIFIERS = st.none() | st.text(CHARACTERS, min_size=1, max_size=6)


@st.composite
def mentions(draw, sentences):
    """A mention of one or more words, named by its words or, as in DocRED, with other spaces."""
    sentence = draw(st.sampled_from([i for i, words in enumerate(sentences) if words]))
    start = draw(st.integers(0, len(sentences[sentence]) - 1))
    end = draw(st.integers(start + 1, len(sentences[sentence])))
    covered = sentences[sentence][start:end]
    name = draw(st.sampled_from([" ".join(covered), "".join(covered)]))
    return Mention(sentence, start, end, draw(TYPES), name)


@st.composite
def facts(draw, entities, sentences):
    """Distinct facts between distinct entities."""
    if entities < 2:
        return ()
    pairs = st.tuples(st.integers(0, entities - 1), st.integers(0, entities - 1)).filter(
        lambda p: p[0] != p[1]
    )
    triples = draw(st.lists(st.tuples(pairs, RELATIONS), max_size=6, unique=True))
    evidence = st.lists(st.integers(0, sentences - 1), max_size=3).map(tuple)
    return tuple(Fact(head, tail, relation, draw(evidence)) for (head, tail), relation in triples)


@st.composite
def labels(draw, entities, sentences):
    """Facts, and known negatives that are none of them."""
    found = draw(facts(entities, sentences))
    rejected = draw(st.integers(0, len(found)))
    return {"facts": found[rejected:], "negatives": tuple(fact.triple for fact in found[:rejected])}


@st.composite
def word_documents(draw):
    """Documents given as words, as DocRED's are."""
    sentences = draw(st.lists(st.lists(WORDS, max_size=6).map(tuple), min_size=1, max_size=4).map(tuple))
    entities = ()
    if any(sentences):
        entity = st.builds(
            Entity, st.lists(mentions(sentences), min_size=1, max_size=3).map(tuple), IDENTIFIERS
        )
        entities = draw(st.lists(entity, max_size=4).map(tuple))
    return Document(draw(TITLES), sentences, entities, **draw(labels(len(entities), len(sentences))))


@st.composite
def text_documents(draw):
    """Documents given as raw text with mentions at character offsets, as PubTator's are."""
    text = draw(st.text(st.sampled_from("abZ9 .-!\n(µ"), min_size=1, max_size=60))
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(
        lambda span: span[0] < span[1] and text[span[0] : span[1]].strip()
    )
    spans = draw(st.lists(st.lists(places, min_size=1, max_size=3), max_size=4)) if text.strip() else []
    split = split_text(text, [span for entity in spans for span in entity])
    entities = tuple(
        Entity(
            tuple(Mention(*split.locate(a, b), draw(TYPES), text[a:b]) for a, b in entity), draw(IDENTIFIERS)
        )
        for entity in spans
    )
    return Document(
        draw(TITLES),
        split.sentences,
        entities,
        text=text,
        **(draw(labels(len(entities), max(len(split.sentences), 1))) if split.sentences else {}),
    )


documents = st.one_of(word_documents(), text_documents())
corpora = st.lists(documents, min_size=1, max_size=4, unique_by=lambda document: document.id)
