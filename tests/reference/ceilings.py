"""The likelihood of a labelled share, and what a population makes of it, in plain loops."""

import math

import numpy as np
from scipy.optimize import minimize

from unnoted.priors.ceilings import SLOPE, SLOPE_DEVIATION


def best_likelihood(size, labelled, height, shape, share):
    """max over a, b of Σ y log(c σ) + (n − y) log(1 − c σ) − ((b − slope) / deviation)² / 2, σ = σ(a + b t)."""
    t = np.array(height) ** shape
    t = (t - t.mean()) / t.std()

    def loss(point):
        a, b = point
        total = ((b - SLOPE) / SLOPE_DEVIATION) ** 2 / 2
        for n, y, each in zip(size, labelled, t, strict=True):
            chance = share / (1 + math.exp(-min(max(a + b * each, -40), 40)))
            chance = min(max(chance, 1e-12), 1 - 1e-12)
            total -= y * math.log(chance) + (n - y) * math.log(1 - chance)
        return total

    start = math.log((sum(labelled) + 0.5) / sum(size)) - SLOPE
    found = minimize(loss, [start, SLOPE], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8})
    return -found.fun


def posterior(values, log_likelihood, means, deviations):
    """The posterior of each relation, averaged over all populations by what they explain."""
    weights, each = [], []
    for mean in means:
        for deviation in deviations:
            prior = [math.exp(-(((x - mean) / deviation) ** 2) / 2) for x in values]
            prior = [p / sum(prior) for p in prior]
            weight, rows = 1.0, []
            for row in log_likelihood:
                joint = [p * math.exp(v - max(row)) for p, v in zip(prior, row, strict=True)]
                weight *= sum(joint)
                rows.append([p / sum(joint) for p in joint])
            weights.append(weight)
            each.append(rows)
    return np.average(np.array(each), axis=0, weights=weights)
