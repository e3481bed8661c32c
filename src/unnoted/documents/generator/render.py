"""From a world to a document: sentences, entities with mentions, facts with their evidence."""

from random import Random

from unnoted.documents.generator.closure import RELATION_IDS, unpack_key
from unnoted.documents.generator.distractors import draw_distractors
from unnoted.documents.generator.plan import plan_sentences
from unnoted.documents.generator.world import World
from unnoted.documents.generator.writer import Writer
from unnoted.documents.schema import Document, Entity, Fact


def render_document(identifier: str, world: World, random: Random) -> Document:
    """Tell a world as a document whose facts are the world's complete truth.

    Example:
        >>> random = Random("example")
        >>> document = render_document("one", World(random), random)
        >>> all(fact.evidence for fact in document.facts)
        True
    """
    plans = plan_sentences(world, draw_distractors(world, random), random)
    writer = Writer(world.characters, random)
    sentences_of = [0] * len(world.statements)
    for plan in plans:
        read = writer.write(plan)
        for statement in _bits(plan.statements):
            sentences_of[statement] = read
    entities = tuple([Entity(tuple(mentions)) for mentions in writer.mentions])
    return Document(identifier, tuple(writer.sentences), entities, _facts(world.truth, sentences_of))


def _facts(truth: dict[int, int], sentences_of: list[int]) -> tuple[Fact, ...]:
    """The truth in a fixed order that does not tell stated facts from derived ones."""
    facts = []
    evidence_of: dict[int, tuple[int, ...]] = {}
    for key in sorted(truth):
        provenance = truth[key]
        evidence = evidence_of.get(provenance)
        if evidence is None:
            read = 0
            for statement in _bits(provenance):
                read |= sentences_of[statement]
            evidence = evidence_of[provenance] = _bits(read)
        relation, head, tail = unpack_key(key)
        facts.append(Fact(head, tail, RELATION_IDS[relation], evidence))
    return tuple(facts)


_positions: dict[int, tuple[int, ...]] = {}
"""The set bits of masks met before: with so few statements and sentences they repeat, so this stays small."""


def _bits(mask: int) -> tuple[int, ...]:
    """The positions of the set bits of a mask."""
    positions = _positions.get(mask)
    if positions is None:
        positions = tuple(position for position in range(mask.bit_length()) if mask >> position & 1)
        _positions[mask] = positions
    return positions
