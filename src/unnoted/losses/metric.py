"""P3M's loss: a positive-unlabelled loss over cosines that sees labelled pairs twice, and mixed with none."""

from typing import Any

from pydantic import Field
from torch import Tensor

from unnoted.losses.base import weighted_mean, working
from unnoted.losses.estimators import ShiftedPositiveUnlabelled
from unnoted.losses.positive_unlabelled import PositiveUnlabelledOptions, PULoss
from unnoted.losses.surrogates import CosineSoftmax
from unnoted.losses.views import Views, WantedViews
from unnoted.priors import Priors


class MetricOptions(PositiveUnlabelledOptions):
    """The settings of P3M's loss; the defaults are the published ones.

    Attributes:
        scale: λ, by which cosines are multiplied in the soft-max.
        second_view: labelled pairs are seen twice, under different dropout.
        mixup_weight: of mixtures of labelled pairs with the none class; 0 for none.
        mixup_alpha: the share of the pair in a mixture is drawn from Beta(α, α).
    """

    scale: float = Field(10.0, gt=0)
    second_view: bool = True
    mixup_weight: float = Field(0.05, ge=0)
    mixup_alpha: float = Field(1.0, gt=0)


class P3MLoss(PULoss):
    """The S-PU loss of `CosineSoftmax`, and what labelled pairs teach by further views of them.

    A second view counts as much as the first: E_P is a mean over both. A mixture with the share t of its pair
    costs t ℓ(+1) + (1 − t) ℓ(−1) under the relation that the pair is labelled with; its mean over the
    labelled pairs of a class has the coefficient of the positive part, times `mixup_weight`.

    Args:
        priors: the labelled and overall prior of every class.
        options: of this loss.

    Example:
        >>> loss = P3MLoss(Priors(("spouse",), (0.1,), (0.3,)), MetricOptions())
        >>> loss.wanted_views
        WantedViews(second=True, mixup=True, mixup_alpha=1.0)
    """

    def __init__(self, priors: Priors, options: MetricOptions) -> None:
        own = MetricOptions.model_fields.keys() - PositiveUnlabelledOptions.model_fields.keys()
        others: dict[str, Any] = {key: value for key, value in options if key not in own}
        super().__init__(priors, ShiftedPositiveUnlabelled(), CosineSoftmax(options.scale), **others)
        self.options = options

    @property
    def wanted_views(self) -> WantedViews | None:
        """Which further views of labelled pairs are wanted."""
        second, mixup = self.options.second_view, self.options.mixup_weight > 0
        return WantedViews(second, mixup, self.options.mixup_alpha) if second or mixup else None

    def with_views(
        self, scores: Tensor, labels: Tensor, weights: Tensor, views: Views, negatives: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch and its views, a scalar."""
        scores, labels = working(scores), labels.bool()
        weights = weights.to(scores.dtype)
        second = None
        if views.second is not None:
            costs = self._own_losses(views.second, views.relation)
            second = (self._summed(costs[0], views, weights), self._summed(costs[1], views, weights))
        loss = self.of_classes(scores, labels, weights, second, negatives).sum()
        if views.mixed is None or views.share is None:
            return loss
        if_positive, if_negative = self._own_losses(views.mixed, views.relation)  # [F] each
        mixed = self._summed(views.share * if_positive + (1 - views.share) * if_negative, views, weights)
        counts = (labels * weights[:, None]).sum(0), (~labels * weights[:, None]).sum(0)
        on_positive, *_, labelled_prior = self._like(scores)  # [K] each
        divisor = self._limited(self.normalisation(*counts, labelled_prior)[0])
        return loss + self.options.mixup_weight * (on_positive * weighted_mean(mixed, divisor)).sum()

    def _own_losses(self, scores: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
        """The losses of F facts, [F] each, under their own relation alone."""
        if_positive, if_negative = self.surrogate(working(scores))  # [F, K] each
        own = relation.unsqueeze(1)
        return if_positive.gather(1, own).squeeze(1), if_negative.gather(1, own).squeeze(1)

    def _summed(self, losses: Tensor, views: Views, weights: Tensor) -> Tensor:
        """The weighted losses of F facts, added up by relation, [K]."""
        weighted = (losses * weights.index_select(0, views.pair)).to(weights.dtype)
        return weights.new_zeros(len(self.priors.relations)).index_add(0, views.relation, weighted)
