"""Pair representations: from token states and attention rows to what represents a pair of entities.

Each is made from the width of a state and the size of an embedding, and maps (encoded, batch) to a tuple
of tensors with a row for each pair, which a scorer takes (`unnoted.models.architectures.registry`).
"""

from unnoted.models.architectures.axial import AxialPairs
from unnoted.models.architectures.entity_pairs import EntityPairs
from unnoted.models.architectures.graph import GraphPairs
from unnoted.models.architectures.localized_context import LocalizedContext
from unnoted.models.architectures.max_pool import MaxPool
from unnoted.models.architectures.mention_pairs import MentionPairs
from unnoted.models.architectures.unet import UNetPairs

__all__ = [
    "AxialPairs",
    "EntityPairs",
    "GraphPairs",
    "LocalizedContext",
    "MaxPool",
    "MentionPairs",
    "UNetPairs",
]
