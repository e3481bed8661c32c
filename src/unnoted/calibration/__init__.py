"""Where the line is drawn: a threshold for every relation, chosen on scored pairs."""

from unnoted.calibration.thresholds import NEVER, tune_thresholds

__all__ = ["NEVER", "tune_thresholds"]
