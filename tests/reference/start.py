"""Where learning starts, in plain loops: counts by types, shrunk shares, and the score that shows them."""

import math


def type_of(document, entity, types):
    """The number of an entity's type, from 1: that of its first mention; 0 if it is not among `types`."""
    name = document.entities[entity].mentions[0].type
    return types.index(name) + 1 if name in types else 0


def shares(documents, relations, types, shrinkage):
    """By (type of head, type of tail, relation): (labelled + s π_l) / (pairs + s)."""
    pairs, labelled, total = {}, {}, 0
    for document in documents:
        facts = {fact.triple for fact in document.facts}
        for head in range(len(document.entities)):
            for tail in range(len(document.entities)):
                if head == tail:
                    continue
                kind = type_of(document, head, types), type_of(document, tail, types)
                pairs[kind] = pairs.get(kind, 0) + 1
                total += 1
                for relation in relations:
                    if (head, tail, relation) in facts:
                        labelled[*kind, relation] = labelled.get((*kind, relation), 0) + 1
    found = {}
    for relation in relations:
        prior = sum(count for (*_, r), count in labelled.items() if r == relation) / total
        for head in range(len(types) + 1):
            for tail in range(len(types) + 1):
                count = labelled.get((head, tail, relation), 0)
                found[head, tail, relation] = (count + shrinkage * prior) / (
                    pairs.get((head, tail), 0) + shrinkage
                )
    return found


def squared_ranking_start(share, labelled, overall, margin):
    """m (2 Δ' − 1) with Δ' = γ Δ / (γ Δ + 1 − Δ), Δ = share × π / π_l, kept from certainty."""
    delta = min(max(share * (overall / labelled if labelled else 1), 1e-5), 0.95)
    gamma = math.sqrt((1 - overall) / overall) if overall else 1
    return margin * (2 * gamma * delta / (gamma * delta + 1 - delta) - 1)


def log_odds_start(share, labelled, overall):
    """log Δ / (1 − Δ)."""
    delta = min(max(share * (overall / labelled if labelled else 1), 1e-5), 0.95)
    return math.log(delta / (1 - delta))
