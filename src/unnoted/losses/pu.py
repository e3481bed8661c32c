"""Positive-unlabelled losses: estimator × surrogate × correction × normalisation, for all classes at once.

Every loss in the tables of SSR-PU (Wang et al., 2022) is one choice of each. With E_P the mean over the pairs
labelled with a class and E_U the mean over all others, an estimator makes the loss of the class

    positive · E_P ℓ(+1)  +  [ unlabelled · E_U ℓ(-1)  -  labelled · E_P ℓ(-1) ]

of a surrogate ℓ. What stands in brackets estimates (1 - π) E_N ℓ(-1), the part of the negatives, and is what
a correction keeps from falling below 0.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from unnoted.losses.base import Loss, RelationConstants, check_relations, register_loss, weighted_mean
from unnoted.losses.decoding import DecisionRule, Link, ScoreDecoder, logits_above_threshold_class
from unnoted.priors import Priors

MARGIN = 0.25
"""The margin of the paper's main results."""

Margin: TypeAlias = Annotated[float, Field(ge=0)]
CorrectionName: TypeAlias = Literal["none", "clamp", "flip"]
NormalisationName: TypeAlias = Literal["per-batch", "expected"]


# --- Estimators: priors to the coefficients of the three means ---


class Coefficients(NamedTuple):
    """What the three means of each class are multiplied by, [K] each; the module's formula has the signs."""

    positive: NDArray[np.float64]
    unlabelled: NDArray[np.float64]
    labelled: NDArray[np.float64]


