"""Rules and their bounds from their definitions, in plain loops over all entities and all resamples."""

from itertools import product


def holds(kind, relations, facts, entities, head, tail):
    """Every list of premises by which a body holds for head and tail."""
    if kind == "same-pair":
        ways = [[(head, tail, relations[0])]]
    elif kind == "inverse":
        ways = [[(tail, head, relations[0])]]
    else:
        middle = [k for k in range(entities) if k not in (head, tail)]
        ways = [[(head, k, relations[0]), (k, tail, relations[1])] for k in middle]
    return [tuple(way) for way in ways if all(fact in facts for fact in way)]


def closure(facts, types, rules, allowed, functional, depth):
    """Facts and confidences after some rounds.

    Args:
        facts: noted triples.
        types: of the entities.
        rules: (kind, relations, conclusion, confidence) each.
        allowed: the type pairs of each relation.
        functional: relations with one tail for a head.
        depth: rounds.
    """
    sure = dict.fromkeys(facts, 1.0)
    for _ in range(depth):
        new = {}
        for (kind, relations, conclusion, confidence), head, tail in product(
            rules, range(len(types)), range(len(types))
        ):
            fact = head, tail, conclusion
            if head == tail or fact in sure or (types[head], types[tail]) not in allowed.get(conclusion, ()):
                continue
            for way in holds(kind, relations, sure, len(types), head, tail):
                new[fact] = max(new.get(fact, 0.0), confidence * min(sure[premise] for premise in way))
        there = dict(sure)
        for fact, confidence in sorted(new.items(), key=lambda item: (-item[1], item[0])):
            head, _, relation = fact
            second = any(h == head and r == relation for h, _, r in there)
            if not (relation in functional and second):
                there[fact] = confidence
        sure = there
    return sure


def mixture(added, labelled, unlabelled):
    """The share of facts among added margins, from ranks by comparing every two margins."""

    def rank(margin):
        return sum(1.0 if other < margin else 0.5 if other == margin else 0.0 for other in labelled) / len(
            labelled
        )

    ours, facts, others = (
        sum(map(rank, margins)) / len(margins) for margins in (added, labelled, unlabelled)
    )
    return (ours - others) / (facts - others)


def share_variance(counts):
    """Of a share over documents: the mean squared residual of a ratio.

    Args:
        counts: (pairs, hits) of each document.
    """
    pairs, hits = (sum(column) for column in zip(*counts, strict=True))
    share = hits / pairs
    return sum((h - share * p) ** 2 for p, h in counts) / pairs**2
