"""The positive-unlabelled risk: estimator × surrogate × correction × normalisation, all classes at once."""

import numpy as np
import torch
from torch import Tensor

from unnoted.common.lookup import lookup
from unnoted.priors import Priors
from unnoted.risks.corrections import CORRECTIONS, FLIP, Correction
from unnoted.risks.estimators import ESTIMATORS, Estimator, PerClass
from unnoted.risks.normalisations import NORMALISATIONS, PER_BATCH, Normalisation
from unnoted.risks.risk import Risk, Settings, weighted_mean
from unnoted.risks.settings import check_keys
from unnoted.risks.surrogates import Surrogate, surrogate_from_settings, surrogate_settings


class PositiveUnlabelledRisk(Risk):
    """The sum over classes of their risks, each class against all others (Eq. 3, 7 and 13).

    Four choices compose; every loss of the paper is one choice of each (see `losses`). A class with an
    overall prior of 0 has no positive term: all that is left of it is E_U ℓ(−1).

    Args:
        priors: the labelled and overall prior of every class; the order is that of the score columns.
        estimator: PN, PU or S-PU.
        surrogate: the loss of one score.
        correction: what happens to a class whose negative part falls below 0.
        normalisation: what makes sums over a batch into means.
        class_weight: multiply the positive part by γ = ((1 − π) / π)^½, against the rarity of positives.

    Example:
        >>> from unnoted.risks.estimators import ShiftedPositiveUnlabelled
        >>> from unnoted.risks.surrogates import SquaredRanking
        >>> priors = Priors(("spouse",), labelled=(0.1,), overall=(0.3,))
        >>> risk = PositiveUnlabelledRisk(priors, ShiftedPositiveUnlabelled(), SquaredRanking())
        >>> scores = torch.tensor([[0.0, 0.25], [0.0, -0.25]])  # right about both pairs
        >>> risk(scores, torch.tensor([[True], [False]]))
        tensor(0.0125)
    """

    coefficients: Tensor
    labelled_prior: Tensor

    def __init__(
        self,
        priors: Priors,
        estimator: Estimator,
        surrogate: Surrogate,
        correction: Correction = FLIP,
        normalisation: Normalisation = PER_BATCH,
        class_weight: bool = True,
    ) -> None:
        super().__init__()
        self.priors = priors
        self.estimator = estimator
        self.surrogate = surrogate
        self.correction = correction
        self.normalisation = normalisation
        self.class_weight = class_weight
        self.decision, self.link = surrogate.decision, surrogate.link
        # In float64, rounded to the scores' precision in use. Not in the state: `settings` holds the priors.
        self.register_buffer("coefficients", torch.from_numpy(self._coefficients()), persistent=False)
        labelled_prior = torch.tensor(priors.labelled, dtype=torch.float64)
        self.register_buffer("labelled_prior", labelled_prior, persistent=False)

    def _coefficients(self) -> PerClass:
        c = self.estimator.coefficients(self.priors)
        weight = np.array(self.priors.positive_weight) if self.class_weight else 1.0
        return np.stack([weight * c.positive, c.unlabelled, c.labelled])  # [3, K]

    def of_batch(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The sum of the classes' risks."""
        return self.of_classes(scores, labels, weights).sum()

    def of_classes(self, scores: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """The risk of every class, [K]."""
        if labels.shape[1] != len(self.priors.relations):
            found, expected = labels.shape[1], len(self.priors.relations)
            raise ValueError(f"found labels of {found} relations, expected the {expected} of the priors")
        if_positive, if_negative = self.surrogate(scores)  # [P, K] each
        # Products and sums, not matrix products: those would fall to half precision under autocast.
        labelled, unlabelled = labels * weights[:, None], ~labels * weights[:, None]  # [P, K] each
        labelled_weight, unlabelled_weight = self.normalisation(
            labelled.sum(0), unlabelled.sum(0), self.labelled_prior.to(scores.dtype)
        )
        on_positive, on_unlabelled, on_labelled = self.coefficients.to(scores.dtype).unbind()  # [K] each
        positive = on_positive * weighted_mean((labelled * if_positive).sum(0), labelled_weight)
        negative = on_unlabelled * weighted_mean((unlabelled * if_negative).sum(0), unlabelled_weight)
        negative = negative - on_labelled * weighted_mean((labelled * if_negative).sum(0), labelled_weight)
        return self.correction(positive, negative)

    def settings(self) -> Settings:
        """All that is needed to make this risk again."""
        return {
            "kind": "positive-unlabelled",
            "priors": self.priors.to_dict(),
            "estimator": self.estimator.name,
            "surrogate": surrogate_settings(self.surrogate),
            "correction": self.correction.name,
            "normalisation": self.normalisation.name,
            "class_weight": self.class_weight,
        }

    @classmethod
    def from_settings(cls, settings: Settings) -> "PositiveUnlabelledRisk":
        """The risk that `settings` described."""
        check_keys("risk", settings, SETTINGS)
        return cls(
            Priors(**settings["priors"]),
            lookup("estimator", settings["estimator"], ESTIMATORS),
            surrogate_from_settings(settings["surrogate"]),
            lookup("correction", settings["correction"], CORRECTIONS),
            lookup("normalisation", settings["normalisation"], NORMALISATIONS),
            settings["class_weight"],
        )


SETTINGS = ("kind", "priors", "estimator", "surrogate", "correction", "normalisation", "class_weight")
