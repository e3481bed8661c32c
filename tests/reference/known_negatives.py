"""Risks with known negatives as plain loops, straight from docs/concepts/losses.md."""

import math

from tests.reference.pu_losses import LOSSES, coefficients, corrected, zero


def reviewed_loss(
    scores, labels, negatives, weights, labelled_priors, priors, *,
    estimator, loss, margin, normalisation, class_weight, correction,
):  # fmt: skip
    """The sum over classes: what is certain of the known negatives, and the estimate of all the rest."""
    total = zero()
    for k, (labelled_prior, prior) in enumerate(zip(labelled_priors, priors, strict=True)):
        pairs = [
            (float(weights[j]), scores[j][k + 1], scores[j][0], bool(labels[j][k]), bool(negatives[j][k]))
            for j in range(len(weights))
        ]
        count = sum(weight for weight, *_ in pairs)
        labelled = sum(weight for weight, _, _, is_labelled, _ in pairs if is_labelled)
        others = count - labelled
        if normalisation == "expected":
            labelled, others = count * labelled_prior, count * (1 - labelled_prior)
        on_positive, on_unlabelled, on_labelled = coefficients(estimator, labelled_prior, prior)
        if class_weight and prior > 0:
            on_positive *= math.sqrt((1 - prior) / prior)
        positive, estimated, certain = zero(), zero(), zero()
        for weight, f, f_0, is_labelled, is_known in pairs:
            if_positive, if_negative = (weight * LOSSES[loss](f, f_0, sign, margin) for sign in (+1, -1))
            if is_labelled and labelled > 0:
                positive = positive + on_positive * if_positive / labelled
                estimated = estimated + on_labelled * if_negative / labelled
            elif is_known and others > 0:
                certain = certain + on_unlabelled * if_negative / others
            elif not is_labelled and others > 0:
                estimated = estimated + on_unlabelled * if_negative / others
        total = total + corrected(positive, estimated, correction) + certain
    return total


def reviewed_likelihood(scores, labels, negatives, weights, noted):
    """−log of c Δ where labelled, of 1 − Δ where known to be false, of 1 − c Δ elsewhere; the mean."""
    total = weight = 0.0
    for pair, is_noted, is_known, w in zip(scores, labels, negatives, weights, strict=True):
        loss = 0.0
        for k, c in enumerate(noted):
            delta = 1 / (1 + math.exp(pair[0] - pair[k + 1]))
            chance = c * delta if is_noted[k] else 1 - delta if is_known[k] else 1 - c * delta
            loss -= math.log(chance)
        total, weight = total + w * loss, weight + w
    return total / weight if weight else 0.0
