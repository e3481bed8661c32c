"""Every loss of the paper as plain loops over classes and pairs, straight from its equations.

Numbers are float64 scalars that torch can differentiate, so that the loops are an oracle for gradients too.
"""

import math

import torch


def zero():
    return torch.zeros((), dtype=torch.float64)


def squared(f, f_0, y, margin):
    """Eq. 7."""
    return (y * f - 1) ** 2 / 4


def squared_ranking(f, f_0, y, margin):
    """Eq. 13."""
    return (y * (f - f_0) - margin) ** 2 / 4


def log_sigmoid(f, f_0, y, margin):
    """Eq. 19: −log σ(x) = log(1 + e^−x)."""
    return torch.log1p(torch.exp(-y * f))


def log_sigmoid_ranking(f, f_0, y, margin):
    """Eq. 20."""
    return torch.log1p(torch.exp(-y * (f - f_0)))


def cosine_softmax(f, f_0, y, margin):
    """P3M: the share of λ f, or of λ f_0, in the soft-max of the two, with λ = 10."""
    chosen, other = (f, f_0) if y > 0 else (f_0, f)
    return -torch.log(torch.exp(10 * chosen) / (torch.exp(10 * chosen) + torch.exp(10 * other)))


LOSSES = {
    "squared": squared,
    "squared-ranking": squared_ranking,
    "log-sigmoid": log_sigmoid,
    "log-sigmoid-ranking": log_sigmoid_ranking,
    "cosine-softmax": cosine_softmax,
}


def coefficients(estimator, labelled_prior, prior):
    """What E_P ℓ(+1), E_U ℓ(−1) and E_P ℓ(−1) are multiplied by: Eq. 3, Eq. 5, Eq. 10."""
    if estimator == "pn":
        return prior, 1 - prior, 0.0
    if estimator == "pu":
        return prior, 1.0, -prior
    unlabelled_prior = (prior - labelled_prior) / (1 - labelled_prior)
    on_unlabelled = (1 - prior) / (1 - unlabelled_prior)
    on_labelled = -(unlabelled_prior - unlabelled_prior * prior) / (1 - unlabelled_prior)
    return prior, on_unlabelled, on_labelled


def class_terms(
    scores, labels, weights, labelled_prior, prior, k, *, estimator, loss, margin, normalisation, class_weight
):
    """The three terms of class k, with their coefficients: on E_P ℓ(+1), on E_U ℓ(−1), on E_P ℓ(−1)."""
    sums = [zero(), zero(), zero()]
    labelled_count, unlabelled_count = 0.0, 0.0
    for j in range(len(weights)):
        f, f_0, weight = scores[j][k + 1], scores[j][0], float(weights[j])
        if labels[j][k]:
            labelled_count += weight
            sums[0] = sums[0] + weight * LOSSES[loss](f, f_0, +1, margin)
            sums[2] = sums[2] + weight * LOSSES[loss](f, f_0, -1, margin)
        else:
            unlabelled_count += weight
            sums[1] = sums[1] + weight * LOSSES[loss](f, f_0, -1, margin)
    if normalisation == "expected":
        count = labelled_count + unlabelled_count
        labelled_count, unlabelled_count = count * labelled_prior, count * (1 - labelled_prior)
    factors = list(coefficients(estimator, labelled_prior, prior))
    if class_weight and prior > 0:
        factors[0] *= math.sqrt((1 - prior) / prior)
    counts = labelled_count, unlabelled_count, labelled_count
    return [
        factor * total / count if count > 0 else zero()
        for factor, total, count in zip(factors, sums, counts, strict=True)
    ]


def corrected(positive, negative, correction):
    """The loss of one class: Eq. 5 and 10, Eq. 6 and 11, or the rule of the authors' program."""
    if correction == "clamp":
        return positive + torch.maximum(zero(), negative)
    if correction == "flip" and negative < 0:
        return -negative
    return positive + negative


def positive_unlabelled_loss(scores, labels, weights, labelled_priors, priors, *, correction, **choices):
    """The sum over classes, one after the other."""
    total = zero()
    for k in range(len(priors)):
        terms = class_terms(scores, labels, weights, labelled_priors[k], priors[k], k, **choices)
        total = total + corrected(terms[0], terms[1] + terms[2], correction)
    return total


def adaptive_threshold_loss(scores, labels, weights):
    """ATLOP's loss: for each pair, its labelled relations against TH, then TH against the others."""
    total, count = zero(), 0.0
    for j in range(len(weights)):
        exponentials = [torch.exp(score) for score in scores[j]]
        positives = [k for k in range(1, len(scores[j])) if labels[j][k - 1]]
        negatives = [k for k in range(1, len(scores[j])) if not labels[j][k - 1]]
        above = exponentials[0] + sum(exponentials[k] for k in positives)
        below = exponentials[0] + sum(exponentials[k] for k in negatives)
        loss = -torch.log(exponentials[0] / below)
        for k in positives:
            loss = loss - torch.log(exponentials[k] / above)
        total, count = total + float(weights[j]) * loss, count + float(weights[j])
    return total / count if count > 0 else total
