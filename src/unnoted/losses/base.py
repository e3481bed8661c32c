"""What every loss is: logits and labels in, one number out; it never sees the model.

A loss of your own is one class and one registration; the keyword arguments of its constructor are its
settings in a configuration, on the command line (`--set`) and in Python alike:

    @register_loss("smooth")
    class Smooth(PairLoss):
        decision, link = DecisionRule("zero"), Link("sigmoid")

        def __init__(self, slope: Annotated[float, Field(gt=0)] = 2.0) -> None: ...

        def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor: ...
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unnoted.losses.decoding import DecisionRule, Link, ScoreDecoder
from unnoted.priors import Priors
from unnoted.utils import Options, lookup, register

LOGIT_CLAMP = 1e9
"""Logits are clamped to this, far beyond what a model gives, so that squares and their sums stay finite."""

SMALLEST_WEIGHT = 1e-12
"""A total weight of pairs that counts as none."""


class LossOptions(Options):
    """The settings of a loss: the arguments of its constructor, but for the priors."""

    owner = "loss"


class Loss(nn.Module, ABC):
    """A number to minimise, of the logits of P pairs and of what was labelled.

    Attributes:
        name: by which the loss is registered.
        options: its settings, as a pydantic model.
        needs_priors: whether it needs to know how often each relation holds.
        needs_cosines: whether logits have to be cosines.
    """

    name: ClassVar[str]
    options: ClassVar[type[LossOptions]] = LossOptions
    needs_priors: ClassVar[bool] = False
    needs_cosines: ClassVar[bool] = False

    @property
    @abstractmethod
    def decoder(self) -> ScoreDecoder:
        """How logits that this loss has trained are decoded."""

    def forward(
        self,
        logits: Tensor,
        labels: Tensor,
        weights: Tensor | None = None,
        negatives: Tensor | None = None,
    ) -> Tensor:
        """The loss of one batch, a scalar; finite, as is its gradient, for every batch of finite logits.

        Args:
            logits: [P, K + 1], the threshold class first. Half precision is raised to float32; only a
                gradient that float16 cannot hold is infinite, which is what loss scaling waits for.
            labels: bool [P, K], the labelled facts. What is not labelled is unlabelled, not negative.
            weights: [P], how many pairs each one stands for; every sum and count over pairs is weighted. So a
                sample of the unlabelled pairs, each weighted by 1 / rate, leaves all means unchanged.
            negatives: bool [P, K], the known negatives, none of them labelled; None if there are none.
        """
        if logits.ndim != 2 or labels.shape != (logits.shape[0], logits.shape[1] - 1):
            shapes = f"{list(logits.shape)} and {list(labels.shape)}"
            raise ValueError(
                f"logits and labels must be [pairs, relations + 1] and [pairs, relations], not {shapes}"
            )
        if weights is not None and weights.shape != logits.shape[:1]:
            raise ValueError(
                f"weights must be [{logits.shape[0]}], one for each pair, not {list(weights.shape)}"
            )
        if negatives is not None and negatives.shape != labels.shape:
            raise ValueError(f"negatives must have the shape of the labels, not {list(negatives.shape)}")
        logits = to_working_precision(logits)
        weights = logits.new_ones(logits.shape[0]) if weights is None else weights.to(logits.dtype)
        known = None if negatives is None else negatives.bool()
        return self.batch_loss(logits, labels.bool(), weights, known)

    @abstractmethod
    def batch_loss(self, logits: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor | None) -> Tensor:
        """The loss, a scalar: logits [P, K + 1], labels and negatives [P, K], weights [P] are checked."""


class PairLoss(Loss):
    """The weighted mean over pairs of a loss of each pair, as supervised learning has it.

    Every unlabelled pair counts as a negative, so that such a loss needs no priors, and known negatives tell
    it nothing new.

    Attributes:
        decision: the rule by which its logits predict relations.
        link: the probability that its logits show.
    """

    decision: ClassVar[DecisionRule]
    link: ClassVar[Link]

    @property
    def decoder(self) -> ScoreDecoder:
        """How logits that this loss has trained are decoded."""
        return ScoreDecoder(self.decision, self.link)

    @abstractmethod
    def pair_loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of each pair, [P], of logits [P, K + 1] and labels [P, K]."""

    def batch_loss(self, logits: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor | None) -> Tensor:
        """The weighted mean over pairs."""
        return weighted_mean((weights * self.pair_loss(logits, labels)).sum(), weights.sum())


_LOSSES: dict[str, type[Loss]] = {}

LOSSES: Mapping[str, type[Loss]] = MappingProxyType(_LOSSES)
"""Every registered loss by name."""

LossClass = TypeVar("LossClass", bound=type[Loss])


def register_loss(name: str) -> Callable[[LossClass], LossClass]:
    """Register a loss, so that configurations, `Trainer` and comparisons know it by a name.

    The keyword arguments of the constructor, with their annotations and defaults, become the settings of the
    loss; a constructor with an argument `priors` makes it a loss that needs priors.

    Args:
        name: in settings, commands and tables.

    Raises:
        ValueError: the name is taken.
    """

    def add(loss: LossClass) -> LossClass:
        entry: type[Loss] = loss
        register("loss", name, entry, _LOSSES)
        loss.name = name
        loss.needs_priors = "priors" in inspect.signature(loss).parameters
        loss.options = LossOptions.from_signature(loss.__init__, leave_out=("self", "priors"))
        return loss

    return add


