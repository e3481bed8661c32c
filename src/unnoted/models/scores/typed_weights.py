"""The weights of the relations that two types allow, laid out once and used for many documents."""

import torch
from torch import Tensor

from unnoted.models.architectures.heads import GroupedBilinear, select_class_weights


class TypedWeights:
    """The weights of a grouped bilinear by kind of pair, made when they are first wanted.

    They are a copy: a training goes on with its own. `fits` says whether they are still its weights.

    Args:
        scorer: whose weights they are.
        table: bool [kinds, K], which relations each kind of pair may have.

    Example:
        >>> scorer = GroupedBilinear(pair_dim=8, num_labels=3, block_size=4)
        >>> weights = TypedWeights(scorer, torch.tensor([[False, True]]))
        >>> classes, weight = weights.of(0)
        >>> classes.tolist(), weight.shape
        ([0, 2], torch.Size([2, 4, 8]))
        >>> weights.fits(scorer), weights.fits(GroupedBilinear(pair_dim=8, num_labels=3, block_size=4))
        (True, False)
    """

    def __init__(self, scorer: GroupedBilinear, table: Tensor) -> None:
        self._weight = scorer.weight.detach().clone()  # [blocks, block * block, K + 1]
        self._table = table
        self._laid_out: dict[int, tuple[Tensor, Tensor]] = {}

    def fits(self, scorer: GroupedBilinear) -> bool:
        """Whether these are the weights of a scorer, bit for bit."""
        own, other = self._weight, scorer.weight.detach()
        return own.dtype == other.dtype and own.shape == other.shape and torch.equal(own, other)

    def of(self, kind: int) -> tuple[Tensor, Tensor]:
        """The classes of a kind of pair, int64 [c], the none class first, and what `select_class_weights` gives of them.

        Threads that ask for the same at once all lay it out, and get the same.
        """
        found = self._laid_out.get(kind)
        if found is None:
            relations = self._table[kind].nonzero().squeeze(1)
            classes = torch.cat([relations.new_zeros(1), relations + 1])
            found = self._laid_out[kind] = classes, select_class_weights(self._weight, classes)
        return found
