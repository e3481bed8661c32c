"""Architectures by name: what represents a pair, and what scores it. Any loss trains any of them.

Adding one takes a file in `pairs`, a scorer in `scores` if no present one fits, a row here and a row in the
docs; or, from a script of your own, a call of `register_architecture`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from torch import nn

from unnoted.common.lookup import register
from unnoted.common.options import Options
from unnoted.pairs import (
    AxialPairs,
    EntityPairs,
    GraphPairs,
    LocalizedContext,
    MaxPool,
    MentionPairs,
    UNetPairs,
)
from unnoted.pairs.mention_tokens import MentionTokens
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


class ArchitectureOptions(Options):
    """The settings of an architecture. One that has any declares them in a subclass, as a pydantic model."""

    owner = "architecture"


class MentionTokenOptions(ArchitectureOptions):
    """The settings of architectures that may look at all tokens of a mention.

    Attributes:
        mention_tokens: which tokens of a mention count: all of them, or the first alone, which is its opening
            marker where there are markers.
    """

    mention_tokens: MentionTokens = "all"


@dataclass(frozen=True, slots=True)
class Architecture:
    """How a model goes from token states to scores: `scores(*pairs(encoded, batch))`.

    Attributes:
        layers: makes what represents pairs, and what scores the representations, from sizes and, by their
            names, the values of the options.
        attention: whether pairs need the encoder's attention.
        options: the settings that the architecture declares.
        earlier: their values in models that were saved before there were such settings.
    """

    layers: Callable[..., tuple[nn.Module, nn.Module]]
    attention: bool = True
    options: type[ArchitectureOptions] = ArchitectureOptions
    earlier: Mapping[str, Any] = field(default_factory=dict)


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


def max_pool(sizes: Sizes, mention_tokens: MentionTokens) -> tuple[nn.Module, nn.Module]:
    """Maxima over mentions (the PubMedBERT baseline of Zhang et al., 2022)."""
    return MaxPool(sizes.width, sizes.embedding, mention_tokens=mention_tokens), _linear(sizes)


def bran(sizes: Sizes, mention_tokens: MentionTokens) -> tuple[nn.Module, nn.Module]:
    """Bi-affine scores of mention pairs, pooled by log-sum-exp (Verga et al., 2018)."""
    pairs = MentionPairs(sizes.width, sizes.embedding, mention_tokens=mention_tokens)
    return pairs, BiAffine(sizes.embedding, sizes.classes)


def _grouped_bilinear(sizes: Sizes) -> nn.Module:
    return GroupedBilinear(sizes.embedding, sizes.classes, sizes.block)


def _linear(sizes: Sizes) -> nn.Module:
    return LinearScores(sizes.embedding, sizes.classes)


_ARCHITECTURES = {
    "atlop": Architecture(atlop),
    "docunet": Architecture(docunet),
    "kd-docre": Architecture(kd_docre),
    "gain": Architecture(gain, attention=False),
    "bilstm": Architecture(bilstm, attention=False),
    "max-pool": Architecture(
        max_pool, attention=False, options=MentionTokenOptions, earlier={"mention_tokens": "first"}
    ),
    "bran": Architecture(
        bran, attention=False, options=MentionTokenOptions, earlier={"mention_tokens": "first"}
    ),
}

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(_ARCHITECTURES)
"""Every architecture by its name in settings. Which encoder it stands on is chosen apart: BRAN's own, or a
pretrained one, is `encoder`, not another architecture."""


def register_architecture(name: str, architecture: Architecture) -> None:
    """Add an architecture of your own; settings, saved models and comparisons then know it by its name.

    A saved model says its architecture's name: register it before you load the model.

    Raises:
        ValueError: if the name is taken.

    Example:
        >>> register_architecture("atlop", Architecture(atlop))
        Traceback (most recent call last):
        ValueError: architecture 'atlop' is registered already, expected another name
    """
    register("architecture", name, architecture, _ARCHITECTURES)
