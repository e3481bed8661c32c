"""Every loss of the paper's tables, and the losses of the baselines there: one name, one constructor.

A constructor is called with the priors, `SSRPU(priors=docs.labelled_priors * 3)`, or with nothing where a
loss has none. A new loss is a new row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from unnoted.common.lookup import lookup
from unnoted.priors import Priors
from unnoted.risks.adaptive_focal import AdaptiveFocal
from unnoted.risks.adaptive_threshold import AdaptiveThreshold
from unnoted.risks.balanced_softmax import BalancedSoftmax
from unnoted.risks.corrections import CORRECTIONS, FLIP, Correction
from unnoted.risks.cross_entropy import CrossEntropy
from unnoted.risks.estimators import (
    Estimator,
    PositiveNegative,
    PositiveUnlabelled,
    ShiftedPositiveUnlabelled,
)
from unnoted.risks.normalisations import NORMALISATIONS, PER_BATCH, Normalisation
from unnoted.risks.pairwise import PairwiseRisk
from unnoted.risks.positive_unlabelled import PositiveUnlabelledRisk
from unnoted.risks.risk import Decision, Link, Risk, Settings
from unnoted.risks.surrogates import (
    MARGIN,
    LogSigmoid,
    LogSigmoidRanking,
    Squared,
    SquaredRanking,
    Surrogate,
)


@dataclass(frozen=True)
class PriorLoss:
    """An estimator and a surrogate; called with priors, it makes their risk.

    Example:
        >>> risk = PU(priors=Priors(("spouse",), (0.01,), (0.03,)))
        >>> risk.estimator.name, risk.surrogate.name, PU.decision
        ('pu', 'squared', 'zero')
    """

    name: str
    estimator: Estimator
    surrogate: Surrogate

    @property
    def decision(self) -> Decision:
        """The rule by which scores become facts."""
        return self.surrogate.decision

    @property
    def link(self) -> Link:
        """How a probability is read off the scores."""
        return self.surrogate.link

    def __call__(
        self,
        priors: Priors,
        *,
        correction: Correction = FLIP,
        normalisation: Normalisation = PER_BATCH,
        class_weight: bool = True,
    ) -> PositiveUnlabelledRisk:
        """The risk under given priors; the arguments are those of `PositiveUnlabelledRisk`."""
        return PositiveUnlabelledRisk(
            priors, self.estimator, self.surrogate, correction, normalisation, class_weight
        )


@dataclass(frozen=True)
class RankingLoss:
    """An estimator with the squared ranking loss; called with priors and a margin, it makes their risk.

    Example:
        >>> risk = SSRPU(priors=3 * Priors(("spouse",), (0.01,), (0.01,)), margin=0.5)
        >>> risk.estimator.name, risk.surrogate, SSRPU.decision
        ('s-pu', SquaredRanking(margin=0.5), 'none-class')
    """

    name: str
    estimator: Estimator
    decision: Decision = SquaredRanking.decision
    link: Link = SquaredRanking.link

    def __call__(
        self,
        priors: Priors,
        *,
        margin: float = MARGIN,
        correction: Correction = FLIP,
        normalisation: Normalisation = PER_BATCH,
        class_weight: bool = True,
    ) -> PositiveUnlabelledRisk:
        """The risk under given priors; the arguments are those of `PositiveUnlabelledRisk`."""
        surrogate = SquaredRanking(margin)
        return PositiveUnlabelledRisk(
            priors, self.estimator, surrogate, correction, normalisation, class_weight
        )


@dataclass(frozen=True)
class PairwiseLoss:
    """A loss of each pair alone, which has no priors and no choices.

    Example:
        >>> ATLOP(), ATLOP.decision
        (AdaptiveThreshold(), 'top-k')
    """

    name: str
    risk: type[PairwiseRisk]

    @property
    def decision(self) -> Decision:
        """The rule by which scores become facts."""
        return self.risk.decision

    @property
    def link(self) -> Link:
        """How a probability is read off the scores."""
        return self.risk.link

    def __call__(self) -> PairwiseRisk:
        """The risk."""
        return self.risk()


Loss: TypeAlias = PriorLoss | RankingLoss | PairwiseLoss
"""What has a name, a decision rule, a link, and makes a risk."""

ATLOP = PairwiseLoss("atlop", AdaptiveThreshold)
PN = PriorLoss("pn", PositiveNegative(), Squared())
SRPN = RankingLoss("sr-pn", PositiveNegative())
PU = PriorLoss("pu", PositiveUnlabelled(), Squared())
SRPU = RankingLoss("sr-pu", PositiveUnlabelled())
SPU = PriorLoss("s-pu", ShiftedPositiveUnlabelled(), Squared())
SSRPU = RankingLoss("ssr-pu", ShiftedPositiveUnlabelled())
SPULogSigmoid = PriorLoss("s-pu-log-sigmoid", ShiftedPositiveUnlabelled(), LogSigmoid())
SPULogSigmoidRanking = PriorLoss("s-pu-log-sigmoid-ranking", ShiftedPositiveUnlabelled(), LogSigmoidRanking())

LOSSES: Mapping[str, Loss] = {
    "atlop": ATLOP,
    "pn": PN,
    "sr-pn": SRPN,
    "pu": PU,
    "sr-pu": SRPU,
    "s-pu": SPU,
    "ssr-pu": SSRPU,
    "s-pu-log-sigmoid": SPULogSigmoid,
    "s-pu-log-sigmoid-ranking": SPULogSigmoidRanking,
    "cross-entropy": PairwiseLoss("cross-entropy", CrossEntropy),
    "balanced-softmax": PairwiseLoss("balanced-softmax", BalancedSoftmax),
    "adaptive-focal": PairwiseLoss("adaptive-focal", AdaptiveFocal),
}
"""Every loss by name: in the order of the paper's tables, then the losses of its baselines."""


