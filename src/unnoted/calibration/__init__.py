"""From margins to probabilities, and the line: the best expected F1, a target precision, tuned thresholds."""

from unnoted.calibration.calibration import Calibration, Disagreement
from unnoted.calibration.expected_facts import ExpectedFacts, Unreachable
from unnoted.calibration.probability_curves import ProbabilityCurves
from unnoted.calibration.thresholds import NEVER, tune_thresholds

__all__ = [
    "NEVER",
    "Calibration",
    "Disagreement",
    "ExpectedFacts",
    "ProbabilityCurves",
    "Unreachable",
    "tune_thresholds",
]
