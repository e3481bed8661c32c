"""The pair representation of DocuNet for one document, cell by cell: no padding, no masks.

A map is a dictionary from (row, column) to a vector. What lies beyond its edge is not in it.
"""

import torch

from tests.reference.maps import plain_contexts, plain_entities


def plain_unet_pairs(module, encoded, batch):
    """The embeddings of head and tail of each pair of a batch of one document, as a list of two."""
    states, attentions = plain_entities(encoded, batch)
    image = {cell: module.channels(context) for cell, context in plain_contexts(encoded, attentions).items()}
    seen = plain_unet(module.unet, image)
    embeddings = []
    for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
        z_head = torch.tanh(module.head_projection(torch.cat([states[head], seen[head, tail]])))
        z_tail = torch.tanh(module.tail_projection(torch.cat([states[tail], seen[head, tail]])))
        embeddings.append((z_head, z_tail))
    return embeddings


def plain_unet(unet, image):
    """The vector of each cell."""
    first = plain_convolutions(unet.first, image)
    second = plain_convolutions(unet.second, pooled(first))
    third = plain_convolutions(unet.third, pooled(second))
    joined = plain_convolutions(unet.joined_second, join(second, raised(unet.up_to_second, third)))
    joined = plain_convolutions(unet.joined_first, join(first, raised(unet.up_to_first, joined)))
    return {cell: unet.output.weight[:, :, 0, 0] @ value + unet.output.bias for cell, value in joined.items()}


def plain_convolutions(layers, values):
    """Twice: convolution, normalisation, what is above 0."""
    for convolution, norm in ((layers.first, layers.first_norm), (layers.second, layers.second_norm)):
        values = normalised(norm, convolved(convolution, values))
        values = {cell: value.clamp(min=0) for cell, value in values.items()}
    return values


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


def normalised(norm, values):
    """Mean 0 and variance 1 over all cells and 8 channels at a time, then scaled and shifted by channel."""
    result = {cell: torch.empty_like(value) for cell, value in values.items()}
    for start in range(0, len(norm.weight), 8):
        part = slice(start, start + 8)
        numbers = torch.cat([value[part] for value in values.values()])
        mean = numbers.sum() / len(numbers)
        deviation = torch.sqrt(((numbers - mean) ** 2).sum() / len(numbers) + 1e-5)
        for cell, value in values.items():
            scaled = (value[part] - mean) / deviation
            result[cell][part] = scaled * norm.weight[part, 0, 0] + norm.bias[part, 0, 0]
    return result


def pooled(values):
    """The maximum over squares of 2 x 2 cells, cut off at the edge."""
    squares = {}
    for (row, column), value in values.items():
        squares.setdefault((row // 2, column // 2), []).append(value)
    return {square: torch.stack(members).amax(0) for square, members in squares.items()}


def raised(deconvolution, values):
    """Each cell becomes four, each by a matrix of its own."""
    result = {}
    for (row, column), value in values.items():
        for down in (0, 1):
            for right in (0, 1):
                weight = deconvolution.weight[:, :, down, right]  # [in, out]
                result[2 * row + down, 2 * column + right] = value @ weight + deconvolution.bias
    return result


def join(values, others):
    """Both vectors of each cell of the first, one after the other."""
    return {cell: torch.cat([value, others[cell]]) for cell, value in values.items()}
