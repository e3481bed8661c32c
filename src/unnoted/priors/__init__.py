"""How often each relation holds: counted among the labels, given, multiplied, estimated, or audited."""

from unnoted.priors.priors import OTHERS, PriorRow, Priors

__all__ = ["OTHERS", "PriorRow", "Priors"]
