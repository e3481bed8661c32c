"""P3M from its formulas, as plain loops: cosines, labelled pairs seen twice, and mix-up with the none class."""

import math

import torch

from tests.reference.pu_losses import class_terms, corrected, cosine_softmax, zero


def unit(vector):
    return vector / torch.sqrt(sum(value * value for value in vector))


def cosines(pair, relations):
    """The cosine of a pair's embedding with every relation's."""
    return torch.stack([sum(unit(pair) * unit(relation)) for relation in relations])


def mixed(pair, none, share):
    """A mixture of two directions."""
    return share * unit(pair) + (1 - share) * unit(none)


def p3m_loss(
    scores, labels, weights, labelled_priors, priors, facts, second, mixtures, shares, weight, correction
):
    """The S-PU loss by the counts of the batch, E_P over both views, and the mixtures of each class beside it.

    `facts` are (pair, relation); `second` and `mixtures` have the scores of each.
    """
    choices = {"estimator": "s-pu", "loss": "cosine-softmax", "margin": 0.0, "normalisation": "per-batch",
               "class_weight": True}  # fmt: skip
    total = zero()
    for k, (labelled_prior, prior) in enumerate(zip(labelled_priors, priors, strict=True)):
        terms = class_terms(scores, labels, weights, labelled_prior, prior, k, **choices)
        of_class = [(f, pair) for f, (pair, relation) in enumerate(facts) if relation == k]
        count = sum(float(weights[pair]) for _, pair in of_class)
        again = [zero(), zero(), zero()]
        gamma = math.sqrt((1 - prior) / prior)
        for f, pair in of_class:
            own = float(weights[pair]) / count
            up, down = (cosine_softmax(second[f][k + 1], second[f][0], y, 0.0) for y in (+1, -1))
            again[0] = again[0] + own * gamma * prior * up
            again[1] = again[1] - own * (prior - labelled_prior) * down
            mix = [cosine_softmax(mixtures[f][k + 1], mixtures[f][0], y, 0.0) for y in (+1, -1)]
            again[2] = again[2] + own * gamma * prior * (shares[f] * mix[0] + (1 - shares[f]) * mix[1])
        positive = (terms[0] + again[0]) / 2
        negative = terms[1] + (terms[2] + again[1]) / 2
        total = total + corrected(positive, negative, correction) + weight * again[2]
    return total
