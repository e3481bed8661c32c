"""The pair representation of KD-DocRE for one document, cell by cell, from its equations."""

import math

import torch

from tests.reference.encoded import plain_contexts, plain_entities


def plain_axial_pairs(module, encoded, batch):
    """The vector of each pair of a batch of one document, as a list."""
    states, attentions = plain_entities(encoded, batch)
    contexts = plain_contexts(encoded, attentions)
    features = {}
    for (head, tail), context in contexts.items():
        z_head = torch.tanh(module.head_projection(torch.cat([states[head], context])))
        z_tail = torch.tanh(module.tail_projection(torch.cat([states[tail], context])))
        features[head, tail] = plain_bilinear(module.bilinear, z_head, z_tail)
    cells = features
    for layer in module.layers:
        cells = plain_layer(layer, cells, batch.entities)
    pairs = zip(batch.head.tolist(), batch.tail.tolist(), strict=True)
    return [features[pair] + cells[pair] for pair in pairs]


def plain_bilinear(bilinear, head, tail):
    """Each output is the sum over blocks of head^T W tail."""
    size, outputs = bilinear.block_size, bilinear.weight.shape[2]
    result = head.new_zeros(outputs)
    for output in range(outputs):
        for block, weight in enumerate(bilinear.weight):
            part = slice(block * size, (block + 1) * size)
            result[output] += head[part] @ weight[:, output].view(size, size) @ tail[part]
    return result


def plain_layer(layer, cells, entities):
    """norm(W (x + row attention + column attention) + b) at each cell."""
    refined = {}
    for head, tail in cells:
        row = [cells[head, other] for other in range(entities)]
        column = [cells[other, tail] for other in range(entities)]
        total = cells[head, tail]
        total = total + plain_attention(layer.rows, cells[head, tail], row)
        total = total + plain_attention(layer.columns, cells[head, tail], column)
        value = layer.linear(total)
        deviation = value - value.mean()
        value = deviation / torch.sqrt((deviation**2).mean() + layer.norm.eps)
        refined[head, tail] = value * layer.norm.weight + layer.norm.bias
    return refined


def plain_attention(attention, cell, others):
    """What one cell gets from the cells of its row or column."""
    width = len(cell)
    size = width // attention.heads
    to_query, to_key, to_value = attention.projection.weight.split(width)
    result = []
    for head in range(attention.heads):
        part = slice(head * size, (head + 1) * size)
        query = to_query[part] @ cell
        weights = [torch.exp(query @ (to_key[part] @ other) / math.sqrt(size)) for other in others]
        summed = sum(weight * (to_value[part] @ other) for weight, other in zip(weights, others, strict=True))
        result.append(summed / sum(weights))
    return attention.output(torch.cat(result))
