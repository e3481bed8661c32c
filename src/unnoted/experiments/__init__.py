"""Comparisons that run by themselves: the demonstration."""

from unnoted.experiments.demonstrate import DemoPlan, demonstrate
from unnoted.experiments.demonstration import Demonstration, MethodResult, ShownDocument

__all__ = ["DemoPlan", "Demonstration", "MethodResult", "ShownDocument", "demonstrate"]
