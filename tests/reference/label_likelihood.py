"""The negative log likelihood of the labels, in plain loops; the offset of the propensity by bisection."""

import math


def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def propensity_offset(log_odds, facts, frequency, slope):
    """d with sum of facts (c(f) - c) = 0, c(f) = sigmoid(logit c + s log(1 + exp f) - d).

    All arguments but the slope are nested lists of pairs x relations; frequency is c.
    """
    rises = [[slope * math.log1p(math.exp(min(f, 20.0))) for f in row] for row in log_odds]

    def excess(offset):
        total = 0.0
        for fact, rise, mean in zip(facts, rises, frequency, strict=True):
            for n, r, c in zip(fact, rise, mean, strict=True):
                if 0 < c < 1:
                    total += n * (sigmoid(math.log(c / (1 - c)) + r - offset) - c)
        return total

    low, high = 0.0, max((max(row) for row in rises if row), default=0.0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def likelihood_loss(scores, labels, weights, labelled, overall, slope=0.0):
    """−[sum over labelled of log c(f) Δ + sum over the others of log(1 − c(f) Δ)], the mean over pairs."""
    frequency = [here / whole if whole else 1.0 for here, whole in zip(labelled, overall, strict=True)]
    log_odds = [[score - pair[0] for score in pair[1:]] for pair in scores]
    facts = [[w * sigmoid(f) for f in row] for row, w in zip(log_odds, weights, strict=True)]
    offset = propensity_offset(log_odds, facts, [frequency] * len(log_odds), slope)
    total = weight = 0.0
    for row, marks, w in zip(log_odds, labels, weights, strict=True):
        loss = 0.0
        for f, is_labelled, c in zip(row, marks, frequency, strict=True):
            if 0 < c < 1:
                c = sigmoid(math.log(c / (1 - c)) + slope * math.log1p(math.exp(min(f, 20.0))) - offset)
            loss -= math.log(c * sigmoid(f)) if is_labelled else math.log(1 - c * sigmoid(f))
        total, weight = total + w * loss, weight + w
    return total / weight if weight else 0.0
