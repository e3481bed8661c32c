"""What DocuNet's image is made from: a few channels for every ordered pair of entities of a document.

Each map is made from the width of a token's state and the number of channels, and gives [D, channels, E, E].
What stands at cells without a head or tail is not defined.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, normalize

from unnoted.models.architectures.entity_map import context_cells, contexts, in_slots
from unnoted.models.architectures.localized_context import entity_states
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded

FeatureMap = Literal["context", "similarity"]


class ContextMap(nn.Module):
    """W_3 c + b of the localized context c of head and tail: the map of DocuNet's published figures.

    Example:
        >>> ContextMap(width=8, channels=3).weight.shape
        torch.Size([3, 8])
    """

    def __init__(self, width: int, channels: int) -> None:
        super().__init__()
        made = nn.Linear(width, channels)
        self.weight, self.bias = made.weight, made.bias

    def forward(self, encoded: Encoded, batch: Batch) -> Tensor:
        """The image, [D, channels, E, E]."""
        projected = linear(contexts(encoded, batch), self.weight, self.bias)  # [contexts, channels]
        cells = projected.index_select(0, context_cells(batch))  # [N * E, channels]
        rows = cells.view(batch.entity_document.shape[0], batch.entities, len(self.weight))
        return in_slots(rows, batch).permute(0, 3, 1, 2)  # from [D, E, E, channels]


class SimilarityMap(nn.Module):
    """W_3 [h * t; cos(h, t); h^T W_1 t] + b of the states of head and tail.

    The part of W_3 for the product is h^T diag(w) t for each channel, so that no vector is made for a pair.

    Example:
        >>> similarity = SimilarityMap(width=8, channels=3)
        >>> similarity.weight.shape, similarity.bilinear.shape
        (torch.Size([3, 10]), torch.Size([8, 8]))
    """

    def __init__(self, width: int, channels: int) -> None:
        super().__init__()
        made = nn.Linear(width + 2, channels)
        self.weight, self.bias = made.weight, made.bias
        self.bilinear = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, width)))

    def forward(self, encoded: Encoded, batch: Batch) -> Tensor:
        """The image, [D, channels, E, E]."""
        states = in_slots(entity_states(encoded, batch), batch)  # [D, E, d]
        product, cosine, bilinear = torch.split(self.weight, [states.shape[2], 1, 1], 1)
        weighted = states.unsqueeze(1) * product.unsqueeze(1)  # [D, channels, E, d]
        products = weighted @ states.unsqueeze(1).transpose(2, 3)  # [D, channels, E, E]
        unit = normalize(states, dim=2)
        cosines = unit @ unit.transpose(1, 2)  # [D, E, E]
        bilinears = states @ self.bilinear @ states.transpose(1, 2)  # [D, E, E]
        others = cosine.unsqueeze(2) * cosines.unsqueeze(1) + bilinear.unsqueeze(2) * bilinears.unsqueeze(1)
        image: Tensor = products + others + self.bias.view(-1, 1, 1)
        return image


FEATURE_MAPS: dict[FeatureMap, type[nn.Module]] = {"context": ContextMap, "similarity": SimilarityMap}
"""By name."""
