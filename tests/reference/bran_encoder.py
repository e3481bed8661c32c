"""The encoder of BRAN in the ChemDisGene program for one document, token by token and head by head."""

import math

import torch


def plain_norm(layer, state):
    mean = state.mean()
    variance = ((state - mean) ** 2).mean()
    return (state - mean) / torch.sqrt(variance + layer.eps) * layer.weight + layer.bias


def plain_bran_states(encoder, tokens):
    """The states [T, d] of a `BRANEncoder` without dropout, and the last block's attention
    [heads, T, T]; `tokens` is a list of ids without padding."""
    size = encoder.config.hidden_size
    # The position vector of place 0: sin(0) at even places, cos(0) at odd ones.
    place = torch.tensor([math.sin(0) if i % 2 == 0 else math.cos(0) for i in range(size)])
    states = [encoder.embedding.weight[token] * math.sqrt(size) + place for token in tokens]
    attention = None
    for block in encoder.layers:
        outputs, attention = plain_heads(block.attention, states, encoder.config.num_attention_heads)
        joined = [block.attention.output.weight @ output + block.attention.output.bias for output in outputs]
        states = [plain_norm(block.attention_norm, h + a) for h, a in zip(states, joined, strict=True)]
        inner = [(block.widen.weight @ state + block.widen.bias).clamp(min=0) for state in states]
        fed = [block.narrow.weight @ state + block.narrow.bias for state in inner]
        states = [plain_norm(block.norm, m + f) for m, f in zip(states, fed, strict=True)]
        states = [block.before.weight @ state + block.before.bias for state in states]
        states = plain_convolution(block.convolve, states)
        states = [block.after.weight @ state + block.after.bias for state in states]
    return torch.stack(states), attention


def plain_heads(layer, states, heads):
    """The heads' outputs side by side for each token, and their attention."""
    size = states[0].shape[0]
    part = size // heads
    projected = [layer.projection.weight @ state + layer.projection.bias for state in states]
    outputs = [[] for _ in states]
    attention = torch.zeros(heads, len(states), len(states), dtype=states[0].dtype)
    for head in range(heads):
        query, key, value = (
            [row[kind * size + head * part : kind * size + (head + 1) * part] for row in projected]
            for kind in range(3)
        )
        for i in range(len(states)):
            exponentials = [torch.exp(query[i] @ key[j] / math.sqrt(part)) for j in range(len(states))]
            total = sum(exponentials)
            for j in range(len(states)):
                attention[head, i, j] = exponentials[j] / total
            outputs[i].append(sum(exponentials[j] / total * value[j] for j in range(len(states))))
    return [torch.cat(output) for output in outputs], attention


def plain_convolution(layer, states):
    """A convolution with zeros around the document."""
    width = layer.weight.shape[2]
    results = []
    for place in range(len(states)):
        total = layer.bias
        for step in range(width):
            neighbour = place + step - width // 2
            if 0 <= neighbour < len(states):
                total = total + layer.weight[:, :, step] @ states[neighbour]
        results.append(total)
    return results
