"""Calibrated probabilities from incomplete labels, and the decision threshold of the best expected F1."""

from unnoted.calibration.calibration import Calibration
from unnoted.calibration.expected_metrics import ExpectedFacts, TargetUnreachableError
from unnoted.calibration.fit import fit_calibration, posterior_given_unlabelled
from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.calibration.thresholds import NEVER, tune_thresholds

__all__ = [
    "NEVER",
    "Calibration",
    "ExpectedFacts",
    "OutOfFoldScores",
    "TargetUnreachableError",
    "fit_calibration",
    "posterior_given_unlabelled",
    "tune_thresholds",
]
