"""Scores with known truth: relations of several sizes, overlapping classes, labels picked at random."""

import numpy as np

from unnoted.priors.labelled_scores import LabelledScores


def simulated(ratio, seed=0, relations=12, pairs=6000, spread=0.4, tails="normal"):
    """Scores, and the truth [pairs, relations]; each relation has its own ratio around `ratio`."""
    random = np.random.default_rng(seed)
    facts = np.geomspace(min(40, pairs / 20), min(500, pairs / 10), relations).astype(int)
    ratios = np.maximum(1, ratio * np.exp(random.normal(0, spread, relations))) if ratio > 1 else 1.0
    true = np.zeros((pairs, relations), dtype=bool)
    for column, count in enumerate(facts):
        true[random.choice(pairs, count, replace=False), column] = True
    noise = random.normal(size=true.shape) if tails == "normal" else random.standard_t(4, true.shape)
    margin = noise + true * random.uniform(2.5, 4, relations)
    labelled = true & (random.random(true.shape) < 1 / ratios)
    document = np.sort(random.integers(0, 100, pairs)).astype(np.int32)
    names = tuple(f"r{number}" for number in range(relations))
    zeros = np.zeros(pairs, np.int32)
    documents = tuple(map(str, range(100)))
    return LabelledScores(names, documents, document, zeros, zeros, margin.astype(np.float32), labelled), true
