"""Documents with chosen types and facts."""

from unnoted.data.document import Document, Entity, Fact, Mention


def make_document(types, triples, name="d", evidence=()):
    """One sentence with one word for each entity."""
    entities = tuple(Entity((Mention(0, i, i + 1, kind, f"e{i}"),)) for i, kind in enumerate(types))
    sentence = tuple(f"e{i}" for i in range(len(types)))
    return Document(name, (sentence,), entities, tuple(Fact(*triple, evidence) for triple in triples))