class Estimator(Protocol):
    """Priors to the coefficients of every class."""

    def __call__(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        ...


@dataclass(frozen=True)
class PositiveNegative:
    """PN: every unlabelled pair counts as a negative; π, 1 - π, 0 (Eq. 3).

    Example:
        >>> float(PositiveNegative()(Priors(("spouse",), (0.25,), (0.5,))).unlabelled[0])
        0.5
    """

    def __call__(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall = np.array(priors.overall)
        return Coefficients(overall, 1 - overall, np.zeros_like(overall))


@dataclass(frozen=True)
class PositiveUnlabelled:
    """PU: the unlabelled pairs count as a fair sample of all pairs; π, 1, π (Eq. 5).

    Example:
        >>> float(PositiveUnlabelled()(Priors(("spouse",), (0.25,), (0.5,))).unlabelled[0])
        1.0
    """

    def __call__(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall = np.array(priors.overall)
        return Coefficients(overall, np.ones_like(overall), overall)


@dataclass(frozen=True)
class ShiftedPositiveUnlabelled:
    """S-PU: labelling took positives out of the unlabelled pairs (prior shift); π, 1 - π_l, π - π_l (Eq. 10).

    The paper writes (1 - π) / (1 - π_u) and π_u (1 - π) / (1 - π_u). Since 1 - π_u = (1 - π) / (1 - π_l),
    these are 1 - π_l and π - π_l: the same numbers without a division. So nothing is lost where π_u is near
    1, π_u = 0 (that is π = π_l) gives the very coefficients of PN, and π_u = π (that is π_l = 0) those of PU.

    Example:
        >>> float(ShiftedPositiveUnlabelled()(Priors(("spouse",), (0.25,), (0.5,))).unlabelled[0])
        0.75
    """

    def __call__(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall, labelled = np.array(priors.overall), np.array(priors.labelled)
        return Coefficients(overall, 1 - labelled, overall - labelled)


# --- Surrogates: what a logit costs if its relation holds, ℓ(+1), and if it does not, ℓ(-1) ---


class Surrogate(Protocol):
    """Logits [P, K + 1] to the losses (ℓ(+1) [P, K], ℓ(-1) [P, K]).

    Attributes:
        decision: the rule by which logits that it has trained predict relations.
    """

    decision: ClassVar[DecisionRule]

    @property
    def link(self) -> Link:
        """The probability that a trained logit shows."""
        ...

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        ...


@dataclass(frozen=True)
class Squared:
    """ℓ = ¼ (y f_i - 1)² (Eq. 7).

    Example:
        >>> import torch
        >>> Squared()(torch.tensor([[9.0, 1.0, -3.0]]))
        (tensor([[0., 4.]]), tensor([[1., 1.]]))
    """

    decision: ClassVar[DecisionRule] = DecisionRule("zero")
    link: ClassVar[Link] = Link("squared")

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        return _squares(logits[:, 1:], 1.0)


@dataclass(frozen=True)
class SquaredRanking:
    """ℓ = ¼ (y (f_i - f_0) - margin)² (Eq. 13): positives rank above the threshold class, negatives below.

    Its minimiser is f_i - f_0 = margin (2p - 1), p the probability of the relation (Theorem 2). So a margin
    of 0 teaches nothing; the paper shows that too (Table 11), and it is allowed here to show it again.

    Example:
        >>> import torch
        >>> SquaredRanking(margin=1.0)(torch.tensor([[2.0, 3.0, -1.0]]))
        (tensor([[0., 4.]]), tensor([[1., 1.]]))
    """

    margin: float = MARGIN

    decision: ClassVar[DecisionRule] = DecisionRule()

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise ValueError(f"margin must be 0 or more and finite, not {self.margin}")

    @property
    def link(self) -> Link:
        """The probability that a trained logit shows."""
        return Link("ranking-margin", self.margin)

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        return _squares(logits_above_threshold_class(logits), self.margin)


@dataclass(frozen=True)
class LogSigmoid:
    """ℓ = -log σ(y f_i) (Eq. 19).

    Example:
        >>> import torch
        >>> LogSigmoid()(torch.tensor([[9.0, 0.0]]))[0]  # log 2
        tensor([[0.6931]])
    """

    decision: ClassVar[DecisionRule] = DecisionRule("zero")
    link: ClassVar[Link] = Link("sigmoid")

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        return log_sigmoids(logits[:, 1:])


@dataclass(frozen=True)
class LogSigmoidRanking:
    """ℓ = -log σ(y (f_i - f_0)) (Eq. 20).

    Example:
        >>> import torch
        >>> LogSigmoidRanking()(torch.tensor([[9.0, 9.0]]))[0]  # log 2
        tensor([[0.6931]])
    """

    decision: ClassVar[DecisionRule] = DecisionRule()
    link: ClassVar[Link] = Link("sigmoid-ranking")

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        return log_sigmoids(logits_above_threshold_class(logits))


def _squares(x: Tensor, target: float) -> tuple[Tensor, Tensor]:
    return (x - target).square() / 4, (x + target).square() / 4


def log_sigmoids(x: Tensor) -> tuple[Tensor, Tensor]:
    """-log σ(x) and -log σ(-x)."""
    return -logsigmoid(x), -logsigmoid(-x)


# --- Corrections and normalisations ---

CORRECTIONS: Mapping[CorrectionName, Callable[[Tensor, Tensor], Tensor]] = {
    # The plain sum, which is unbiased (Eq. 5 and 10); a flexible model drives it down without end.
    "none": lambda positive, negative: positive + negative,
    # The negative part is at least 0 (Eq. 6 and 11); where it would be less, only positives have gradients.
    "clamp": lambda positive, negative: positive + negative.clamp(min=0),
    # Where the negative part is below 0, its opposite is the whole loss of the class (Kiryo et al., 2017): a
    # step then undoes the overfitting and does nothing else. This is how the paper's figures were made.
    "flip": lambda positive, negative: (-negative).where(negative < 0, positive + negative),
}
"""Positive and negative parts [K] to the loss of each class [K]: what is done about a class whose negative
part, a difference of two means, falls below 0."""

NORMALISATIONS: Mapping[NormalisationName, Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    # By the pairs in the batch, as the paper does. A class that is absent from a batch, as most are from most,
    # has no positive term there: so the terms of a rare class shrink by its probability of being present.
    "per-batch": lambda labelled, unlabelled, prior: (labelled, unlabelled),
    # By the expected pairs of a batch of N: N π_l and N (1 - π_l). A class that is rarely present counts more
    # where it is, and the mean over batches is unbiased.
    "expected": lambda labelled, unlabelled, prior: (
        (labelled + unlabelled) * prior,
        (labelled + unlabelled) * (1 - prior),
    ),
}
"""Weights of labelled and unlabelled pairs and the labelled prior [K] to what their sums are divided by [K]."""


# --- The loss ---


class PULoss(Loss):
    """The sum over classes of the PU losses of each class against all others (Eq. 3, 6 and 11).

    Estimator, surrogate, correction and normalisation compose. A class with an overall prior of 0 has no
    positive term: all that is left of it is E_U ℓ(-1).

    Args:
        priors: the labelled and overall prior of every class, in the order of the logits.
        estimator: PN, PU or S-PU.
        surrogate: the loss of one logit.
        correction: of a class whose negative part falls below 0: `none`, `clamp` or `flip`.
        normalisation: what makes sums over a batch into means: `per-batch` or `expected`.
        class_weight: multiply the positive part by γ = ((1 - π) / π)^½, against the rarity of positives.

    Example:
        >>> import torch
        >>> priors = Priors(("spouse",), labelled=(0.1,), overall=(0.3,))
        >>> loss = PULoss(priors, ShiftedPositiveUnlabelled(), SquaredRanking())
        >>> logits = torch.tensor([[0.0, 0.25], [0.0, -0.25]])  # right about both pairs
        >>> loss(logits, torch.tensor([[True], [False]]))
        tensor(0.0125)
    """

    def __init__(
        self,
        priors: Priors,
        estimator: Estimator,
        surrogate: Surrogate,
        correction: CorrectionName = "flip",
        normalisation: NormalisationName = "per-batch",
        class_weight: bool = True,
    ) -> None:
        super().__init__()
        if normalisation == "expected" and correction == "flip":
            raise ValueError(
                "normalisation 'expected' needs the correction 'clamp' or 'none': by expected counts most batches "
                "of a rare class are corrected, and 'flip' drops their positives, so that it is never learnt"
            )
        self.priors = priors
        self.estimator = estimator
        self.surrogate = surrogate
        self.correction = correction
        self.normalisation = normalisation
        self.class_weight = class_weight
        c = estimator(priors)
        # Where the prior is 0, γ is infinite, but the coefficient that it multiplies is 0, and stays 0.
        gamma = np.array(priors.class_weight) if class_weight else np.ones(len(priors.relations))
        positive = np.where(np.isfinite(gamma), gamma, 1.0) * c.positive
        self._constants = RelationConstants(
            np.stack([positive, c.unlabelled, c.labelled, np.array(priors.labelled)])
        )

    @property
    def decoder(self) -> ScoreDecoder:
        """How logits that this loss has trained are decoded."""
        return ScoreDecoder(self.surrogate.decision, self.surrogate.link, self.priors, self.class_weight)

    def batch_loss(self, logits: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor | None) -> Tensor:
        """The sum over classes."""
        return self.class_losses(logits, labels, weights, negatives).sum()

    def class_losses(
        self,
        logits: Tensor,
        labels: Tensor,
        weights: Tensor,
        negatives: Tensor | None = None,
        second_view: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """The loss of each class, [K].

        The mean over unlabelled pairs is a sum of two: of known negatives, which are certain, and of what is
        left, from which the unlabelled positives are subtracted. Only the second is an estimate that could
        fall below 0, so a correction sees it alone (docs/concepts/losses.md).

        Args:
            logits: [P, K + 1], in working precision.
            labels: bool [P, K].
            weights: [P].
            negatives: bool [P, K], the known negatives; None if there are none.
            second_view: the weighted sums of ℓ(+1) and ℓ(-1) over the labelled pairs of each class, [K] each,
                in a second view of them, which counts as much as the first.
        """
        check_relations(labels, self.priors)
        if_positive, if_negative = self.surrogate(logits)  # [P, K] each
        # Products and sums, not matrix products: those would fall to half precision under autocast.
        labelled, unlabelled = labels * weights[:, None], ~labels * weights[:, None]  # [P, K] each
        on_positive, on_unlabelled, on_labelled, prior = self._constants.like(logits).unbind()  # [K] each
        labelled_weight, unlabelled_weight = NORMALISATIONS[self.normalisation](
            labelled.sum(0), unlabelled.sum(0), prior
        )
        positive_sum, labelled_sum = (labelled * if_positive).sum(0), (labelled * if_negative).sum(0)
        if second_view is not None:
            positive_sum, labelled_sum = (
                (positive_sum + second_view[0]) / 2,
                (labelled_sum + second_view[1]) / 2,
            )
        known = None if negatives is None else unlabelled * negatives  # [P, K]
        unknown = unlabelled if known is None else unlabelled - known  # exact: one of the two, or 0
        # S-PU (Eq. 10): γ π E_P ℓ(+1) + [(1 - π_l) E_U ℓ(-1) - (π - π_l) E_P ℓ(-1)].
        positive = on_positive * weighted_mean(positive_sum, labelled_weight)
        negative = on_unlabelled * weighted_mean((unknown * if_negative).sum(0), unlabelled_weight)
        negative = negative - on_labelled * weighted_mean(labelled_sum, labelled_weight)
        losses = CORRECTIONS[self.correction](positive, negative)
        if known is None:
            return losses
        return losses + on_unlabelled * weighted_mean((known * if_negative).sum(0), unlabelled_weight)


class _NamedPULoss(PULoss):
    """An estimator with a surrogate that has no settings."""

    _estimator: ClassVar[Estimator]
    _surrogate: ClassVar[Surrogate] = Squared()

    def __init__(
        self,
        priors: Priors,
        correction: CorrectionName = "flip",
        normalisation: NormalisationName = "per-batch",
        class_weight: bool = True,
    ) -> None:
        super().__init__(priors, self._estimator, self._surrogate, correction, normalisation, class_weight)


class _SquaredRankingLoss(PULoss):
    """An estimator with the squared ranking surrogate."""

    _estimator: ClassVar[Estimator]

    def __init__(
        self,
        priors: Priors,
        margin: Margin = MARGIN,
        correction: CorrectionName = "flip",
        normalisation: NormalisationName = "per-batch",
        class_weight: bool = True,
    ) -> None:
        surrogate = SquaredRanking(margin)
        super().__init__(priors, self._estimator, surrogate, correction, normalisation, class_weight)


@register_loss("pn")
class PN(_NamedPULoss):
    """PN: the squared loss, every unlabelled pair a negative (Eq. 3 and 7). Arguments: see `PULoss`."""

    _estimator = PositiveNegative()


@register_loss("sr-pn")
class SRPN(_SquaredRankingLoss):
    """SR-PN: the squared ranking loss, every unlabelled pair a negative (Eq. 3 and 13)."""

    _estimator = PositiveNegative()


@register_loss("pu")
class PU(_NamedPULoss):
    """PU: the squared loss with the unbiased estimator of Kiryo et al. (2017) (Eq. 5, 6 and 7)."""

    _estimator = PositiveUnlabelled()


@register_loss("sr-pu")
class SRPU(_SquaredRankingLoss):
    """SR-PU: the squared ranking loss with PU's estimator (Eq. 5, 6 and 13)."""

    _estimator = PositiveUnlabelled()


@register_loss("s-pu")
class SPU(_NamedPULoss):
    """S-PU: the squared loss under the prior shift of the training data (Eq. 7, 10 and 11)."""

    _estimator = ShiftedPositiveUnlabelled()


@register_loss("ssr-pu")
class SSRPU(_SquaredRankingLoss):
    """SSR-PU: the squared ranking loss under the prior shift of the training data (Eq. 10, 11 and 13).

    Args:
        priors: the labelled and overall prior of every class, e.g. `documents.labelled_priors * 3`.
        margin: of the squared ranking surrogate.
        correction: of a class whose negative part falls below 0: `none`, `clamp` or `flip`.
        normalisation: what makes sums over a batch into means: `per-batch` or `expected`.
        class_weight: multiply the positive part by γ = ((1 - π) / π)^½, against the rarity of positives.

    Reference:
        Wang, Liu, Hu, Zhang (2022): A unified positive-unlabeled learning framework for document-level
        relation extraction with different levels of labeling. EMNLP.

    Example:
        >>> loss = SSRPU(priors=3 * Priors(("spouse",), (0.01,), (0.01,)), margin=0.5)
        >>> loss.surrogate, loss.decoder.decision
        (SquaredRanking(margin=0.5), DecisionRule(reference='threshold-class', threshold=0.0, top_k=None))
    """

    _estimator = ShiftedPositiveUnlabelled()


@register_loss("s-pu-log-sigmoid")
class SPULogSigmoid(_NamedPULoss):
    """S-PU with the log-sigmoid surrogate (Eq. 10, 11 and 19)."""

    _estimator = ShiftedPositiveUnlabelled()
    _surrogate = LogSigmoid()


@register_loss("s-pu-log-sigmoid-ranking")
class SPULogSigmoidRanking(_NamedPULoss):
    """S-PU with the log-sigmoid ranking surrogate (Eq. 10, 11 and 20)."""

    _estimator = ShiftedPositiveUnlabelled()
    _surrogate = LogSigmoidRanking()
