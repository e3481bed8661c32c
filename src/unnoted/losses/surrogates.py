"""Surrogate losses ℓ(f, y): what a score costs if its relation holds, and what if it does not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.decisions import Decision, Fixed, NoneClass, logits_above_threshold_class
from unnoted.losses.links import Link

MARGIN = 0.25
"""The margin of the paper's main results."""


class Surrogate(Protocol):
    """Scores [P, K + 1], the none class first, to the losses (if positive [P, K], if negative [P, K]).

    Attributes:
        name: in tables.
        decision: the rule by which scores that it has trained predict relations.
        needs_cosines: whether scores have to be cosines.
    """

    name: ClassVar[str]
    decision: ClassVar[Decision]
    needs_cosines: ClassVar[bool]

    @property
    def link(self) -> Link:
        """The probability that a trained score shows."""
        ...

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every score under y = +1 and under y = −1."""
        ...


@dataclass(frozen=True)
class Squared:
    """ℓ = ¼ (y f_i − 1)² (Eq. 7).

    Example:
        >>> import torch
        >>> Squared()(torch.tensor([[9.0, 1.0, -3.0]]))
        (tensor([[0., 4.]]), tensor([[1., 1.]]))
    """

    name: ClassVar[str] = "squared"
    decision: ClassVar[Decision] = Fixed(0.0)
    needs_cosines: ClassVar[bool] = False
    link: ClassVar[Link] = Link("squared")

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The losses under y = +1 and y = −1."""
        return _squares(scores[:, 1:], 1.0)


@dataclass(frozen=True)
class SquaredRanking:
    """ℓ = ¼ (y (f_i − f_0) − margin)² (Eq. 13): relations that hold rank above the none class, others below.

    Its minimiser is f_i − f_0 = margin (2 p − 1), p the probability of the relation (Theorem 2). So a margin
    of 0 teaches nothing; the paper shows that too (Table 11), and it is allowed here to show it again.

    Example:
        >>> import torch
        >>> SquaredRanking(margin=1.0)(torch.tensor([[2.0, 3.0, -1.0]]))
        (tensor([[0., 4.]]), tensor([[1., 1.]]))
    """

    margin: float = MARGIN

    name: ClassVar[str] = "squared-ranking"
    decision: ClassVar[Decision] = NoneClass()
    needs_cosines: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise ValueError(f"found margin {self.margin}, expected a finite number, 0 or more")

    @property
    def link(self) -> Link:
        """The probability that a trained score shows."""
        return Link("ranking-margin", self.margin)

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The losses under y = +1 and y = −1."""
        return _squares(logits_above_threshold_class(scores), self.margin)


@dataclass(frozen=True)
class LogSigmoid:
    """ℓ = −log σ(y f_i) (Eq. 19).

    Example:
        >>> import torch
        >>> if_positive, if_negative = LogSigmoid()(torch.tensor([[9.0, 0.0]]))
        >>> round(if_positive.item(), 4), round(if_negative.item(), 4)
        (0.6931, 0.6931)
    """

    name: ClassVar[str] = "log-sigmoid"
    decision: ClassVar[Decision] = Fixed(0.0)
    needs_cosines: ClassVar[bool] = False
    link: ClassVar[Link] = Link("sigmoid")

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The losses under y = +1 and y = −1."""
        return _log_sigmoids(scores[:, 1:])


@dataclass(frozen=True)
class LogSigmoidRanking:
    """ℓ = −log σ(y (f_i − f_0)) (Eq. 20).

    Example:
        >>> import torch
        >>> if_positive, if_negative = LogSigmoidRanking()(torch.tensor([[9.0, 9.0]]))
        >>> round(if_positive.item(), 4), round(if_negative.item(), 4)
        (0.6931, 0.6931)
    """

    name: ClassVar[str] = "log-sigmoid-ranking"
    decision: ClassVar[Decision] = NoneClass()
    needs_cosines: ClassVar[bool] = False
    link: ClassVar[Link] = Link("sigmoid-ranking")

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The losses under y = +1 and y = −1."""
        return _log_sigmoids(logits_above_threshold_class(scores))


@dataclass(frozen=True)
class CosineSoftmax:
    """ℓ = −log of the share of λ f_i, if y = +1, or of λ f_0 in the soft-max of both: P3M's loss.

    That is −log σ(y λ (f_i − f_0)). Scores are cosines, whose differences are small, so that λ has to be
    large.

    Example:
        >>> import torch
        >>> if_positive, if_negative = CosineSoftmax(scale=10.0)(torch.tensor([[0.1, 0.1]]))
        >>> round(if_positive.item(), 4), round(if_negative.item(), 4)
        (0.6931, 0.6931)
    """

    scale: float = 10.0

    name: ClassVar[str] = "cosine-softmax"
    decision: ClassVar[Decision] = NoneClass()
    needs_cosines: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ValueError(f"found scale {self.scale}, expected a finite number above 0")

    @property
    def link(self) -> Link:
        """The probability that a trained score shows."""
        return Link("cosine-softmax", 1 / self.scale)

    def __call__(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The losses under y = +1 and y = −1."""
        return _log_sigmoids(self.scale * logits_above_threshold_class(scores))


def _squares(x: Tensor, target: float) -> tuple[Tensor, Tensor]:
    return (x - target).square() / 4, (x + target).square() / 4


def _log_sigmoids(x: Tensor) -> tuple[Tensor, Tensor]:
    return -logsigmoid(x), -logsigmoid(-x)


SURROGATES: Mapping[str, type[Squared | SquaredRanking | LogSigmoid | LogSigmoidRanking | CosineSoftmax]] = {
    "squared": Squared,
    "squared-ranking": SquaredRanking,
    "log-sigmoid": LogSigmoid,
    "log-sigmoid-ranking": LogSigmoidRanking,
    "cosine-softmax": CosineSoftmax,
}
"""Every surrogate by name."""
