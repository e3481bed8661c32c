"""The negative log likelihood of what was noted, in plain loops, but for the constant sum of log c."""

import math


def likelihood_risk(scores, labels, weights, labelled, overall):
    """−[sum over labelled of log Δ + sum over the others of log(1 − c Δ)], the weighted mean over pairs."""
    total = weight = 0.0
    for pair, noted, w in zip(scores, labels, weights, strict=True):
        loss = 0.0
        for k, is_noted in enumerate(noted):
            c = labelled[k] / overall[k] if overall[k] else 1.0
            delta = 1 / (1 + math.exp(pair[0] - pair[k + 1]))
            loss -= math.log(delta) if is_noted else math.log(1 - c * delta)
        total, weight = total + w * loss, weight + w
    return total / weight if weight else 0.0
