"""The losses of the paper's baselines as plain loops over pairs and relations, from their equations.

Numbers are float64 scalars that torch can differentiate, so that the loops are an oracle for gradients too.
`pair` is f_0, f_1, ..., f_K; `labels` says of each relation whether it is labelled.
"""

import torch

from tests.reference.pu_losses import zero


def probability(x):
    """The sigmoid."""
    return 1 / (1 + torch.exp(-x))


def cross_entropy(pair, labels):
    """−[y log p + (1 − y) log(1 − p)], the mean over relations."""
    loss = zero()
    for k, labelled in enumerate(labels):
        p = probability(pair[k + 1])
        loss = loss - (torch.log(p) if labelled else torch.log(1 - p))
    return loss / len(labels)


def balanced_softmax(pair, labels, threshold=0.0):
    """log(e^s_0 + sum over the others of e^s_j) + log(e^-s_0 + sum over the labels of e^-s_i), s_0 = 0.

    A pair without a labelled relation has the none class as its label.
    """
    s_0 = torch.tensor(threshold, dtype=torch.float64)
    others, positives = torch.exp(s_0), torch.exp(-s_0)
    for score, labelled in zip(pair, [not any(labels), *labels], strict=True):
        if labelled:
            positives = positives + torch.exp(-score)
        else:
            others = others + torch.exp(score)
    return torch.log(others) + torch.log(positives)


def adaptive_focal(pair, labels, gamma=1):
    """−(1 + (1 − p)^γ) log p of each labelled relation against TH; −log of TH's share among the others."""
    th = torch.exp(pair[0])
    loss, others = zero(), th
    for k, labelled in enumerate(labels):
        own = torch.exp(pair[k + 1])
        if labelled:
            p = own / (own + th)
            loss = loss - (1 + (1 - p) ** gamma) * torch.log(p)
        else:
            others = others + own
    return loss - torch.log(th / others)


LOSSES = {
    "cross-entropy": cross_entropy,
    "balanced-softmax": balanced_softmax,
    "adaptive-focal": adaptive_focal,
}


def mean_over_pairs(loss_of_pair, pairs, weights):
    """The weighted mean of a loss of the j-th pair; 0 without pairs."""
    total, count = zero(), 0.0
    for j in range(pairs):
        total, count = total + float(weights[j]) * loss_of_pair(j), count + float(weights[j])
    return total / count if count > 0 else total


def baseline_loss(name, scores, labels, weights):
    """A baseline's loss, averaged over pairs."""
    return mean_over_pairs(lambda j: LOSSES[name](scores[j], labels[j]), len(weights), weights)


def score_difference(scores, teacher, weights, first):
    """The mean over pairs and columns, from `first` on, of (student − teacher)²."""

    def of_pair(j):
        columns = range(first, len(scores[j]))
        return sum((scores[j][k] - teacher[j][k]) ** 2 for k in columns) / len(columns)

    return mean_over_pairs(of_pair, len(weights), weights)
