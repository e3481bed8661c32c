"""The pair representation of GAIN for one document, node by node and path by path, from its equations."""

import torch

from tests.reference.encoded import mentions_of, plain_mention


def plain_graph_pairs(module, encoded, batch):
    """The vector of each pair of a batch of one document, in evaluation mode, as a list."""
    document, entities = plain_nodes(module, encoded.states, batch)
    edges = plain_edges(module, [entity[-module.node_dim :] for entity in entities], batch)
    layer, result = module.path_layer[0], []
    for head, tail in zip(batch.head.tolist(), batch.tail.tolist(), strict=True):
        h, t = entities[head], entities[tail]
        path = sum(plain_paths(edges, head, tail, len(entities)), h.new_zeros(4 * module.node_dim))
        path = torch.relu(layer.weight @ path + layer.bias)
        together = torch.cat([h, t, (h - t).abs(), h * t, document, path])
        result.append(torch.relu(module.combination(together)))
    return result


def plain_nodes(module, states, batch):
    """The vector of the document, and the list of the entities' vectors."""
    count = len(batch.mention_entity)
    nothing = states.new_zeros(module.node_dim - states.shape[2])
    nodes = [torch.cat([states[0, 0], nothing])]
    nodes += [plain_mention(module, states, batch, mention) for mention in range(count)]
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


def plain_edges(module, entities, batch):
    """The edges, by their two entities, in both directions."""
    sentences = [
        {int(batch.mention_sentence[mention]) for mention in mentions_of(batch, entity)}
        for entity in range(len(entities))
    ]
    edges = {}
    for one, e_one in enumerate(entities):
        for other, e_other in enumerate(entities):
            if one != other and sentences[one] & sentences[other]:
                edges[one, other] = torch.relu(
                    module.edge_source(e_one) + module.edge_target.weight @ e_other
                )
    return edges


def plain_paths(edges, head, tail, entities):
    """The paths from head to tail over each third entity that has an edge with both."""
    return [
        torch.cat([edges[head, o], edges[o, head], edges[tail, o], edges[o, tail]])
        for o in range(entities)
        if (head, o) in edges and (o, tail) in edges
    ]
