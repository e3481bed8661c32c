"""The paired bootstrap as plain loops, from its definition: sums over drawn documents, F1 of the sums, their
mean over drawn runs."""

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


def difference(first, second, drawn, measure, chosen=None):
    """Points between two systems, each a list of runs, each a list of rows, on drawn places.

    `chosen` has the numbers of the drawn runs of each system; by default, all of them once.
    """
    means = []
    for runs, numbers in zip((first, second), chosen or map(range, map(len, (first, second))), strict=True):
        values = [measure([runs[number][place] for place in drawn]) for number in numbers]
        means.append(sum(values) / len(values))
    return 100 * (means[0] - means[1])


def run_choices(number):
    """Every equally likely draw of runs: one fewer than there are, or the only one."""
    return list(product(range(number), repeat=max(1, number - 1)))


def every_difference(first, second, measure):
    """The differences of all equally likely draws: exact, for a handful of documents and runs.

    Systems with equally many runs share the draw of runs.
    """
    places = range(len(first[0]))
    shared = [(each, each) for each in run_choices(len(first))]
    apart = product(run_choices(len(first)), run_choices(len(second)))
    choices = shared if len(first) == len(second) else list(apart)
    return [
        difference(first, second, drawn, measure, chosen)
        for drawn in product(places, repeat=len(places))
        for chosen in choices
    ]
