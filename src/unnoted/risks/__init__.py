"""Risks: what is minimised, from scores, labels and priors; one file for each of the choices that compose."""

from unnoted.risks.adaptive_focal import AdaptiveFocal
from unnoted.risks.adaptive_threshold import AdaptiveThreshold
from unnoted.risks.balanced_softmax import BalancedSoftmax
from unnoted.risks.corrections import Clamp, Correction, Flip, Running, Uncorrected
from unnoted.risks.cross_entropy import CrossEntropy
from unnoted.risks.decisions import Decision, Fixed, FixedTopK, NoneClass, TopK, with_thresholds
from unnoted.risks.distillation import Distillation
from unnoted.risks.estimators import (
    Estimator,
    PositiveNegative,
    PositiveUnlabelled,
    ShiftedPositiveUnlabelled,
)
from unnoted.risks.label_likelihood import LabelLikelihood
from unnoted.risks.lined import Lined
from unnoted.risks.links import LINKS, Link, register_link
from unnoted.risks.loss_options import LossOptions
from unnoted.risks.losses import (
    ATLOP,
    LOSSES,
    P3M,
    PN,
    PU,
    SPU,
    SRPN,
    SRPU,
    SSRPU,
    LabelLikelihoodLoss,
    Loss,
    SPULogSigmoid,
    SPULogSigmoidRanking,
    loss_named,
    register_loss,
)
from unnoted.risks.meaning import ScoreMeaning, confidence_of, distance_of
from unnoted.risks.metric import MetricRisk
from unnoted.risks.normalisations import Expected, Normalisation, PerBatch
from unnoted.risks.pairwise import PairwiseRisk
from unnoted.risks.positive_unlabelled import PositiveUnlabelledRisk
from unnoted.risks.risk import Risk
from unnoted.risks.surrogates import (
    CosineSoftmax,
    LogSigmoid,
    LogSigmoidRanking,
    Squared,
    SquaredRanking,
    Surrogate,
)
from unnoted.risks.views import Views, WantedViews

__all__ = [
    "ATLOP",
    "LINKS",
    "LOSSES",
    "P3M",
    "PN",
    "PU",
    "SPU",
    "SRPN",
    "SRPU",
    "SSRPU",
    "AdaptiveFocal",
    "AdaptiveThreshold",
    "BalancedSoftmax",
    "Clamp",
    "Correction",
    "CosineSoftmax",
    "CrossEntropy",
    "Decision",
    "Distillation",
    "Estimator",
    "Expected",
    "Fixed",
    "FixedTopK",
    "Flip",
    "LabelLikelihood",
    "LabelLikelihoodLoss",
    "Lined",
    "Link",
    "LogSigmoid",
    "LogSigmoidRanking",
    "Loss",
    "LossOptions",
    "MetricRisk",
    "NoneClass",
    "Normalisation",
    "PairwiseRisk",
    "PerBatch",
    "PositiveNegative",
    "PositiveUnlabelled",
    "PositiveUnlabelledRisk",
    "Risk",
    "Running",
    "SPULogSigmoid",
    "SPULogSigmoidRanking",
    "ScoreMeaning",
    "ShiftedPositiveUnlabelled",
    "Squared",
    "SquaredRanking",
    "Surrogate",
    "TopK",
    "Uncorrected",
    "Views",
    "WantedViews",
    "confidence_of",
    "distance_of",
    "loss_named",
    "register_link",
    "register_loss",
    "with_thresholds",
]
