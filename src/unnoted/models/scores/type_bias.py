"""A bias for every relation between every two types of entities: what types alone say of a pair."""

import torch
from torch import Tensor, nn

from unnoted.models.batch import Batch


class TypeBias(nn.Module):
    """What is added to the scores of a pair's relations, by the types of its head and its tail.

    A table of 0 adds nothing; `training.initialization` fills it in before the first step, and it is trained like all
    else. An entity has the type of the mention that is listed first; number 0 is a type that is not known.

    Args:
        types: how many types of entities are told apart.
        relations: K.

    Example:
        >>> bias = TypeBias(types=2, relations=3)
        >>> bias.weight.shape, bias.is_begun
        (torch.Size([3, 3, 3]), False)
    """

    def __init__(self, types: int, relations: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(types + 1, types + 1, relations))

    @property
    def is_begun(self) -> bool:
        """Whether the table holds anything."""
        return bool(self.weight.detach().any())

    def forward(self, scores: Tensor, batch: Batch) -> Tensor:
        """Scores [P, K + 1] with the bias of each pair added to those of relations, not of the none class."""
        types = entity_types(batch)  # [E]
        bias = self.weight[types[batch.head], types[batch.tail]]  # [P, K]
        return torch.cat([scores[:, :1], scores[:, 1:] + bias.to(scores.dtype)], 1)


def entity_types(batch: Batch) -> Tensor:
    """The number of each entity's type, int64 [E]: that of the mention that is listed first."""
    mentions, entities = len(batch.mention_entity), len(batch.entity_document)
    numbers = torch.arange(mentions, device=batch.device)
    first = numbers.new_full((entities,), mentions).scatter_reduce(0, batch.mention_entity, numbers, "amin")
    return batch.mention_type[first]
