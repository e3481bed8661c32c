"""Batches, and a population, with known negatives."""

from itertools import product

import numpy as np
import torch

from unnoted.priors import Priors


def reviewed_batch(seed, pairs, share):
    """Logits, labels, known negatives that are no labels, and weights, of three relations."""
    rng = np.random.default_rng(seed)
    labels = rng.random((pairs, 3)) < 0.3
    negatives = ~labels & (rng.random((pairs, 3)) < share)
    found = rng.normal(0, 2, (pairs, 4)), labels, negatives, rng.choice([0.5, 1.0, 4.0], pairs)
    return tuple(map(torch.tensor, found))


class ReviewedPopulation:
    """Three kinds of pair and one relation. A review looks at pairs that are not labelled, by kind.

    What it finds to hold is labelled, what it finds not to hold is a known negative. `label` is the chance
    that a fact was labelled before, `looked` the chance that an unlabelled pair of a kind is looked at.
    """

    share = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    holds = torch.tensor([0.05, 0.4, 0.9], dtype=torch.float64)

    def __init__(self, looked, label=0.25):
        rows = []
        for kind, holds, labelled, seen in product(range(3), (True, False), (True, False), (True, False)):
            chance = self.holds[kind] if holds else 1 - self.holds[kind]
            marked = (label if labelled else 1 - label) if holds else float(not labelled)
            opened = (looked[kind] if seen else 1 - looked[kind]) if not labelled else float(not seen)
            weight = float(self.share[kind] * chance * marked * opened)
            rows.append((kind, holds and (labelled or seen), not holds and seen, weight))
        self.kinds = torch.tensor([row[0] for row in rows])
        self.labels, self.negatives = (torch.tensor([[row[at]] for row in rows]) for at in (1, 2))
        self.weights = torch.tensor([row[3] for row in rows], dtype=torch.float64)
        self.overall = float(self.share @ self.holds)
        self.first = label * self.overall
        self.labelled = float(self.weights @ self.labels[:, 0].double())

    def supervised(self, logits, surrogate):
        """What one would minimise if everything were known."""
        if_positive, if_negative = surrogate(logits)
        losses = self.holds * if_positive[:, 0] + (1 - self.holds) * if_negative[:, 0]
        return (self.share * losses).sum()

    def priors(self):
        return Priors(("a",), (self.labelled,), (self.overall,))