def loss_named(name: str) -> Loss:
    """The loss of a name; a `ValueError` names the nearest one that exists.

    Example:
        >>> loss_named("ssr-pu").link
        'ranking-margin'
    """
    return lookup("loss", name, LOSSES)


def make_risk(
    name: str,
    priors: Priors | None = None,
    *,
    margin: float = MARGIN,
    correction: str = "flip",
    normalisation: str = "per-batch",
    class_weight: bool = True,
) -> Risk:
    """The risk of a loss, all choices by name, as a configuration file gives them.

    Args:
        name: a key of `LOSSES`.
        priors: needed by every loss but those of pairs alone (`atlop` and the baselines' losses).
        margin: of the squared ranking loss; the other losses have none.
        correction: `none`, `clamp` or `flip`.
        normalisation: `per-batch` or `expected`.
        class_weight: whether the positive part is weighted by γ.

    Example:
        >>> risk = make_risk("ssr-pu", Priors(("spouse",), (0.01,), (0.03,)), correction="clamp")
        >>> risk.correction
        Clamp()
    """
    loss = loss_named(name)
    chosen = (
        lookup("correction", correction, CORRECTIONS),
        lookup("normalisation", normalisation, NORMALISATIONS),
    )
    if isinstance(loss, PairwiseLoss):
        return loss()
    if priors is None:
        raise ValueError(f"found no priors for the loss {name!r}, expected those of the training set")
    surrogate = SquaredRanking(margin) if isinstance(loss, RankingLoss) else loss.surrogate
    return PositiveUnlabelledRisk(priors, loss.estimator, surrogate, *chosen, class_weight)


RISKS: Mapping[str, Callable[[Settings], Risk]] = {
    "positive-unlabelled": PositiveUnlabelledRisk.from_settings,
    AdaptiveThreshold.kind: AdaptiveThreshold.from_settings,
    CrossEntropy.kind: CrossEntropy.from_settings,
    BalancedSoftmax.kind: BalancedSoftmax.from_settings,
    AdaptiveFocal.kind: AdaptiveFocal.from_settings,
}
"""Every kind of risk by the name that its settings carry."""


def risk_from_settings(settings: Settings) -> Risk:
    """The risk that `Risk.settings` described, so that a saved model can say what it was trained with.

    Example:
        >>> risk_from_settings(ATLOP().settings())
        AdaptiveThreshold()
    """
    return lookup("risk", settings.get("kind"), RISKS)(settings)