def get_loss(name: str) -> type[Loss]:
    """The class of a registered loss; a `ValueError` names the nearest name that exists.

    Example:
        >>> sorted(get_loss("ssr-pu").options.model_fields)
        ['class_weight', 'correction', 'margin', 'normalisation']
    """
    return lookup("loss", name, LOSSES)


def create_loss(name: str, priors: Priors | None = None, **options: object) -> Loss:
    """A registered loss.

    Args:
        name: one of `LOSSES`.
        priors: of every relation; only for a loss that needs them.
        options: the settings of this loss; those that are not given have their defaults.

    Raises:
        ValueError: priors are missing or of no use, or an option is unknown or out of range.

    Example:
        >>> loss = create_loss("ssr-pu", Priors(("spouse",), (0.01,), (0.03,)), margin=0.5)
        >>> loss.surrogate, loss.decoder.decision.reference
        (SquaredRanking(margin=0.5), 'threshold-class')
    """
    loss: type[Any] = get_loss(name)
    if loss.needs_priors and priors is None:
        raise ValueError(f"the loss {name!r} needs priors, such as `documents.labelled_priors * 3`")
    if priors is not None and not loss.needs_priors:
        raise ValueError(f"the loss {name!r} uses no priors; leave them out")
    arguments = dict(loss.options.checked(options))
    created: Loss = loss(priors, **arguments) if loss.needs_priors else loss(**arguments)
    return created


class RelationConstants:
    """Numbers of each relation, in float64, copied once to each device and precision in use.

    No buffer of a module, because not every device has float64.

    Args:
        values: [..., K].
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._exact = torch.from_numpy(values)
        self._copies: dict[tuple[torch.device, torch.dtype], Tensor] = {}

    def like(self, logits: Tensor) -> Tensor:
        """The numbers in the precision, and on the device, of logits."""
        key = logits.device, logits.dtype
        if key not in self._copies:
            self._copies[key] = self._exact.to(logits.dtype).to(logits.device)
        return self._copies[key]


def to_working_precision(logits: Tensor) -> Tensor:
    """Logits as losses compute with them: half precision raised to float32, clamped to `LOGIT_CLAMP`.

    Example:
        >>> to_working_precision(torch.tensor([1.0, 1e30], dtype=torch.bfloat16))
        tensor([1.0000e+00, 1.0000e+09])
    """
    raised = logits.float() if logits.element_size() < 4 else logits
    return raised.clamp(-LOGIT_CLAMP, LOGIT_CLAMP)


_contributes: ContextVar[bool | None] = ContextVar("contributes", default=None)
"""Whether this process has a part of the batch that several share; None where none is shared."""


@contextmanager
def shared_batch(contributes: bool = True) -> Iterator[None]:
    """Within this context, in each process of a group, a loss is that of their batches joined.

    Args:
        contributes: whether the batch of this process counts.
    """
    token = _contributes.set(contributes)
    try:
        yield
    finally:
        _contributes.reset(token)


class _AllReduce(torch.autograd.Function):
    """The sum over processes; what each does to the loss by it is summed likewise."""

    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:  # noqa: ANN401
        total = own.clone()
        torch.distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # noqa: ANN401
        return _AllReduce.forward(ctx, gradient)


def sum_over_processes(own: Tensor) -> Tensor:
    """Sums over a batch, of all processes that share it; unchanged where none is shared.

    All processes have the loss that follows, and their gradients are averaged: that of the sum is the sum of theirs.
    """
    contributes = _contributes.get()
    if contributes is None:
        return own
    total: Tensor = _AllReduce.apply(own * contributes)  # type: ignore[no-untyped-call]
    return total


def weighted_mean(total: Tensor, weight: Tensor) -> Tensor:
    """A sum divided by its weight, and 0 where there is no weight: an absent class has no loss.

    A loss that divides by nothing else is the same for a batch and for its parts in several processes.

    Args:
        total: a weighted sum over pairs, of any shape.
        weight: the sum of the weights.

    Example:
        >>> weighted_mean(torch.tensor([6.0, 0.0]), torch.tensor([3.0, 0.0]))
        tensor([2., 0.])
    """
    total, weight = sum_over_processes(torch.stack([total, weight.expand_as(total)])).unbind()
    # The divisor of the branch not taken must not be 0 either: its gradient would be NaN.
    return (total / weight.clamp(min=SMALLEST_WEIGHT)).where(weight > SMALLEST_WEIGHT, 0.0)


def check_relations(labels: Tensor, priors: Priors) -> None:
    """Refuse labels [P, K] of another number of relations than the priors have."""
    if labels.shape[1] != len(priors.relations):
        raise ValueError(
            f"labels of {labels.shape[1]} relations do not fit priors of {len(priors.relations)}"
        )
