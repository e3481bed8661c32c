"""Many runs and what they come to: tables of the paper, comparisons of one's own, the demonstration."""

from unnoted.experiments.demonstrate import Demonstration, DemoPlan, MethodResult, ShownDocument, demonstrate

__all__ = ["DemoPlan", "Demonstration", "MethodResult", "ShownDocument", "demonstrate"]
