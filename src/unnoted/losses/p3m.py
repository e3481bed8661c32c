"""P3M's loss: a positive-unlabelled loss over cosines that sees labelled pairs twice, and in mixtures."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field
from torch import Tensor

from unnoted.losses.base import register_loss, to_working_precision, weighted_mean
from unnoted.losses.decoding import DecisionRule, Link, logits_above_threshold_class
from unnoted.losses.pu import (
    NORMALISATIONS,
    CorrectionName,
    NormalisationName,
    PULoss,
    ShiftedPositiveUnlabelled,
    log_sigmoids,
)
from unnoted.priors import Priors


@dataclass(frozen=True)
class CosineSoftmax:
    """ℓ = -log of the share of λ f_i, if y = +1, or of λ f_0 in the softmax of both: -log σ(y λ (f_i - f_0)).

    Logits are cosines, whose differences are small, so λ has to be large.

    Example:
        >>> import torch
        >>> CosineSoftmax(scale=10.0)(torch.tensor([[0.1, 0.1]]))[0]  # log 2
        tensor([[0.6931]])
    """

    scale: float = 10.0

    decision: ClassVar[DecisionRule] = DecisionRule()

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ValueError(f"scale must be above 0 and finite, not {self.scale}")

    @property
    def link(self) -> Link:
        """The probability that a trained logit shows."""
        return Link("cosine-softmax", 1 / self.scale)

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every logit if positive and if negative."""
        return log_sigmoids(self.scale * logits_above_threshold_class(logits))


@dataclass(frozen=True)
class Views:
    """Augmentation views of F labelled facts; a pair with several labels is there with each.

    Attributes:
        pair: int64 [F], the row of the pair among the logits.
        relation: int64 [F], from 0.
        second: [F, K + 1], logits under another dropout.
        mixed: [F, K + 1], logits of mixtures with the threshold class.
        share: [F], of the pair in its mixture.
    """

    pair: Tensor
    relation: Tensor
    second: Tensor | None = None
    mixed: Tensor | None = None
    share: Tensor | None = None


@register_loss("p3m")
class P3M(PULoss):
    """The S-PU loss of `CosineSoftmax`, and of augmentation views of the labelled pairs.

    A second view counts as much as the first: E_P is a mean over both. A mixture with the share t of its pair
    costs t ℓ(+1) + (1 - t) ℓ(-1) under the relation that the pair is labelled with; its mean over the
    labelled pairs of a class has the coefficient of the positive part, times `mixup_weight`. The model needs
    the architecture `p3m`, whose logits are cosines.

    Args:
        priors: the labelled and overall prior of every class.
        scale: λ, by which cosines are multiplied in the softmax.
        second_view: see labelled pairs twice, under different dropout.
        mixup_weight: of mixtures of labelled pairs with the threshold class; 0 for none.
        mixup_alpha: the share of the pair in a mixture is drawn from Beta(α, α).
        correction: of a class whose negative part falls below 0: `none`, `clamp` or `flip`.
        normalisation: what makes sums over a batch into means: `per-batch` or `expected`.
        class_weight: multiply the positive part by γ = ((1 - π) / π)^½.

    Reference:
        Wang, Pan, Zhang, Wu, Hu (2024): A positive-unlabeled metric learning framework for document-level
        relation extraction with incomplete labeling. AAAI.

    Example:
        >>> loss = P3M(Priors(("spouse",), (0.1,), (0.3,)), mixup_weight=0)
        >>> loss.surrogate, loss.needs_views
        (CosineSoftmax(scale=10.0), True)
    """

    needs_cosines: ClassVar[bool] = True

    def __init__(
        self,
        priors: Priors,
        scale: Annotated[float, Field(gt=0)] = 10.0,
        second_view: bool = True,
        mixup_weight: Annotated[float, Field(ge=0)] = 0.05,
        mixup_alpha: Annotated[float, Field(gt=0)] = 1.0,
        correction: CorrectionName = "flip",
        normalisation: NormalisationName = "per-batch",
        class_weight: bool = True,
    ) -> None:
        estimator = ShiftedPositiveUnlabelled()
        super().__init__(priors, estimator, CosineSoftmax(scale), correction, normalisation, class_weight)
        self.second_view = second_view
        self.mixup_weight = mixup_weight
        self.mixup_alpha = mixup_alpha

    @property
    def needs_views(self) -> bool:
        """Whether it needs any views of labelled pairs."""
        return self.second_view or self.mixup_weight > 0

    def with_views(
        self,
        logits: Tensor,
        labels: Tensor,
        weights: Tensor,
        views: Views,
        negatives: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch and its views, a scalar."""
        logits, labels = to_working_precision(logits), labels.bool()
        weights = weights.to(logits.dtype)
        second = None
        if views.second is not None:
            if_positive, if_negative = self._label_losses(views.second, views.relation)  # [F] each
            second = (
                self._sum_by_class(if_positive, views, weights),
                self._sum_by_class(if_negative, views, weights),
            )
        loss = self.class_losses(logits, labels, weights, negatives, second).sum()
        if views.mixed is None or views.share is None:
            return loss
        if_positive, if_negative = self._label_losses(views.mixed, views.relation)
        mixed = self._sum_by_class(
            views.share * if_positive + (1 - views.share) * if_negative, views, weights
        )
        on_positive, *_, prior = self._constants.like(logits).unbind()  # [K] each
        counts = (labels * weights[:, None]).sum(0), (~labels * weights[:, None]).sum(0)
        divisor, _ = NORMALISATIONS[self.normalisation](*counts, prior)
        return loss + self.mixup_weight * (on_positive * weighted_mean(mixed, divisor)).sum()

    def _label_losses(self, logits: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
        """ℓ(+1) and ℓ(-1) of F facts under the relation that each is labelled with, [F] each."""
        if_positive, if_negative = self.surrogate(to_working_precision(logits))  # [F, K] each
        column = relation.unsqueeze(1)
        return if_positive.gather(1, column).squeeze(1), if_negative.gather(1, column).squeeze(1)

    def _sum_by_class(self, losses: Tensor, views: Views, weights: Tensor) -> Tensor:
        """The weighted losses of F facts, summed by relation, [K]."""
        weighted = (losses * weights.index_select(0, views.pair)).to(weights.dtype)
        return weights.new_zeros(len(self.priors.relations)).index_add(0, views.relation, weighted)
