"""The best expected F1 by trying every set of facts, and calibration curves in plain loops."""

from itertools import chain, combinations
from math import exp, log


def best_set(probabilities, elsewhere=0.0):
    """The best expected F1 of any set of facts, 2 Σ_S p / (|S| + Σ p + G'), and the sets that have it.

    G' are true facts that are in no set.
    """
    total = sum(probabilities) + elsewhere
    places = range(len(probabilities))
    sets = chain.from_iterable(combinations(places, size) for size in range(len(places) + 1))
    scored = {chosen: 2 * sum(probabilities[i] for i in chosen) / (len(chosen) + total) for chosen in sets}
    best = max(scored.values())
    return best, [set(chosen) for chosen, f1 in scored.items() if f1 > best - 1e-12]


def on_curve(margins, log_odds, margin):
    """The probability on one curve of straight pieces through knots; those at both ends go on."""
    piece = 0
    while piece < len(margins) - 2 and margin > margins[piece + 1]:
        piece += 1
    slope = (log_odds[piece + 1] - log_odds[piece]) / (margins[piece + 1] - margins[piece])
    value = log_odds[piece] + slope * (margin - margins[piece])
    return 1 / (1 + exp(-value)) if value > -700 else 0.0


def isotonic(margins, labels):
    """The rising curve that is nearest to labels, at each margin: neighbours that fall are pooled."""
    order = sorted(range(len(margins)), key=lambda i: margins[i])
    blocks = []  # (sum, count)
    for i in order:
        blocks.append((float(labels[i]), 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            (s, n), (t, m) = blocks.pop(), blocks.pop()
            blocks.append((s + t, n + m))
    heights = [s / n for s, n in blocks for _ in range(n)]
    return dict(zip(order, heights, strict=True))


def calibration_error(probabilities, correct, bins):
    """The mean over facts of |mean probability − share true| of their bin, bins of equally many facts."""
    ranked = sorted(zip(probabilities, correct, strict=True), key=lambda pair: pair[0])
    size, extra, start, error = len(ranked) // bins, len(ranked) % bins, 0, 0.0
    for number in range(bins):
        part = ranked[start : start + size + (number < extra)]
        start += len(part)
        error += abs(sum(p for p, _ in part) - sum(c for _, c in part))
    return error / len(ranked)


def log_odds(probability):
    return log(probability) - log(1 - probability)
