"""Small documents for tests of any package."""

from unnoted.data.document import Document, Entity, Fact, Mention


def words(text, *entities, facts=(), id="d"):
    """A document of one sentence; an entity is (start, end, type, name)."""
    return Document(
        id,
        (tuple(text.split()),),
        tuple(Entity((Mention(0, start, end, kind, name),)) for start, end, kind, name in entities),
        tuple(facts),
    )


def fact(head, tail, relation, *evidence):
    """A fact with its evidence sentences."""
    return Fact(head, tail, relation, evidence)
