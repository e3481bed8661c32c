"""How often each relation holds: labelled and overall priors, and the labelling propensity."""

from unnoted.priors.priors import OTHERS, PriorRow, Priors

__all__ = ["OTHERS", "PriorRow", "Priors"]
