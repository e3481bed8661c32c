"""The complete truth: everything that follows from what is stated, with the statements it rests on.

Facts are single integers and provenance is a bit mask of statements, because this runs for every document.
For the same reason the loop packs and unpacks keys in place: calls would double its time.
"""

from unnoted.documents.generator.relations import COMPOSITIONS, IMPLICATIONS, INVERSES, RELATIONS

RELATION_IDS: tuple[str, ...] = tuple(RELATIONS)
"""Relations in the order of their numbers."""

NUMBERS: dict[str, int] = {relation: number for number, relation in enumerate(RELATION_IDS)}
"""The number of each relation."""

ENTITY_BITS = 5
MOST_ENTITIES = 1 << ENTITY_BITS
"""How many entities a fact's key has room for."""

_ENTITY_MASK = MOST_ENTITIES - 1


def fact_key(relation: int, head: int, tail: int) -> int:
    """A fact as one integer.

    Example:
        >>> unpack_key(fact_key(3, 7, 1))
        (3, 7, 1)
    """
    return (relation << 2 * ENTITY_BITS) | (head << ENTITY_BITS) | tail


def unpack_key(key: int) -> tuple[int, int, int]:
    """The (relation, head, tail) of a key."""
    return key >> 2 * ENTITY_BITS, (key >> ENTITY_BITS) & _ENTITY_MASK, key & _ENTITY_MASK


_INVERSE: tuple[int, ...] = tuple(
    NUMBERS[INVERSES[relation]] if relation in INVERSES else -1 for relation in RELATION_IDS
)
_IMPLIED: tuple[int, ...] = tuple(
    NUMBERS[IMPLICATIONS[relation]] if relation in IMPLICATIONS else -1 for relation in RELATION_IDS
)
# What a relation composes with when it comes first (the other follows) and when it comes second.
_AS_FIRST: tuple[tuple[tuple[int, int], ...], ...] = tuple(
    tuple((NUMBERS[second], NUMBERS[third]) for first, second, third in COMPOSITIONS if first == relation)
    for relation in RELATION_IDS
)
_AS_SECOND: tuple[tuple[tuple[int, int], ...], ...] = tuple(
    tuple((NUMBERS[first], NUMBERS[third]) for first, second, third in COMPOSITIONS if second == relation)
    for relation in RELATION_IDS
)


def close(statements: list[int]) -> dict[int, int]:
    """Close statements under the inverse, implication and composition rules.

    Args:
        statements: the keys of the stated facts.

    Returns:
        Every true fact's key, and the bit mask of the statements that it was first derived from. Facts are
        derived in breadth-first order, so a stated fact rests on its own statement, and a derived one on
        few.

    Example:
        >>> born, located = NUMBERS["born_in"], NUMBERS["located_in"]
        >>> truth = close([fact_key(born, 0, 1), fact_key(located, 1, 2)])
        >>> truth[fact_key(born, 0, 2)] == 0b11, len(truth)
        (True, 3)
    """
    truth: dict[int, int] = {}
    for position, key in enumerate(statements):
        truth.setdefault(key, 1 << position)
    queue = list(truth)
    # Neighbours of the facts already taken from the queue: each pair of facts meets once, when its later
    # one is taken.
    tails_of: dict[int, list[int]] = {}
    heads_of: dict[int, list[int]] = {}
    for key in queue:
        provenance = truth[key]
        relation = key >> 10
        head = (key >> 5) & 31
        tail = key & 31
        derived = _INVERSE[relation]
        if derived >= 0:
            new = (derived << 10) | (tail << 5) | head
            if new not in truth:
                truth[new] = provenance
                queue.append(new)
        derived = _IMPLIED[relation]
        if derived >= 0:
            new = (derived << 10) | (head << 5) | tail
            if new not in truth:
                truth[new] = provenance
                queue.append(new)
        rules = _AS_FIRST[relation]
        if rules:
            for second, third in rules:
                for end in tails_of.get((second << 5) | tail, ()):
                    new = (third << 10) | (head << 5) | end
                    if end != head and new not in truth:
                        truth[new] = provenance | truth[(second << 10) | (tail << 5) | end]
                        queue.append(new)
            heads_of.setdefault((relation << 5) | tail, []).append(head)
        rules = _AS_SECOND[relation]
        if rules:
            for first, third in rules:
                for start in heads_of.get((first << 5) | head, ()):
                    new = (third << 10) | (start << 5) | tail
                    if start != tail and new not in truth:
                        truth[new] = provenance | truth[(first << 10) | (start << 5) | head]
                        queue.append(new)
            tails_of.setdefault((relation << 5) | head, []).append(tail)
    return truth
