"""Tags of entity recognition, and their cross-entropy, token by token."""

import math

import torch

OUTSIDE = "outside"


def plain_tags(batch):
    """For each document the tag of each of its tokens: outside, (type, begins), or None where it does not count."""
    result = []
    for document, length in enumerate(batch.lengths):
        tags = [OUTSIDE] * length
        for mention, owner in enumerate(batch.mention_document.tolist()):
            if owner != document:
                continue
            kind = int(batch.mention_type[mention])
            first, last = int(batch.mention_position[mention]), int(batch.mention_end[mention])
            for place in range(first, last + 1):
                tags[place] = (kind, place == first) if kind else None
        for place in range(length):
            if int(batch.token_sentence[document, place]) == batch.sentences:
                tags[place] = None
        result.append(tags)
    return result


def number(tag):
    """0 outside; 2k - 1 for the beginning and 2k for the inside of a mention of type k."""
    return 0 if tag == OUTSIDE else 2 * tag[0] - tag[1]


@torch.no_grad()
def plain_recognition(layer, states, batch):
    """The mean of -log p(tag) over the tokens that count."""
    losses = []
    for document, tags in enumerate(plain_tags(batch)):
        for place, tag in enumerate(tags):
            if tag is not None:
                scores = [
                    float(layer.weight[k] @ states[document, place] + layer.bias[k])
                    for k in range(len(layer.bias))
                ]
                total = sum(math.exp(score) for score in scores)
                losses.append(-math.log(math.exp(scores[number(tag)]) / total))
    return sum(losses) / len(losses)
