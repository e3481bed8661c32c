"""BRAN's encoder for one document, token by token and head by head, from the equations."""

import math

import torch


def plain_states(encoder, tokens):
    """The states [T, d] of a `ConvolutionalAttentionEncoder` without dropout, and the last block's attention
    [heads, T, T]; `tokens` is a list of ids without padding."""
    states = []
    for place, token in enumerate(tokens):
        word = encoder.embedding.weight[token]
        if word.shape[0] != encoder.config.hidden_size:
            linear = encoder.projection[0]
            word = (linear.weight @ word + linear.bias).clamp(min=0)
        states.append(word + encoder.position_embeddings.weight[place])
    attention = None
    for block in encoder.layers:
        outputs, attention = plain_attention(block.attention, states, encoder.config.num_attention_heads)
        states = [plain_norm(block.attention_norm, o + b) for o, b in zip(outputs, states, strict=True)]
        convolved = plain_convolutions(block.convolutions, states)
        states = [plain_norm(block.norm, m + t) for m, t in zip(states, convolved, strict=True)]
    return torch.stack(states), attention


def plain_attention(layer, states, heads):
    size = states[0].shape[0]
    part = size // heads
    projected = [(layer.projection.weight @ state + layer.projection.bias).clamp(min=0) for state in states]
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


def plain_convolutions(layer, states):
    wide = [(layer.widen.weight @ state + layer.widen.bias).clamp(min=0) for state in states]
    width = layer.convolve.weight.shape[2]
    results = []
    for place in range(len(states)):
        total = layer.convolve.bias
        for step in range(width):
            neighbour = place + step - width // 2
            if 0 <= neighbour < len(states):
                total = total + layer.convolve.weight[:, :, step] @ wide[neighbour]
        results.append(layer.narrow.weight @ total.clamp(min=0) + layer.narrow.bias)
    return results


def plain_norm(layer, state):
    mean = state.mean()
    variance = ((state - mean) ** 2).mean()
    return (state - mean) / torch.sqrt(variance + layer.eps) * layer.weight + layer.bias
