"""The positive-unlabelled loss: estimator × surrogate × correction × normalisation, all classes at once."""

from operator import attrgetter
from typing import Annotated, Self

import numpy as np
import torch
from pydantic import BeforeValidator, Field, PlainSerializer, SkipValidation, model_validator
from torch import Tensor

from unnoted.losses.base import Loss, weighted_mean
from unnoted.losses.corrections import CORRECTIONS, FLIP, Correction
from unnoted.losses.decoder import ScoreDecoder
from unnoted.losses.estimators import Estimator, PerClass
from unnoted.losses.loss_options import LossOptions, named
from unnoted.losses.normalisations import NORMALISATIONS, PER_BATCH, Normalisation
from unnoted.losses.running_estimates import RunningEstimates
from unnoted.losses.surrogates import Surrogate
from unnoted.priors import Priors


class PositiveUnlabelledOptions(LossOptions):
    """The settings of every loss that is an estimator with a surrogate.

    Attributes:
        correction: what happens to a class whose negative part falls below 0: `none`, `clamp`, `flip`, or
            `running`, which judges by recent batches.
        normalisation: what makes sums over a batch into means: `per-batch` or `expected`.
        largest_weight: the most that one labelled pair may weigh in the positive part under `expected`, where
            one of a rare class in a small batch weighs 1 / (N π_l); None for no limit.
        class_weight: whether positives weigh more the rarer they are.
    """

    correction: Annotated[
        Correction,
        SkipValidation,
        BeforeValidator(named("correction", CORRECTIONS)),
        PlainSerializer(attrgetter("name"), return_type=str),
    ] = FLIP
    normalisation: Annotated[
        Normalisation,
        SkipValidation,
        BeforeValidator(named("normalisation", NORMALISATIONS)),
        PlainSerializer(attrgetter("name"), return_type=str),
    ] = PER_BATCH
    largest_weight: float | None = Field(None, gt=0)
    class_weight: bool = True

    @model_validator(mode="after")
    def _check_small_batches(self) -> Self:
        if self.normalisation.adds_up and self.correction.name == FLIP.name:
            raise ValueError(
                f"correction: found {FLIP.name!r} with normalisation {self.normalisation.name!r}, expected "
                "'running', 'clamp' or 'none': by expected counts most batches of a rare class are "
                "corrected, and a flip drops their positives, so that such a class is never learnt"
            )
        if self.largest_weight is not None and not self.normalisation.adds_up:
            raise ValueError(
                f"largest_weight: found {self.largest_weight:g} with normalisation "
                f"{self.normalisation.name!r}, expected none: there a labelled pair weighs at most 1"
            )
        return self


