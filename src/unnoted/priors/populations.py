"""Relations as a population: what the log ratios of all have in common helps those with few labels.

The log of true facts per labelled one is taken to be normal over the relations, cut off at 0. Its mean and
deviation come from the relations themselves (empirical Bayes), with what is uncertain about them kept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MEANS: Array = np.linspace(-1, 3.5, 46)
DEVIATIONS: Array = np.array([0.2, 0.35, 0.5, 0.7, 0.9])
"""Means and deviations of the log ratio that are tried. A mean below 0 says that most labels are complete."""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """What is known of the log ratios of K relations on a grid of G values.

    Attributes:
        values: float [G], the log ratios.
        weight: float [H], how probable each of the H populations is.
        prior: float [H, G], the log ratios in each population.
        evidence: float [K, G], the likelihood of each relation.
    """

    values: Array
    weight: Array
    prior: Array
    evidence: Array

    @classmethod
    def of(cls, values: Array, log_likelihood: Array) -> "Population":
        """The population that likelihoods [K, G] over the log ratios `values` [G] speak for.

        Example:
            >>> values = np.log([1.0, 2.0, 4.0])
            >>> found = Population.of(values, np.array([[-9.0, 0.0, -9.0]] * 20))
            >>> drawn = found.draws(1000, 1, np.random.default_rng(0))  # the last relation has no evidence
            >>> bool(drawn[:, 0].mean() > 0.69), bool(drawn[:, 20].mean() > 0.5)
            (True, True)
        """
        means, deviations = (each.ravel() for each in np.meshgrid(MEANS, DEVIATIONS, indexing="ij"))
        prior = np.exp(-(((values - means[:, None]) / deviations[:, None]) ** 2) / 2)  # [H, G]
        prior /= prior.sum(1, keepdims=True)
        evidence = np.exp(log_likelihood - log_likelihood.max(1, keepdims=True))
        marginal = np.log(prior @ evidence.T).sum(1)  # [H, K] → [H]
        weight = np.exp(marginal - marginal.max())
        return cls(values, weight / weight.sum(), prior, evidence)

    def draws(self, number: int, others: int, random: np.random.Generator) -> Array:
        """Log ratios of all relations together, and of `others` without evidence: [number, K + others]."""
        alone = np.ones((others, len(self.values)))
        evidence = np.concatenate([self.evidence, alone])  # [K + others, G]
        chosen = random.choice(len(self.weight), number, p=self.weight)
        reached = np.cumsum(self.prior[chosen][:, None] * evidence, -1)  # [number, K + others, G]
        point = random.random(reached.shape[:-1]) * reached[..., -1]
        index = (reached < point[..., None]).sum(-1)
        found: Array = self.values[index]
        return found
