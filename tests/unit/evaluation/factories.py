"""Small documents for the evaluation tests."""

from unnoted.data.document import Document, Entity, Fact, Mention


def entity(name, *sentences, kind="PER"):
    """An entity that stands at the place of its name in each sentence: 'A' first, 'B' second, …"""
    place = "ABCDEFGH".index(name[0])
    return Entity(tuple(Mention(sentence, place, place + 1, kind, name) for sentence in sentences))


def document(title, entities, facts=()):
    """A document of three sentences of eight words; facts are (head, tail, relation, *evidence)."""
    sentences = (tuple("ABCDEFGH"),) * 3
    built = tuple(Fact(head, tail, relation, tuple(evidence)) for head, tail, relation, *evidence in facts)
    return Document(title, sentences, tuple(entities), built)
