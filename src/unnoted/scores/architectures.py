"""Every model by its name: what represents a pair, and what scores it.

Any of them can be trained with any risk. Adding one takes a file in `pairs`, a scorer here if no present one
fits, a row in `ARCHITECTURES`, a row in the docs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from unnoted.pairs import AxialPairs, GroupedBilinear, LocalizedContext, UNetPairs
from unnoted.scores.linear import LinearScores


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the sizes of a model's layers follow from.

    Attributes:
        width: of a token's state.
        embedding: of the embeddings of head and tail.
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
        pairs: makes what represents pairs.
        scores: makes what scores the representations.
        attention: whether pairs need the encoder's attention.
    """

    pairs: Callable[[Sizes], nn.Module]
    scores: Callable[[Sizes], nn.Module]
    attention: bool = True


def _bilinear(sizes: Sizes) -> nn.Module:
    return GroupedBilinear(sizes.embedding, sizes.classes, sizes.block)


ARCHITECTURES = {
    "atlop": Architecture(lambda sizes: LocalizedContext(sizes.width, sizes.embedding), _bilinear),
    "docunet": Architecture(lambda sizes: UNetPairs(sizes.width, sizes.embedding), _bilinear),
    "kd-docre": Architecture(
        lambda sizes: AxialPairs(sizes.width, sizes.embedding, block=sizes.block),
        lambda sizes: LinearScores(sizes.width, sizes.classes),
    ),
}
"""Every model by its name in settings."""
