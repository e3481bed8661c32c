"""Estimators: how a loss over positives and negatives is put together from labelled and unlabelled pairs.

Each gives three coefficients per class. The loss of a class is

    positive · E_P ℓ(+1)  +  [ unlabelled · E_U ℓ(−1)  −  labelled · E_P ℓ(−1) ]

with E_P the mean over the pairs labelled with it and E_U the mean over the others. What stands in brackets
estimates (1 − π) E_N ℓ(−1), the part of the negatives, and is what a correction keeps from falling below 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unnoted.priors import Priors

PerClass: TypeAlias = NDArray[np.float64]
"""One number per class, [K]."""


@dataclass(frozen=True, eq=False)
class Coefficients:
    """What the three means of a class are multiplied by; see the module's formula for the signs."""

    positive: PerClass
    unlabelled: PerClass
    labelled: PerClass


class Estimator(Protocol):
    """Priors to coefficients."""

    name: ClassVar[str]

    def coefficients(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""


@dataclass(frozen=True)
class PositiveNegative:
    """PN: every unlabelled pair is taken for a negative; π, 1 − π, 0 (Eq. 3).

    Example:
        >>> float(PositiveNegative().coefficients(Priors(("spouse",), (0.25,), (0.5,))).unlabelled[0])
        0.5
    """

    name: ClassVar[str] = "pn"

    def coefficients(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall = np.array(priors.overall)
        return Coefficients(overall, 1 - overall, np.zeros_like(overall))


@dataclass(frozen=True)
class PositiveUnlabelled:
    """PU: the unlabelled pairs are taken for a fair sample of all pairs; π, 1, π (Eq. 5).

    Example:
        >>> float(PositiveUnlabelled().coefficients(Priors(("spouse",), (0.25,), (0.5,))).unlabelled[0])
        1.0
    """

    name: ClassVar[str] = "pu"

    def coefficients(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall = np.array(priors.overall)
        return Coefficients(overall, np.ones_like(overall), overall)


@dataclass(frozen=True)
class ShiftedPositiveUnlabelled:
    """S-PU: labelling took positives out of the unlabelled pairs; π, 1 − π_l, π − π_l (Eq. 10).

    The paper writes (1 − π) / (1 − π_u) and π_u (1 − π) / (1 − π_u). Since 1 − π_u = (1 − π) / (1 − π_l),
    these are 1 − π_l and π − π_l: the same numbers without a division. So nothing is lost where π_u is near
    1, π_u = 0 (that is π = π_l) gives the very coefficients of PN, and π_u = π (that is π_l = 0) those of PU.

    Example:
        >>> priors = Priors(("spouse",), (0.25,), (0.5,))
        >>> float(ShiftedPositiveUnlabelled().coefficients(priors).unlabelled[0])
        0.75
    """

    name: ClassVar[str] = "s-pu"

    def coefficients(self, priors: Priors) -> Coefficients:
        """The coefficients of every class."""
        overall, labelled = np.array(priors.overall), np.array(priors.labelled)
        return Coefficients(overall, 1 - labelled, overall - labelled)


ESTIMATORS: Mapping[str, Estimator] = {
    "pn": PositiveNegative(),
    "pu": PositiveUnlabelled(),
    "s-pu": ShiftedPositiveUnlabelled(),
}
"""Every estimator by name."""
