"""Every model by its name: what represents a pair, and what scores it.

Any of them can be trained with any risk. Adding one takes a file in `pairs`, a scorer here if no present one
fits, a row in `ARCHITECTURES`, a row in the docs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from unnoted.pairs import (
    AxialPairs,
    EntityPairs,
    GraphPairs,
    LocalizedContext,
    MaxPool,
    MentionPairs,
    UNetPairs,
)
from unnoted.scores import BiAffine, GroupedBilinear, LinearScores


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the sizes of a model's layers follow from.

    Attributes:
        width: of a token's state.
        embedding: of the embeddings of head and tail, or of a pair.
        block: of a block of the grouped bilinear.
        classes: how many scores a pair gets, the none class included.
        types: how many types of entities are told apart.
    """

    width: int
    embedding: int
    block: int
    classes: int
    types: int = 0


@dataclass(frozen=True, slots=True)
class Architecture:
    """How a model goes from token states to scores: `scores(*pairs(encoded, batch))`.

    Attributes:
        layers: makes what represents pairs, and what scores the representations.
        attention: whether pairs need the encoder's attention.
    """

    layers: Callable[[Sizes], tuple[nn.Module, nn.Module]]
    attention: bool = True


def atlop(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Localized context, scored by a grouped bilinear (Zhou et al., 2021)."""
    return LocalizedContext(sizes.width, sizes.embedding), _grouped_bilinear(sizes)


def docunet(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """A U-Net over the entity-by-entity map (Zhang et al., 2021)."""
    return UNetPairs(sizes.width, sizes.embedding), _grouped_bilinear(sizes)


def kd_docre(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Axial attention over the entity-by-entity map (Tan et al., 2022)."""
    pairs = AxialPairs(sizes.width, sizes.embedding, GroupedBilinear, block=sizes.block)
    return pairs, LinearScores(pairs.map_width, sizes.classes)


def gain(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Graphs of mentions and of entities, and paths of two steps (Zeng et al., 2020)."""
    return GraphPairs(sizes.width, sizes.embedding, types=sizes.types), _linear(sizes)


def bilstm(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Means over mentions and their distance, scored by a bilinear (Yao et al., 2019)."""
    pairs = EntityPairs(sizes.width, sizes.embedding)
    return pairs, GroupedBilinear(pairs.pair_width, sizes.classes, block=pairs.pair_width)


def max_pool(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Maxima over mentions (the PubMedBERT baseline of Zhang et al., 2022)."""
    return MaxPool(sizes.width, sizes.embedding), _linear(sizes)


def bran(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Bi-affine scores of mention pairs, pooled by log-sum-exp (Verga et al., 2018)."""
    return MentionPairs(sizes.width, sizes.embedding), BiAffine(sizes.embedding, sizes.classes)


def _grouped_bilinear(sizes: Sizes) -> nn.Module:
    return GroupedBilinear(sizes.embedding, sizes.classes, sizes.block)


def _linear(sizes: Sizes) -> nn.Module:
    return LinearScores(sizes.embedding, sizes.classes)


ARCHITECTURES = {
    "atlop": Architecture(atlop),
    "docunet": Architecture(docunet),
    "kd-docre": Architecture(kd_docre),
    "gain": Architecture(gain, attention=False),
    "bilstm": Architecture(bilstm, attention=False),
    "max-pool": Architecture(max_pool, attention=False),
    "bran": Architecture(bran, attention=False),
}
"""Every model by its name in settings. Which encoder it stands on is chosen apart: BRAN's own, or a
pretrained one, is `encoder`, not another model."""
