"""DocRED's BiLSTM for one document, token by token, from the paper and its authors' program."""

import math

import torch

from tests.reference.encoded import mentions_of


def plain_entity_pairs(module, states, batch):
    """The embeddings of head and tail of each pair of a batch of one document, as a list.

    Args:
        module: with the weights.
        states: of the tokens, [1, T, d].
        batch: one document.
    """

    def layer(vector):
        return torch.relu(module.projection.weight @ vector + module.projection.bias)

    entities, first = [], []
    for entity in range(batch.entities):
        mentions = mentions_of(batch, entity)
        means = []
        for mention in mentions:
            places = range(int(batch.mention_position[mention]), int(batch.mention_end[mention]) + 1)
            tokens = [states[0, place] for place in places]
            means.append(sum(layer(token) for token in tokens) / len(tokens))
        entities.append(sum(means) / len(means))
        first.append(min(int(batch.mention_position[mention]) for mention in mentions))
    return [
        tuple(
            torch.cat([entities[own], plain_distance(module, first[own] - first[other])])
            for own, other in ((head, tail), (tail, head))
        )
        for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True)
    ]


def plain_distance(module, distance):
    """The embedding of a distance in tokens: of its sign and its power of 2, up to 256; 0 for none."""
    table = module.distance_embedding.weight
    if distance == 0:
        return torch.zeros_like(table[0])
    steps = min(9, math.floor(math.log2(abs(distance))) + 1)
    return table[9 + (steps if distance > 0 else -steps)]


def plain_two_way(layer, inputs):
    """The states [T, d] of a two-way LSTM with learnt start states, of inputs [T, input], step by step."""
    ahead = plain_lstm(layer.forwards, inputs, *layer.start[0])
    back = plain_lstm(layer.backwards, inputs.flip(0), *layer.start[1]).flip(0)
    return torch.cat([ahead, back], 1)


def plain_lstm(lstm, inputs, hidden, memory):
    """The equations of the LSTM: gates i, f, o and candidate g, c = f c + i g, h = o tanh(c)."""
    found = []
    for one in inputs:
        gates = lstm.weight_ih_l0 @ one + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ hidden + lstm.bias_hh_l0
        i, f, g, o = gates.chunk(4)
        memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * memory.tanh()
        found.append(hidden)
    return torch.stack(found)
