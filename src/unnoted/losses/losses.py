"""Losses by name: every one of the paper's tables and of its baselines, and those that you register.

A `NamedLoss` is called with the priors, `SSRPU(priors=docs.labelled_priors * 3)`, or with nothing where it needs
none, and makes the loss that training minimises. Its own settings stand in its `options`: a configuration
file, `--set` and a call all give them by the same names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import Field

from unnoted.losses.adaptive_focal import AdaptiveFocal
from unnoted.losses.adaptive_threshold import AdaptiveThreshold
from unnoted.losses.balanced_softmax import BalancedSoftmax
from unnoted.losses.base import Loss
from unnoted.losses.cross_entropy import CrossEntropy
from unnoted.losses.estimators import (
    Estimator,
    PositiveNegative,
    PositiveUnlabelled,
    ShiftedPositiveUnlabelled,
)
from unnoted.losses.label_likelihood import LabelLikelihood
from unnoted.losses.loss_options import LossOptions
from unnoted.losses.metric import MetricOptions, P3MLoss
from unnoted.losses.positive_unlabelled import PositiveUnlabelledOptions, PULoss
from unnoted.losses.surrogates import (
    MARGIN,
    LogSigmoid,
    LogSigmoidRanking,
    Squared,
    SquaredRanking,
    Surrogate,
)
from unnoted.priors import Priors
from unnoted.priors.propensity import PROPENSITY_SLOPE
from unnoted.utils import lookup, register


@dataclass(frozen=True)
class NamedLoss:
    """A loss by name; called with priors and options, it makes the loss that training minimises.

    Attributes:
        name: in settings, commands and tables.
        make: a loss from options and priors.
        options: the settings of this loss, with their defaults and checks.
        needs_priors: whether it has to be told how often each relation holds.

    Example:
        >>> loss = SSRPU(priors=3 * Priors(("spouse",), (0.01,), (0.01,)), margin=0.5)
        >>> loss.estimator.name, loss.surrogate, loss.decoder.decision
        ('s-pu', SquaredRanking(margin=0.5), NoneClass())
        >>> ATLOP(), ATLOP.needs_priors
        (AdaptiveThreshold(), False)
    """

    name: str
    make: Callable[[Any, Any], Loss]
    options: type[LossOptions] = LossOptions
    needs_priors: bool = False

    def __call__(self, priors: Priors | None = None, **options: object) -> Loss:
        """The loss under given priors.

        Args:
            priors: of every relation; only for a loss that needs them.
            options: the settings of this loss by name; those not given have their defaults.

        Raises:
            ValueError: priors are missing or not needed, or an option is unknown or out of range.
        """
        if self.needs_priors and priors is None:
            raise ValueError(
                f"found no priors for the loss {self.name!r}, expected those of the training set"
            )
        if priors is not None and not self.needs_priors:
            raise ValueError(f"found priors for the loss {self.name!r}, expected none: it does not use them")
        return self.make(self.options.checked(options), priors)


class RankingOptions(PositiveUnlabelledOptions):
    """The settings of the losses with the squared ranking surrogate.

    Attributes:
        margin: of the surrogate.
    """

    margin: float = Field(MARGIN, ge=0)


def _positive_unlabelled(name: str, estimator: Estimator, surrogate: Surrogate) -> NamedLoss:
    def make(options: PositiveUnlabelledOptions, priors: Priors) -> Loss:
        return PULoss(priors, estimator, surrogate, **dict(options))

    return NamedLoss(name, make, PositiveUnlabelledOptions, needs_priors=True)


def _squared_ranking(name: str, estimator: Estimator) -> NamedLoss:
    def make(options: RankingOptions, priors: Priors) -> Loss:
        others = {key: value for key, value in options if key != "margin"}
        return PULoss(priors, estimator, SquaredRanking(options.margin), **others)

    return NamedLoss(name, make, RankingOptions, needs_priors=True)


ATLOP = NamedLoss("atlop", lambda options, priors: AdaptiveThreshold())
PN = _positive_unlabelled("pn", PositiveNegative(), Squared())
SRPN = _squared_ranking("sr-pn", PositiveNegative())
PU = _positive_unlabelled("pu", PositiveUnlabelled(), Squared())
SRPU = _squared_ranking("sr-pu", PositiveUnlabelled())
SPU = _positive_unlabelled("s-pu", ShiftedPositiveUnlabelled(), Squared())
SSRPU = _squared_ranking("ssr-pu", ShiftedPositiveUnlabelled())
SPULogSigmoid = _positive_unlabelled("s-pu-log-sigmoid", ShiftedPositiveUnlabelled(), LogSigmoid())
SPULogSigmoidRanking = _positive_unlabelled(
    "s-pu-log-sigmoid-ranking", ShiftedPositiveUnlabelled(), LogSigmoidRanking()
)
P3M = NamedLoss("p3m", lambda options, priors: P3MLoss(priors, options), MetricOptions, needs_priors=True)


class LabelLikelihoodOptions(LossOptions):
    """The settings of the label likelihood.

    Attributes:
        propensity_slope: how much more often evident facts are labelled than others; 0 for a fair sample.
    """

    propensity_slope: float = Field(PROPENSITY_SLOPE, ge=0)


LabelLikelihoodLoss = NamedLoss(
    "label-likelihood",
    lambda options, priors: LabelLikelihood(priors, **dict(options)),
    LabelLikelihoodOptions,
    needs_priors=True,
)

_LOSSES = {
    "atlop": ATLOP,
    "pn": PN,
    "sr-pn": SRPN,
    "pu": PU,
    "sr-pu": SRPU,
    "s-pu": SPU,
    "ssr-pu": SSRPU,
    "s-pu-log-sigmoid": SPULogSigmoid,
    "s-pu-log-sigmoid-ranking": SPULogSigmoidRanking,
    "label-likelihood": LabelLikelihoodLoss,
    "cross-entropy": NamedLoss("cross-entropy", lambda options, priors: CrossEntropy()),
    "balanced-softmax": NamedLoss("balanced-softmax", lambda options, priors: BalancedSoftmax()),
    "adaptive-focal": NamedLoss("adaptive-focal", lambda options, priors: AdaptiveFocal()),
    "p3m": P3M,
}

LOSSES: Mapping[str, NamedLoss] = MappingProxyType(_LOSSES)
"""Every loss by name: in the order of the paper's tables, its baselines' losses, what came after it, then
registered ones."""


def register_loss(loss: NamedLoss) -> None:
    """Add a loss of your own; settings, `Trainer` and comparisons then know it by its name.

    Raises:
        ValueError: if the name is taken.

    Example:
        >>> register_loss(NamedLoss("ssr-pu", lambda options, priors: AdaptiveThreshold()))
        Traceback (most recent call last):
        ValueError: loss 'ssr-pu' is registered already, expected another name
    """
    register("loss", loss.name, loss, _LOSSES)


def loss_named(name: str) -> NamedLoss:
    """The loss of a name; a `ValueError` names the nearest one that exists.

    Example:
        >>> sorted(loss_named("ssr-pu").options.model_fields)
        ['class_weight', 'correction', 'largest_weight', 'margin', 'normalisation']
    """
    return lookup("loss", name, LOSSES)
