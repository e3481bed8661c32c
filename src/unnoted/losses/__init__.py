"""Risks: what is minimised, from scores, labels and priors; one file for each of the choices that compose."""

from unnoted.losses.adaptive_focal import AdaptiveFocal
from unnoted.losses.adaptive_threshold import AdaptiveThreshold
from unnoted.losses.balanced_softmax import BalancedSoftmax
from unnoted.losses.base import Loss
from unnoted.losses.corrections import Clamp, Correction, Flip, Running, Uncorrected
from unnoted.losses.cross_entropy import CrossEntropy
from unnoted.losses.decisions import Decision, Fixed, FixedTopK, NoneClass, TopK, with_thresholds
from unnoted.losses.decoder import ScoreDecoder, confidence_of, distance_of
from unnoted.losses.distillation import Distillation
from unnoted.losses.estimators import (
    Estimator,
    PositiveNegative,
    PositiveUnlabelled,
    ShiftedPositiveUnlabelled,
)
from unnoted.losses.label_likelihood import LabelLikelihood
from unnoted.losses.lined import Lined
from unnoted.losses.links import LINKS, Link, register_link
from unnoted.losses.loss_options import LossOptions
from unnoted.losses.losses import (
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
    NamedLoss,
    SPULogSigmoid,
    SPULogSigmoidRanking,
    loss_named,
    register_loss,
)
from unnoted.losses.metric import P3MLoss
from unnoted.losses.normalisations import Expected, Normalisation, PerBatch
from unnoted.losses.pairwise import PairwiseLoss
from unnoted.losses.positive_unlabelled import PULoss
from unnoted.losses.surrogates import (
    CosineSoftmax,
    LogSigmoid,
    LogSigmoidRanking,
    Squared,
    SquaredRanking,
    Surrogate,
)
from unnoted.losses.views import Views, WantedViews

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
    "NamedLoss",
    "NoneClass",
    "Normalisation",
    "P3MLoss",
    "PULoss",
    "PairwiseLoss",
    "PerBatch",
    "PositiveNegative",
    "PositiveUnlabelled",
    "Running",
    "SPULogSigmoid",
    "SPULogSigmoidRanking",
    "ScoreDecoder",
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
