"""Bi-affine scores of mentions with log-sum-exp, pair by pair, from their equations."""

import torch

from tests.reference.encoded import tokens_of


def plain_biaffine_scores(pairs, scorer, encoded, batch):
    """The scores [P, K + 1] of BRAN's pair encoder and head."""
    states = [
        [encoded.states[document, place] for place in tokens_of(batch, entity)]
        for entity, document in enumerate(batch.entity_document.tolist())
    ]
    result = []
    for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
        row = []
        for relation in range(scorer.weight.shape[1]):
            scores = [
                pairs.head_network(one) @ scorer.weight[:, relation] @ pairs.tail_network(other)
                for one in states[head]
                for other in states[tail]
            ]
            largest = max(scores)
            row.append(largest + sum((score - largest).exp() for score in scores).log())
        result.append(torch.stack(row))
    return torch.stack(result)
