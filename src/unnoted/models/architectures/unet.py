"""A U-Net over the entity-by-entity map (DocuNet): relations as the segmentation of an image.

All ordered pairs of a document, with a few channels for each (`feature_maps`), are an image with one cell a
pair. A U-Net (`unet_layers`) gives each cell a vector y that has seen its neighbourhood, and

    z_h = tanh(W_h [h; y] + b_h),      z_t = tanh(W_t [t; y] + b_t).
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from unnoted.models.architectures.entity_map import at_pairs, in_slots, tail_mask
from unnoted.models.architectures.feature_maps import FEATURE_MAPS, FeatureMap
from unnoted.models.architectures.localized_context import entity_states
from unnoted.models.architectures.map_norms import MapNormalisation
from unnoted.models.architectures.pieces import PairsInPieces
from unnoted.models.architectures.unet_layers import UNet
from unnoted.models.architectures.upsampling import MapUpsampling
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded


class UNetPairs(PairsInPieces):
    """The pair representation of DocuNet.

    Args:
        width: the size of a token's state (d).
        embedding: the size of the embeddings of head and tail.
        channels: how many channels the image has.
        unet_width: the channels of the U-Net's first level, a multiple of 16; the lower levels have twice as
            many.
        unet_output: the size of y.
        feature_map: what the image is made from, one of `FEATURE_MAPS`.
        normalisation: of the U-Net's maps, one of `MAP_NORMS`.
        upsampling: on the U-Net's way up, one of `MAP_UPSAMPLINGS`.

    Reference:
        Zhang, Chen, Xie, Deng, Tan, Chen, Huang, Si, Chen (2021): Document-level relation extraction as
        semantic segmentation.

    Example:
        >>> pairs = UNetPairs(width=8, embedding=6, unet_width=16, unet_output=4)
        >>> pairs.head_projection
        Linear(in_features=12, out_features=6, bias=True)
    """

    map_layers: ClassVar[tuple[str, ...]] = ("channels", "unet")
    """Its layers over the map, which `map_learning_rate` is for; DocuNet's program counts what makes the
    image too."""

    def __init__(
        self,
        width: int,
        embedding: int,
        *,
        channels: int = 3,
        unet_width: int = 256,
        unet_output: int = 256,
        feature_map: FeatureMap = "context",
        normalisation: MapNormalisation = "batch",
        upsampling: MapUpsampling = "bilinear",
    ) -> None:
        super().__init__()
        self.parts = [width, unet_output]
        self.channels = FEATURE_MAPS[feature_map](width, channels)
        self.unet = UNet(
            channels, unet_width, unet_output, normalisation=normalisation, upsampling=upsampling
        )
        self.head_projection = nn.Linear(width + unet_output, embedding)
        self.tail_projection = nn.Linear(width + unet_output, embedding)

    def shared(self, encoded: Encoded, batch: Batch) -> tuple[Tensor, Tensor]:
        """What the U-Net makes of the maps, [D, S, S, output], and the entities' states [N, d]."""
        image = self.channels(encoded, batch)  # [D, channels, E, E]
        seen = self.unet(image, in_slots(tail_mask(batch), batch).unsqueeze(1))  # [D, output, S, S]
        return seen.permute(0, 2, 3, 1), entity_states(encoded, batch)

    def embed(
        self, shared: tuple[Tensor, Tensor], batch: Batch, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Embeddings of head and tail of some pairs, [p, embedding] each."""
        seen, states = shared
        pair = at_pairs(seen, batch, rows)  # [p, output]
        return (
            self._embed(self.head_projection, states, batch.head[rows], pair),
            self._embed(self.tail_projection, states, batch.tail[rows], pair),
        )

    def _embed(self, projection: nn.Linear, states: Tensor, entity: Tensor, pair: Tensor) -> Tensor:
        """tanh(W [e; y] + b), with the part of W for e used once for each entity."""
        entity_weight, pair_weight = torch.split(projection.weight, self.parts, 1)
        projected = linear(states, entity_weight, projection.bias).index_select(0, entity)  # [P, embedding]
        return torch.tanh(projected + linear(pair, pair_weight))
