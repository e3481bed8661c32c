"""The paired bootstrap as plain loops, from its definition: sums over drawn documents, F1 of the sums."""

from itertools import product


def f1(rows):
    """F1 of (correct, predicted, gold) for each drawn document."""
    correct, predicted, gold = (sum(row[place] for row in rows) for place in range(3))
    if not correct:
        return 0.0
    return 2 * correct / (predicted + gold)


def ign_f1(rows):
    """Ign F1 of (correct, predicted, gold, correct in train) for each drawn document."""
    correct, predicted, gold, known = (sum(row[place] for row in rows) for place in range(4))
    precision = (correct - known) / (predicted - known + 1e-5)
    recall = correct / gold if gold else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def difference(first, second, drawn, measure):
    """Points between two systems, each a list of runs, each a list of rows, on drawn places."""
    means = []
    for runs in (first, second):
        values = [measure([run[place] for place in drawn]) for run in runs]
        means.append(sum(values) / len(values))
    return 100 * (means[0] - means[1])


def every_difference(first, second, measure):
    """The differences of all equally likely draws: exact, for a handful of documents."""
    places = range(len(first[0]))
    return [difference(first, second, drawn, measure) for drawn in product(places, repeat=len(places))]
