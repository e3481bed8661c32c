"""What every architecture is: a pair encoder and a head, registered by a name.

    logits = head(*pair_encoder(encoded, batch))

An architecture of your own is one function and one registration; its keyword arguments are its settings:

    @register_architecture("product", attention=False)
    def product(sizes: ModelSizes, dropout: float = 0.1) -> tuple[nn.Module, nn.Module]:
        pair_encoder = ProductPairs(sizes.hidden_size, sizes.pair_dim, dropout)
        return pair_encoder, LinearHead(sizes.pair_dim, sizes.num_labels)

A pair encoder is an `nn.Module` whose `forward(encoded, batch)` gives a tuple of tensors with a row for each
pair, a head takes them and gives logits [P, K + 1], the threshold class first. A document must get the same
logits alone and in a batch: padding must have no influence. Documents with hundreds of thousands of pairs are
possible if the pair encoder is a `PairEncoder`: what all pairs share is then computed once, and what each
pair has for itself is made, scored and given up in chunks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unnoted.models.batch import Batch
from unnoted.models.encoders import EncoderOutput
from unnoted.utils import Options, register


class PairEncoder(nn.Module, ABC):
    """A pair encoder that can encode some pairs at a time.

    Attributes:
        pairs_at_once: batches with more pairs are scored in chunks of so many; in training each chunk is
            recomputed in the backward pass. Products of another size may differ in their last digits.
        pairs_are_independent: whether a pair is encoded alike whichever other pairs are candidates.
        map_layers: its layers over the entity-by-entity map, which `optimizer.groups.pair_map` is for.
    """

    pairs_at_once: ClassVar[int] = 2**15
    pairs_are_independent: ClassVar[bool] = False
    map_layers: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def encode_entities(self, encoded: EncoderOutput, batch: Batch) -> Any:  # noqa: ANN401 - each has its own
        """What the pairs have in common, computed once."""

    @abstractmethod
    def encode_pairs(self, shared: Any, batch: Batch, rows: slice | Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        """What represents some of the pairs, with a row for each."""

    def forward(self, encoded: EncoderOutput, batch: Batch) -> tuple[Tensor, ...]:
        """What represents every pair, with a row for each."""
        return self.encode_pairs(self.encode_entities(encoded, batch), batch, slice(None))


def pair_logits(
    pair_encoder: nn.Module, head: nn.Module, encoded: EncoderOutput, batch: Batch
) -> tuple[Tensor, tuple[Tensor, ...] | None]:
    """The logits of every pair of a batch, [P, K + 1]: `head(*pair_encoder(encoded, batch))`, in chunks.

    Returns:
        The logits, and what represents the pairs; None if they were scored in chunks.
    """
    if not isinstance(pair_encoder, PairEncoder) or batch.pairs <= pair_encoder.pairs_at_once:
        pairs: tuple[Tensor, ...] = pair_encoder(encoded, batch)
        return head(*pairs), pairs
    shared, at_once = pair_encoder.encode_entities(encoded, batch), pair_encoder.pairs_at_once

    def chunk(start: int) -> Tensor:
        logits: Tensor = head(*pair_encoder.encode_pairs(shared, batch, slice(start, start + at_once)))
        return logits

    starts = range(0, batch.pairs, at_once)
    if torch.is_grad_enabled():
        return torch.cat([checkpoint(chunk, start, use_reentrant=False) for start in starts]), None
    return torch.cat([chunk(start) for start in starts]), None


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """What the sizes of a model's layers follow from.

    Attributes:
        hidden_size: of a token's state.
        pair_dim: of the embeddings of head and tail, or of a pair.
        block_size: of a block of the grouped bilinear.
        num_labels: how many logits a pair gets (K + 1), the threshold class included.
        entity_types: how many types of entities are told apart.
    """

    hidden_size: int
    pair_dim: int
    block_size: int
    num_labels: int
    entity_types: int = 0


class ArchitectureOptions(Options):
    """The settings of an architecture: the arguments of the function that builds it, but for the sizes."""

    owner = "architecture"


Build: TypeAlias = Callable[..., tuple[nn.Module, nn.Module]]
"""From sizes, and the settings by name, to a pair encoder and a head."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A registered architecture.

    Attributes:
        build: from sizes, and the settings by name, to a pair encoder and a head.
        attention: whether the pair encoder needs the encoder's attention.
        options: the settings, as a pydantic model.
        cosines: whether logits are cosines, which some losses need.
    """

    build: Build
    attention: bool
    options: type[ArchitectureOptions]
    cosines: bool


_ARCHITECTURES: dict[str, Architecture] = {}

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(_ARCHITECTURES)
"""Every registered architecture by name. The encoder is chosen apart: BRAN's own, or a pretrained one, is the
setting `encoder`, not another architecture."""


def register_architecture(
    name: str, *, attention: bool = True, cosines: bool = False
) -> Callable[[Build], Build]:
    """Register an architecture, so that settings, saved models and comparisons know it by its name.

    A saved model says the name of its architecture: register it before you load the model.

    Args:
        name: in settings and saved models.
        attention: whether the pair encoder needs the encoder's attention.
        cosines: whether logits are cosines.

    Raises:
        ValueError: the name is taken.
    """

    def add(build: Build) -> Build:
        options = ArchitectureOptions.from_signature(build, leave_out=("sizes",))
        register("architecture", name, Architecture(build, attention, options, cosines), _ARCHITECTURES)
        return build

    return add
