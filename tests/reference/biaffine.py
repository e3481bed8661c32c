"""Bi-affine scores of mentions with log-sum-exp, pair by pair, from their equations."""

import torch

from tests.reference.alone import mentions_of


def plain_biaffine_scores(pairs, scorer, encoded, batch):
    """The scores [P, K + 1] of BRAN's pair representation and scorer."""
    states = [
        encoded.states[document, place]
        for document, place in zip(
            batch.mention_document.tolist(), batch.mention_position.tolist(), strict=True
        )
    ]
    result = []
    for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
        row = []
        for relation in range(scorer.weight.shape[1]):
            scores = [
                pairs.head_network(states[i]) @ scorer.weight[:, relation] @ pairs.tail_network(states[j])
                for i in mentions_of(batch, head)
                for j in mentions_of(batch, tail)
            ]
            largest = max(scores)
            row.append(largest + sum((score - largest).exp() for score in scores).log())
        result.append(torch.stack(row))
    return torch.stack(result)
