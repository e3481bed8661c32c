"""How good predictions are: plain scores, those of DocRED and ChemDisGene, breakdowns and curves."""

from unnoted.data.formats.predictions import Prediction, read_predictions
from unnoted.evaluation.benchmarks import BENCHMARKS, CHEMDISGENE, DOCRED, PLAIN, Benchmark
from unnoted.evaluation.bootstrap import BootstrapResult, paired_bootstrap
from unnoted.evaluation.curve import Curve, precision_recall_curve
from unnoted.evaluation.figures import Evaluation, evaluate
from unnoted.evaluation.reliability import Reliability
from unnoted.evaluation.score import IgnScore, Score

__all__ = [
    "BENCHMARKS",
    "CHEMDISGENE",
    "DOCRED",
    "PLAIN",
    "Benchmark",
    "BootstrapResult",
    "Curve",
    "Evaluation",
    "IgnScore",
    "Prediction",
    "Reliability",
    "Score",
    "evaluate",
    "paired_bootstrap",
    "precision_recall_curve",
    "read_predictions",
]
