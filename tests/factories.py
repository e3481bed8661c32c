"""Small documents for tests of any package."""

from dataclasses import replace

from unnoted.data.document import Document, Entity, Fact, Mention


def words(text, *entities, facts=(), id="d"):
    """A document of one sentence; an entity is (start, end, type, name)."""
    return Document(
        id,
        (tuple(text.split()),),
        tuple(Entity((Mention(0, start, end, kind, name),)) for start, end, kind, name in entities),
        tuple(facts),
    )


def make_document(types, triples, name="d", evidence=(), negatives=()):
    """One sentence with one word for each entity, of the given types."""
    mentions = [(i, i + 1, kind, f"e{i}") for i, kind in enumerate(types)]
    facts = [Fact(*triple, evidence) for triple in triples]
    document = words(" ".join(f"e{i}" for i in range(len(types))), *mentions, facts=facts, id=name)
    return replace(document, negatives=tuple(negatives))


def fact(head, tail, relation, *evidence):
    """A fact with its evidence sentences."""
    return Fact(head, tail, relation, evidence)
