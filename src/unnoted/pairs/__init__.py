"""Pair representations: from token states and attention rows to what represents a pair of entities.

Each is made from the width of a state and the size of an embedding, and maps (encoded, batch) to a tuple
of tensors with a row for each pair, which a scorer takes (`unnoted.architectures`).
"""

from unnoted.pairs.axial import AxialPairs
from unnoted.pairs.entity_pairs import EntityPairs
from unnoted.pairs.graph import GraphPairs
from unnoted.pairs.localized_context import LocalizedContext
from unnoted.pairs.max_pool import MaxPool
from unnoted.pairs.mention_pairs import MentionPairs
from unnoted.pairs.unet import UNetPairs

__all__ = [
    "AxialPairs",
    "EntityPairs",
    "GraphPairs",
    "LocalizedContext",
    "MaxPool",
    "MentionPairs",
    "UNetPairs",
]
