"""Scores corrected for missing gold as plain loops, from the equations of docs/concepts/evaluation.md.

A gold fact is (document, relation), a prediction (document, relation, score, labelled); both stand for themselves
by their place in their list. `shares` has the label frequency of each relation. A document that is drawn several
times brings copies of its facts; copies of one fact are labelled together.
"""


def copies(rows, drawn):
    """(row, its place) for each time that its document is drawn; by default each once."""
    if drawn is None:
        return [(row, place) for place, row in enumerate(rows)]
    return [(row, place) for each in drawn for place, row in enumerate(rows) if row[0] == each]


def true_facts(gold, shares, drawn=None):
    total = 0.0
    for (_, relation), _ in copies(gold, drawn):
        total += 1 / shares[relation]
    return total


def figures(gold, decided, shares, favour=1.0, drawn=None):
    """F1, precision and recall if predicted true facts are labelled `favour` times as often as all true facts."""
    found = labelled = predicted = 0.0
    for (_, relation, _, is_labelled), _ in copies(decided, drawn):
        predicted += 1
        if is_labelled:
            labelled += 1
            found += 1 / shares[relation] / favour
    found = min(max(found, labelled), predicted)
    true = true_facts(gold, shares, drawn)
    precision = found / predicted if predicted else 0.0
    recall = found / true if true else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0, precision, recall


def average_precision(gold, ranked, shares, drawn=None):
    """Over pairs of gold facts: each stands for 1 / c, and for itself alone where both are the same fact."""
    rows = copies(ranked, drawn)
    area = 0.0
    for (_, relation, score, is_labelled), place in rows:
        if not is_labelled:
            continue
        as_high, ranked_as_high = 0.0, 0
        for (_, other_relation, other_score, other_is_labelled), other_place in rows:
            if other_score >= score:
                ranked_as_high += 1
                if other_is_labelled:
                    as_high += 1.0 if place == other_place else 1 / shares[other_relation]
        area += min(1.0, as_high / ranked_as_high) / shares[relation]
    true = true_facts(gold, shares, drawn)
    return min(1.0, area / true) if true else 0.0
