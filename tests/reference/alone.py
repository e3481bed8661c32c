"""Encoded documents without an encoder, and one document of a batch by itself."""

import torch

from tests.reference.batches import only
from unnoted.models.encoders import Encoded


def random_states(batch, width, seed=0, dtype=torch.float64):
    """Random token states, no number at padding, and no attention rows."""
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch.input_ids.shape, width)
    states = torch.randn(shape, generator=generator, dtype=dtype)
    return Encoded(states.masked_fill(batch.attention_mask.unsqueeze(2) == 0, torch.nan), None)


def alone(encoded, batch, document):
    """One document as a batch of its own, without padding, and the rows of its pairs in the whole batch."""
    one, _, pair = only(batch, document)
    length = batch.lengths[document]
    return Encoded(encoded.states[document : document + 1, :length], None), one, pair


def mentions_of(batch, entity):
    """The rows of an entity's mentions."""
    return [m for m, owner in enumerate(batch.mention_entity.tolist()) if owner == entity]


def tokens_of(batch, entity, which):
    """The places of an entity's tokens, in order: all between its mentions' markers but markers, or the markers.

    A mention that has nothing but markers between its own has its opening marker.
    """
    document = int(batch.entity_document[entity])
    own = [m for m, owner in enumerate(batch.mention_document.tolist()) if owner == document]
    markers = {int(place[m]) for m in own for place in (batch.mention_position, batch.mention_end)}
    found = []
    for mention in mentions_of(batch, entity):
        first, last = int(batch.mention_position[mention]), int(batch.mention_end[mention])
        within = [place for place in range(first + 1, last) if place not in markers]
        found += [first] if which == "first" else within or [first]
    return found if which == "first" else sorted(set(found))


def plain_mean(states, batch, mention):
    """The mean of the states from marker to marker, of a mention of a batch of one document."""
    first, last = int(batch.mention_position[mention]), int(batch.mention_end[mention])
    return sum(states[0, place] for place in range(first, last + 1)) / (last - first + 1)


def plain_mention(vectors, states, batch, mention):
    """[mean of the states; type; entity] of a mention of a batch of one document."""
    kind = int(batch.mention_type[mention])
    of_type = (
        vectors.type_embedding.weight[kind] if kind else torch.zeros_like(vectors.type_embedding.weight[0])
    )
    slot = min(int(batch.mention_entity[mention]), len(vectors.entity_embedding.weight) - 1)
    return torch.cat([plain_mean(states, batch, mention), of_type, vectors.entity_embedding.weight[slot]])
