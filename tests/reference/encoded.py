"""EncoderOutput batches without an encoder, one document of a batch by itself, and its parts in plain loops."""

from dataclasses import replace

import torch

from tests.reference.batches import only as only_document
from unnoted.models.encoders import EncoderOutput


def random_encoded(batch, width, heads=2, seed=0, dtype=torch.float64):
    """Random token states, no number at padding, and random attention of entities that is 0 there."""
    generator = torch.Generator().manual_seed(seed)
    tokens = batch.input_ids.shape[1]
    states = torch.randn(len(batch.lengths), tokens, width, generator=generator, dtype=dtype)
    states = states.masked_fill(batch.attention_mask.unsqueeze(2) == 0, torch.nan)
    scores = 2 * torch.randn(len(batch.entity_document), heads, tokens, generator=generator, dtype=dtype)
    padding = batch.attention_mask[batch.entity_document] == 0
    return EncoderOutput(states, scores.masked_fill(padding[:, None], -torch.inf).softmax(-1))


def scramble(module, seed=0):
    """Random weights in place of the first ones, so that no 0 or 1 among them hides a mistake."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            scale = 0.5 if parameter.dim() == 1 else parameter[0].numel() ** -0.5
            parameter.copy_(scale * (torch.randn(parameter.shape, generator=generator) + 0.2))
    return module


def only(encoded, batch, document):
    """One document as a batch of its own, without padding, and the rows of its pairs in the whole batch."""
    one, _, pair = only_document(batch, document)
    entity = batch.entity_document == document
    length = batch.lengths[document]
    return (
        EncoderOutput(
            encoded.states[document : document + 1, :length], encoded.entity_attention[entity, :, :length]
        ),
        one,
        pair,
    )


def some_pairs(batch, rows):
    """The same batch with these of its candidate pairs only."""
    return replace(
        batch,
        head=batch.head[rows],
        tail=batch.tail[rows],
        pair_document=batch.pair_document[rows],
        pair_weight=batch.pair_weight[rows],
        fact_pair=batch.fact_pair[:0],
        fact_relation=batch.fact_relation[:0],
        evidence_pair=batch.evidence_pair[:0],
        evidence_sentence=batch.evidence_sentence[:0],
    )


def plain_entities(encoded, batch):
    """The states and attentions of the entities of a batch of one document, as two lists."""
    states, attentions = [], []
    for entity in range(batch.entities):
        mentions = [m for m, owner in enumerate(batch.mention_entity.tolist()) if owner == entity]
        places = [batch.mention_position[m] for m in mentions]
        states.append(torch.logsumexp(torch.stack([encoded.states[0, place] for place in places]), 0))
        attentions.append(encoded.entity_attention[entity])
    return states, attentions


def plain_contexts(encoded, attentions):
    """The context of every ordered pair of entities of one document, an entity with itself included."""
    contexts = {}
    for head, one in enumerate(attentions):
        for tail, other in enumerate(attentions):
            weights = sum(one[h] * other[h] for h in range(len(one))) / len(one)  # [T]
            summed = sum(weight * state for weight, state in zip(weights, encoded.states[0], strict=True))
            contexts[head, tail] = summed / (weights.sum() + 1e-5)
    return contexts


def mentions_of(batch, entity):
    """The rows of an entity's mentions."""
    return [m for m, owner in enumerate(batch.mention_entity.tolist()) if owner == entity]


def tokens_of(batch, entity):
    """The places of an entity's tokens, in order: all between its mentions' markers but markers.

    A mention that has nothing but markers between its own has its opening marker.
    """
    document = int(batch.entity_document[entity])
    own = [m for m, owner in enumerate(batch.mention_document.tolist()) if owner == document]
    markers = {int(place[m]) for m in own for place in (batch.mention_position, batch.mention_end)}
    found = []
    for mention in mentions_of(batch, entity):
        first, last = int(batch.mention_position[mention]), int(batch.mention_end[mention])
        found += [place for place in range(first + 1, last) if place not in markers] or [first]
    return sorted(set(found))


def plain_mean(states, batch, mention):
    """The mean of the states from marker to marker, of a mention of a batch of one document."""
    first, last = int(batch.mention_position[mention]), int(batch.mention_end[mention])
    return sum(states[0, place] for place in range(first, last + 1)) / (last - first + 1)


def plain_mention(module, states, batch, mention):
    """[mean of the states; type; entity] of a mention of a batch of one document."""
    kind = int(batch.mention_type[mention])
    of_type = (
        module.type_embedding.weight[kind] if kind else torch.zeros_like(module.type_embedding.weight[0])
    )
    slot = min(int(batch.mention_entity[mention]), len(module.entity_embedding.weight) - 1)
    return torch.cat([plain_mean(states, batch, mention), of_type, module.entity_embedding.weight[slot]])
