"""Rules from their definition, in plain loops over all entities."""

from itertools import product


def holds(kind, relations, facts, entities, head, tail):
    """Every list of premises by which a body holds for head and tail."""
    if kind == "subsumption":
        ways = [[(head, tail, relations[0])]]
    elif kind == "inversion":
        ways = [[(tail, head, relations[0])]]
    else:
        middle = [k for k in range(entities) if k not in (head, tail)]
        ways = [[(head, k, relations[0]), (k, tail, relations[1])] for k in middle]
    return [tuple(way) for way in ways if all(fact in facts for fact in way)]


def closure(facts, entities, rules, rejected, rounds):
    """Facts after some rounds; rules are (kind, relations, conclusion)."""
    there = set(facts)
    for _ in range(rounds):
        new = set()
        for (kind, relations, conclusion), head, tail in product(rules, range(entities), range(entities)):
            fact = head, tail, conclusion
            if head != tail and fact not in rejected and holds(kind, relations, there, entities, head, tail):
                new.add(fact)
        there |= new
    return there
