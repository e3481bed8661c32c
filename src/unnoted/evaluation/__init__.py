"""How good predictions are: plain scores, those of DocRED and ChemDisGene, curves, calibration, significance."""

from unnoted.data.formats.predictions import Prediction, read_predictions
from unnoted.evaluation.curves import Curve, Reliability, precision_recall_curve
from unnoted.evaluation.evaluator import (
    BENCHMARKS,
    CHEMDISGENE,
    DOCRED,
    PLAIN,
    Benchmark,
    Evaluation,
    PredictionError,
    evaluate,
    evaluate_extractor,
)
from unnoted.evaluation.incomplete import CorrectedScores, LabelFrequency, correct_scores
from unnoted.evaluation.metrics import IgnScore, Score, document_scores
from unnoted.evaluation.significance import BootstrapResult, paired_bootstrap

__all__ = [
    "BENCHMARKS",
    "CHEMDISGENE",
    "DOCRED",
    "PLAIN",
    "Benchmark",
    "BootstrapResult",
    "CorrectedScores",
    "Curve",
    "Evaluation",
    "IgnScore",
    "LabelFrequency",
    "Prediction",
    "PredictionError",
    "Reliability",
    "Score",
    "correct_scores",
    "document_scores",
    "evaluate",
    "evaluate_extractor",
    "paired_bootstrap",
    "precision_recall_curve",
    "read_predictions",
]
