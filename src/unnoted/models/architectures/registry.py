"""Architectures by name: what represents a pair, and what scores it. Any loss trains any of them.

Adding one takes a file in `pairs`, a scorer in `scores` if no present one fits, a row here and a row in the
docs; or, from a script of your own, a call of `register_architecture`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field
from torch import nn

from unnoted.models.architectures import (
    AxialPairs,
    EntityPairs,
    GraphPairs,
    LocalizedContext,
    MaxPool,
    MentionPairs,
    UNetPairs,
)
from unnoted.models.architectures.feature_maps import FeatureMap
from unnoted.models.architectures.map_norms import MapNormalisation
from unnoted.models.architectures.mention_tokens import MentionTokens
from unnoted.models.architectures.upsampling import MapUpsampling
from unnoted.models.scores import BiAffine, CosineScores, GroupedBilinear, LinearScores
from unnoted.utils import Options, register


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
        cosines: whether scores are cosines, which some losses ask for.
    """

    layers: Callable[..., tuple[nn.Module, nn.Module]]
    attention: bool = True
    options: type[ArchitectureOptions] = ArchitectureOptions
    earlier: Mapping[str, Any] = field(default_factory=dict)
    cosines: bool = False


def atlop(sizes: Sizes) -> tuple[nn.Module, nn.Module]:
    """Localized context, scored by a grouped bilinear (Zhou et al., 2021)."""
    return LocalizedContext(sizes.width, sizes.embedding), _grouped_bilinear(sizes)


class DocuNetOptions(ArchitectureOptions):
    """The settings of DocuNet.

    Attributes:
        feature_map: what the image of pairs is made from: their contexts, or similarities of head and tail.
        map_normalisation: over the batch, as in its program, or over groups of channels of each document.
        map_upsampling: bilinear, as in its program, or a deconvolution, as its paper says.
    """

    feature_map: FeatureMap = "context"
    map_normalisation: MapNormalisation = "batch"
    map_upsampling: MapUpsampling = "bilinear"


def docunet(
    sizes: Sizes,
    feature_map: FeatureMap,
    map_normalisation: MapNormalisation,
    map_upsampling: MapUpsampling,
) -> tuple[nn.Module, nn.Module]:
    """A U-Net over the entity-by-entity map (Zhang et al., 2021)."""
    pairs = UNetPairs(
        sizes.width,
        sizes.embedding,
        feature_map=feature_map,
        normalisation=map_normalisation,
        upsampling=map_upsampling,
    )
    return pairs, _grouped_bilinear(sizes)


class KDDocREOptions(ArchitectureOptions):
    """The settings of KD-DocRE.

    Attributes:
        bilinear_bias: whether the bilinear layer that joins head and tail has a bias; its program's has none.
    """

    bilinear_bias: bool = False


def kd_docre(sizes: Sizes, bilinear_bias: bool) -> tuple[nn.Module, nn.Module]:
    """Axial attention over the entity-by-entity map (Tan et al., 2022)."""
    bilinear = partial(GroupedBilinear, bias=bilinear_bias)
    pairs = AxialPairs(sizes.width, sizes.embedding, bilinear, block=sizes.block)
    return pairs, LinearScores(pairs.map_width, sizes.classes)


class GainOptions(ArchitectureOptions):
    """The paper's equations by default; the authors' program has the other three values.

    Attributes:
        path_edges: what the edges of the entity graph are made from: entities after all layers, or the last.
        path_attention: attend to the paths of a pair, instead of adding them up.
        path_layer: one more layer over the path of a pair.
    """

    path_edges: Literal["all-layers", "last-layer"] = "all-layers"
    path_attention: bool = True
    path_layer: bool = False


def gain(
    sizes: Sizes, path_edges: str = "all-layers", path_attention: bool = True, path_layer: bool = False
) -> tuple[nn.Module, nn.Module]:
    """Graphs of mentions and of entities, and paths of two steps (Zeng et al., 2020)."""
    pairs = GraphPairs(
        sizes.width,
        sizes.embedding,
        types=sizes.types,
        last_layer_edges=path_edges == "last-layer",
        path_attention=path_attention,
        path_layer=path_layer,
    )
    return pairs, _linear(sizes)


class BiLSTMOptions(ArchitectureOptions):
    """The published order by default.

    Attributes:
        layer_before_means: the layer over the states comes before the means over mentions, not after.
    """

    layer_before_means: bool = True


def bilstm(sizes: Sizes, layer_before_means: bool = True) -> tuple[nn.Module, nn.Module]:
    """Means over mentions and their distance, scored by a bilinear (Yao et al., 2019)."""
    pairs = EntityPairs(sizes.width, sizes.embedding, layer_before_means=layer_before_means)
    return pairs, GroupedBilinear(pairs.pair_width, sizes.classes, block=pairs.pair_width)


def max_pool(sizes: Sizes, mention_tokens: MentionTokens) -> tuple[nn.Module, nn.Module]:
    """Maxima over mentions (the PubMedBERT baseline of Zhang et al., 2022)."""
    return MaxPool(sizes.width, sizes.embedding, mention_tokens=mention_tokens), _linear(sizes)


def bran(sizes: Sizes, mention_tokens: MentionTokens) -> tuple[nn.Module, nn.Module]:
    """Bi-affine scores of mention pairs, pooled by log-sum-exp (Verga et al., 2018)."""
    pairs = MentionPairs(sizes.width, sizes.embedding, mention_tokens=mention_tokens)
    return pairs, BiAffine(sizes.embedding, sizes.classes)


class P3MOptions(ArchitectureOptions):
    """The settings of P3M.

    Attributes:
        pair_dropout: of the embedding of a pair, in training.
    """

    pair_dropout: float = Field(0.2, ge=0, lt=1)


def p3m(sizes: Sizes, pair_dropout: float) -> tuple[nn.Module, nn.Module]:
    """ATLOP's pairs, scored by cosines with relation embeddings (Wang et al., 2024)."""
    scores = CosineScores(sizes.embedding, sizes.classes, sizes.block, dropout=pair_dropout)
    return LocalizedContext(sizes.width, sizes.embedding), scores


def _grouped_bilinear(sizes: Sizes) -> nn.Module:
    return GroupedBilinear(sizes.embedding, sizes.classes, sizes.block)


def _linear(sizes: Sizes) -> nn.Module:
    return LinearScores(sizes.embedding, sizes.classes)


_ARCHITECTURES = {
    "atlop": Architecture(atlop),
    "docunet": Architecture(
        docunet,
        options=DocuNetOptions,
        earlier={
            "feature_map": "context",
            "map_normalisation": "group",
            "map_upsampling": "deconvolution",
        },
    ),
    "kd-docre": Architecture(kd_docre, options=KDDocREOptions, earlier={"bilinear_bias": True}),
    "gain": Architecture(
        gain,
        attention=False,
        options=GainOptions,
        earlier={"path_edges": "all-layers", "path_attention": True, "path_layer": False},
    ),
    "bilstm": Architecture(
        bilstm, attention=False, options=BiLSTMOptions, earlier={"layer_before_means": False}
    ),
    "max-pool": Architecture(
        max_pool, attention=False, options=MentionTokenOptions, earlier={"mention_tokens": "first"}
    ),
    "bran": Architecture(
        bran, attention=False, options=MentionTokenOptions, earlier={"mention_tokens": "first"}
    ),
    "p3m": Architecture(p3m, options=P3MOptions, cosines=True),
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
        ValueError: architecture 'atlop' is registered already; choose another name
    """
    register("architecture", name, architecture, _ARCHITECTURES)
