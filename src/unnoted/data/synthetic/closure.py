"""The complete truth: everything that follows from what is stated, with the statements it rests on."""

from unnoted.data.synthetic.vocabulary import COMPOSITIONS, IMPLICATIONS, INVERSES, NUMBERS

Statement = tuple[int, int, int]
"""A fact as (relation number, head, tail)."""

# What follows from one fact alone: the relation, and whether head and tail change places.
_RULES = ((INVERSES, True), (IMPLICATIONS, False))
_ALONE = [[(NUMBERS[rule[key]], swapped) for rule, swapped in _RULES if key in rule] for key in NUMBERS]
# What a relation composes with when it comes first (the other follows) and when it comes second.
_AS_FIRST = [[(NUMBERS[b], NUMBERS[c]) for a, b, c in COMPOSITIONS if a == key] for key in NUMBERS]
_AS_SECOND = [[(NUMBERS[a], NUMBERS[c]) for a, b, c in COMPOSITIONS if b == key] for key in NUMBERS]


def close(statements: list[Statement]) -> dict[Statement, int]:
    """Close statements under the inverse, implication and composition rules.

    Returns:
        Every true fact, and the bit mask of the statements that it was first derived from. Facts are derived
        in breadth-first order, so a stated fact rests on its own statement, and a derived one on few.

    Example:
        >>> born, located = NUMBERS["born_in"], NUMBERS["located_in"]
        >>> truth = close([(born, 0, 1), (located, 1, 2)])
        >>> truth[born, 0, 2] == 0b11, len(truth)
        (True, 3)
    """
    truth = {statement: 1 << position for position, statement in enumerate(statements)}
    queue = list(truth)
    # Neighbours of the facts already taken from the queue: each pair of facts meets once, when its later
    # one is taken.
    tails_of: dict[tuple[int, int], list[int]] = {}
    heads_of: dict[tuple[int, int], list[int]] = {}
    for fact in queue:
        relation, head, tail = fact
        rests_on = truth[fact]
        derived = [
            ((r, tail, head) if swapped else (r, head, tail), rests_on) for r, swapped in _ALONE[relation]
        ]
        for second, third in _AS_FIRST[relation]:
            ends = tails_of.get((second, tail), ())
            derived += [((third, head, e), rests_on | truth[second, tail, e]) for e in ends if e != head]
        for first, third in _AS_SECOND[relation]:
            starts = heads_of.get((first, head), ())
            derived += [((third, s, tail), rests_on | truth[first, s, head]) for s in starts if s != tail]
        if _AS_FIRST[relation]:
            heads_of.setdefault((relation, tail), []).append(head)
        if _AS_SECOND[relation]:
            tails_of.setdefault((relation, head), []).append(tail)
        for new, provenance in derived:
            if new not in truth:
                truth[new] = provenance
                queue.append(new)
    return truth
