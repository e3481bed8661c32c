"""What is mentioned at each token, for encoders that want to be told."""

import torch
from torch import Tensor

from unnoted.features.batch import Batch

PLACES_AT_ONCE = 2**24
"""How many places (documents x mentions x tokens) are looked at in one go."""


def mention_inputs(batch: Batch, width: int) -> dict[str, Tensor]:
    """The type and the entity that each token belongs to, by the names under which an encoder takes them.

    A mention's tokens are those from its opening to its closing marker, both included. Where mentions
    overlap, the one that comes last among the mentions of its document counts, for type and entity alike.

    Args:
        batch: the documents.
        width: how many tokens of them (T).

    Returns:
        `mention_types`, int64 [D, T], the number of the type; 0 outside mentions and for unknown types.
        `mention_entities`, int64 [D, T], the entity's index in its document plus 1; 0 outside mentions.
    """
    places = (batch.mention_document, batch.mention_slot + 1)  # column 0 stands for no mention

    def by_slot(values: Tensor, empty: int = 0) -> Tensor:
        table = values.new_full((len(batch.lengths), batch.mentions + 1), empty)  # [D, 1 + mentions]
        table[places] = values
        return table

    token = torch.arange(width, device=batch.device)
    number = torch.arange(batch.mentions + 1, dtype=torch.int32, device=batch.device)
    first, last = by_slot(batch.mention_position), by_slot(batch.mention_end, empty=-1)
    latest = number.new_zeros(len(batch.lengths), width)  # [D, T]
    at_once = max(1, PLACES_AT_ONCE // latest.numel())
    for some in torch.split(number, at_once):
        from_, to = first[:, some, None], last[:, some, None]
        inside = (from_ <= token) & (token <= to)  # [D, some, T]
        latest = torch.maximum(latest, (inside * some[:, None]).amax(1))
    latest = latest.long()
    return {
        "mention_types": by_slot(batch.mention_type).gather(1, latest),
        "mention_entities": by_slot(batch.entity_slot[batch.mention_entity] + 1).gather(1, latest),
    }
