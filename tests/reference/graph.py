"""The pair representation of GAIN for one document, node by node and path by path, from its equations."""

import torch

from tests.reference.alone import mentions_of, plain_mention


def plain_graph_pairs(module, encoded, batch, last_layer_edges=False, path_attention=True, path_layer=False):
    """The vector of each pair of a batch of one document, in evaluation mode, as a list.

    By default as the paper has it; the three choices are those of the authors' program.
    """
    document, entities = plain_nodes(module, encoded.states, batch)
    ends = [entity[-module.node_width :] for entity in entities] if last_layer_edges else entities
    edges = plain_edges(module.paths, ends, batch)
    result = []
    for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
        h, t = entities[head], entities[tail]
        found = plain_paths(edges, head, tail, len(entities))
        if not found:
            path = h.new_zeros(4 * module.node_width)
        elif path_attention:
            path = plain_attention(module.paths, h, t, found)
        else:
            path = sum(found)
        if path_layer:
            layer = module.path_layer[0]
            path = torch.relu(layer.weight @ path + layer.bias)
        together = torch.cat([h, t, (h - t).abs(), h * t, document, path])
        result.append(torch.relu(module.combination(together)))
    return result


def plain_nodes(module, states, batch):
    """The vector of the document, and the list of the entities' vectors."""
    count = len(batch.mention_entity)
    nothing = states.new_zeros(module.mentions.added)
    nodes = [torch.cat([states[0, 0], nothing])]
    nodes += [plain_mention(module.mentions, states, batch, mention) for mention in range(count)]
    known = [nodes]
    for layer in module.layers:
        nodes = [plain_convolution(layer, nodes, node, batch) for node in range(1 + count)]
        known.append(nodes)
    full = [torch.cat([nodes[node] for nodes in known]) for node in range(1 + count)]
    entities = []
    for entity in range(batch.entities):
        own = [full[1 + mention] for mention in mentions_of(batch, entity)]
        entities.append(sum(own) / len(own))
    return full[0], entities


def edge_type(batch, one, other):
    """0 same entity, 1 same sentence, 2 document, None for no edge; node 0 is the document."""
    if one == other:
        return None
    if one == 0 or other == 0:
        return 2
    one, other = one - 1, other - 1
    if batch.mention_entity[one] == batch.mention_entity[other]:
        return 0
    return 1 if batch.mention_sentence[one] == batch.mention_sentence[other] else None


def plain_convolution(layer, nodes, node, batch):
    """One node after one layer."""
    total = layer.own.weight @ nodes[node] + layer.own.bias
    for kind, weight in enumerate(layer.neighbours.weight.split(len(total))):
        near = [nodes[other] for other in range(len(nodes)) if edge_type(batch, node, other) == kind]
        if near:
            total = total + weight @ (sum(near) / len(near))
    return torch.relu(total)


def plain_edges(paths, entities, batch):
    """The edges, by their two entities, in both directions."""
    sentences = [
        {int(batch.mention_sentence[mention]) for mention in mentions_of(batch, entity)}
        for entity in range(len(entities))
    ]
    edges = {}
    for one, e_one in enumerate(entities):
        for other, e_other in enumerate(entities):
            if one != other and sentences[one] & sentences[other]:
                edges[one, other] = torch.relu(paths.source(e_one) + paths.target.weight @ e_other)
    return edges


def plain_paths(edges, head, tail, entities):
    """The paths from head to tail over each third entity that has an edge with both."""
    return [
        torch.cat([edges[head, o], edges[o, head], edges[tail, o], edges[o, tail]])
        for o in range(entities)
        if (head, o) in edges and (o, tail) in edges
    ]


def plain_attention(paths, head, tail, found):
    """The sum of the paths, weighted by how well each answers the question of head and tail."""
    weight = torch.cat([paths.head_query.weight, paths.tail_query.weight], 1)  # [4 edge, 2 width]
    query = weight @ torch.cat([head, tail])
    exponents = [(query @ path).exp() for path in found]
    return sum(exponent * path for exponent, path in zip(exponents, found, strict=True)) / sum(exponents)
