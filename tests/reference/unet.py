"""The pair representation of DocuNet, cell by cell, from its paper's equations: no padding, no masks.

A map is a dictionary from (row, column) to a vector; what lies beyond its edge is not in it. The documents of
a batch are a list of maps. Only batch normalisation, while training, looks at more than one of them.
"""

import math

import torch

from tests.reference.encoded import plain_contexts, plain_entities


def plain_unet_pairs(module, documents):
    """The embeddings of head and tail of each pair of each document, given as (encoded, batch) of one each."""
    images = [plain_image(module.channels, encoded, batch) for encoded, batch in documents]
    found = []
    for (encoded, batch), seen in zip(documents, plain_unet(module.unet, images), strict=True):
        states, _ = plain_entities(encoded, batch)
        embeddings = []
        for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
            z_head = torch.tanh(module.head_projection(torch.cat([states[head], seen[head, tail]])))
            z_tail = torch.tanh(module.tail_projection(torch.cat([states[tail], seen[head, tail]])))
            embeddings.append((z_head, z_tail))
        found.append(embeddings)
    return found


def plain_image(channels, encoded, batch):
    """W_3 c + b of every pair, c its context."""
    _, attentions = plain_entities(encoded, batch)
    features = plain_contexts(encoded, attentions)
    return {cell: channels.weight @ feature + channels.bias for cell, feature in features.items()}


def plain_unet(unet, images):
    """The vector of each cell of each document."""
    first = plain_convolutions(unet.first, images)
    second = plain_convolutions(unet.second, [pooled(values) for values in first])
    third = plain_convolutions(unet.third, [pooled(values) for values in second])
    joined = plain_convolutions(unet.joined_second, joint(second, third))
    joined = plain_convolutions(unet.joined_first, joint(first, joined))
    weight, bias = unet.output.weight[:, :, 0, 0], unet.output.bias
    return [{cell: weight @ value + bias for cell, value in values.items()} for values in joined]


def plain_convolutions(layers, maps):
    """Twice: convolution, normalisation, what is above 0."""
    for convolution, norm in ((layers.first, layers.first_norm), (layers.second, layers.second_norm)):
        maps = normalised(norm, [convolved(convolution, values) for values in maps])
        maps = [{cell: value.clamp(min=0) for cell, value in values.items()} for values in maps]
    return maps


def convolved(convolution, values):
    """Each cell: the sum over its 3 x 3 neighbourhood, as far as it is in the map."""
    result = {}
    for row, column in values:
        total = convolution.bias
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                if (row + down, column + right) in values:
                    weight = convolution.weight[:, :, down + 1, right + 1]
                    total = total + weight @ values[row + down, column + right]
        result[row, column] = total
    return result


def normalised(norm, maps):
    """By running averages, or over all cells of the batch."""
    if norm.training:
        mean, variance, _ = batch_statistics(maps)
    else:
        mean, variance = norm.running_mean[:, 0, 0], norm.running_variance[:, 0, 0]
    return [
        {
            cell: (value - mean) / torch.sqrt(variance + 1e-5) * norm.weight[:, 0, 0] + norm.bias[:, 0, 0]
            for cell, value in values.items()
        }
        for values in maps
    ]


def batch_statistics(maps):
    """The mean, the variance and the unbiased variance of each channel over all cells of all documents."""
    cells = [value for values in maps for value in values.values()]
    mean = sum(cells) / len(cells)
    squares = sum((cell - mean) ** 2 for cell in cells)
    return mean, squares / len(cells), squares / max(1, len(cells) - 1)


def pooled(values):
    """The maximum over squares of 2 x 2 cells, cut off at the edge."""
    squares = {}
    for (row, column), value in values.items():
        squares.setdefault((row // 2, column // 2), []).append(value)
    return {square: torch.stack(members).amax(0) for square, members in squares.items()}


def joint(maps, lower):
    """Both vectors of each cell, of the way down and raised from below, one after the other."""
    joined = []
    for values, below in zip(maps, lower, strict=True):
        raised = interpolated(below)
        joined.append({cell: torch.cat([value, raised[cell]]) for cell, value in values.items()})
    return joined


def interpolated(values):
    """Twice the side, the corner cells over each other, and between cells what lies between."""
    side = math.isqrt(len(values))
    result = {}
    for row in range(2 * side):
        for column in range(2 * side):
            down, right = (place * (side - 1) / (2 * side - 1) for place in (row, column))
            top, left = min(int(down), side - 1), min(int(right), side - 1)
            bottom, far = min(top + 1, side - 1), min(left + 1, side - 1)
            upper = (1 - (right - left)) * values[top, left] + (right - left) * values[top, far]
            lower = (1 - (right - left)) * values[bottom, left] + (right - left) * values[bottom, far]
            result[row, column] = (1 - (down - top)) * upper + (down - top) * lower
    return result