class PULoss(Loss):
    """The sum over classes of their losses, each class against all others (Eq. 3, 6 and 11).

    Four choices compose; every loss of the paper is one choice of each (see `losses`). A class with an
    overall prior of 0 has no positive term: all that is left of it is E_U ℓ(−1).

    Args:
        priors: the labelled and overall prior of every class; the order is that of the score columns.
        estimator: PN, PU or S-PU.
        surrogate: the loss of one score.
        correction: what happens to a class whose negative part falls below 0.
        normalisation: what makes sums over a batch into means.
        class_weight: multiply the positive part by γ = ((1 − π) / π)^½, against the rarity of positives.
        largest_weight: the most that one labelled pair may weigh in the positive part; None for no limit. A
            class of which fewer are to be expected, N π_l < 1 / largest_weight, is learnt as if its γ were
            N π_l · largest_weight times as large; its negative part stays unbiased.

    Example:
        >>> from unnoted.losses.estimators import ShiftedPositiveUnlabelled
        >>> from unnoted.losses.surrogates import SquaredRanking
        >>> priors = Priors(("spouse",), labelled=(0.1,), overall=(0.3,))
        >>> loss = PULoss(priors, ShiftedPositiveUnlabelled(), SquaredRanking())
        >>> scores = torch.tensor([[0.0, 0.25], [0.0, -0.25]])  # right about both pairs
        >>> loss(scores, torch.tensor([[True], [False]]))
        tensor(0.0125)
    """

    def __init__(
        self,
        priors: Priors,
        estimator: Estimator,
        surrogate: Surrogate,
        correction: Correction = FLIP,
        normalisation: Normalisation = PER_BATCH,
        class_weight: bool = True,
        largest_weight: float | None = None,
    ) -> None:
        super().__init__()
        self.priors = priors
        self.estimator = estimator
        self.surrogate = surrogate
        self.correction = correction
        self.normalisation = normalisation
        self.class_weight = class_weight
        self.largest_weight = largest_weight
        self.recent = RunningEstimates(len(priors.relations)) if correction.is_running else None
        # In float64, rounded to the scores' precision in use. No buffers: not every device has float64.
        self._per_class = torch.from_numpy(
            np.stack([*self._coefficients(), np.array(priors.labelled)])
        )  # [4, K]
        self._moved: dict[tuple[torch.device, torch.dtype], Tensor] = {}

    @property
    def decoder(self) -> ScoreDecoder:
        """What the scores mean that this loss has trained."""
        return ScoreDecoder(self.surrogate.decision, self.surrogate.link, self.priors, self.class_weight)

    @property
    def adds_up(self) -> bool:
        """Whether the loss of a batch, times its pairs, is a sum over pairs whatever shares the batch."""
        return self.normalisation.adds_up

    @property
    def needs_cosines(self) -> bool:
        """Whether the scores have to be cosines."""
        # A surrogate of your own need not say that it is content with any scores.
        return getattr(self.surrogate, "needs_cosines", False)

    def forget(self) -> None:
        """Forget the running estimates."""
        if self.recent is not None:
            self.recent.forget()

    def _coefficients(self) -> tuple[PerClass, PerClass, PerClass]:
        c = self.estimator.coefficients(self.priors)
        if not self.class_weight:
            return c.positive, c.unlabelled, c.labelled
        # Where the prior is 0, γ is infinite, but the coefficient that it multiplies is 0, and stays 0.
        weight = np.array(self.priors.class_weight)
        return np.where(np.isfinite(weight), weight, 1.0) * c.positive, c.unlabelled, c.labelled

    def _like(self, scores: Tensor) -> tuple[Tensor, ...]:
        """The three coefficients and the labelled prior of each class, [K] each; moved to a device once."""
        key = scores.device, scores.dtype
        if key not in self._moved:
            self._moved[key] = self._per_class.to(scores.dtype).to(scores.device)
        return self._moved[key].unbind()

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The sum of the classes' losses."""
        return self.of_classes(scores, labels, weights).sum()

    def of_reviewed_batch(self, scores: Tensor, labels: Tensor, weights: Tensor, negatives: Tensor) -> Tensor:
        """The sum of the classes' losses, in which no correction takes a known negative away."""
        return self.of_classes(scores, labels, weights, negatives=negatives).sum()

    def of_classes(
        self,
        scores: Tensor,
        labels: Tensor,
        weights: Tensor,
        second: tuple[Tensor, Tensor] | None = None,
        negatives: Tensor | None = None,
    ) -> Tensor:
        """The loss of every class, [K].

        The mean over unlabelled pairs is a sum of two: of known negatives, which are certain, and of what is
        left, from which the unlabelled positives are subtracted. Only the second is an estimate that could
        fall below 0, so a correction sees it alone (docs/concepts/known-negatives.md).

        Args:
            scores: [P, K + 1], in working precision.
            labels: bool [P, K].
            weights: [P].
            second: the weighted losses of labelled pairs if positive and if negative, [K] each, of a second
                view of them, which counts as much as the first.
            negatives: bool [P, K], the known negatives; None if there are none.
        """
        if labels.shape[1] != len(self.priors.relations):
            found, expected = labels.shape[1], len(self.priors.relations)
            raise ValueError(f"found labels of {found} relations, expected the {expected} of the priors")
        if_positive, if_negative = self.surrogate(scores)  # [P, K] each
        # Products and sums, not matrix products: those would fall to half precision under autocast.
        labelled, unlabelled = labels * weights[:, None], ~labels * weights[:, None]  # [P, K] each
        known = None if negatives is None else unlabelled * negatives  # [P, K]
        on_positive, on_unlabelled, on_labelled, labelled_prior = self._like(scores)  # [K] each
        counts = labelled.sum(0), unlabelled.sum(0)
        labelled_weight, unlabelled_weight = self.normalisation(*counts, labelled_prior)
        of_positive, of_labelled = (labelled * if_positive).sum(0), (labelled * if_negative).sum(0)
        if second is not None:
            of_positive, of_labelled = (of_positive + second[0]) / 2, (of_labelled + second[1]) / 2
        left = unlabelled if known is None else unlabelled - known  # exact: one of the two, or 0
        of_unlabelled = (left * if_negative).sum(0)
        positive = on_positive * weighted_mean(of_positive, self._limited(labelled_weight))
        negative = on_unlabelled * weighted_mean(of_unlabelled, unlabelled_weight)
        negative = negative - on_labelled * weighted_mean(of_labelled, labelled_weight)
        certain: Tensor | float = 0.0
        if known is not None:
            certain = on_unlabelled * weighted_mean((known * if_negative).sum(0), unlabelled_weight)
        if self.recent is None:
            return self.correction(positive, negative) + certain
        if self.training:
            expected_labelled = (counts[0] + counts[1]) * labelled_prior
            self.recent.see(of_unlabelled, counts[1], of_labelled, counts[0], expected_labelled)
        recent_unlabelled, recent_labelled = self.recent.means()
        judged = on_unlabelled * recent_unlabelled - on_labelled * recent_labelled
        return self.correction(positive, negative, judged) + certain

    def _limited(self, labelled_weight: Tensor) -> Tensor:
        """The divisor of the positive part: not so small that one labelled pair weighs more than it may."""
        if self.largest_weight is None:
            return labelled_weight
        # A divisor of 0 says that the class has no positive part at all.
        return labelled_weight.clamp(min=1 / self.largest_weight).where(labelled_weight > 0, labelled_weight)
