"""Architectures: pair encoders with their heads, one paper a file. Any loss trains any of them."""

from unnoted.models.architectures.atlop import ATLOPPairEncoder
from unnoted.models.architectures.base import (
    ARCHITECTURES,
    Architecture,
    ModelSizes,
    PairEncoder,
    pair_logits,
    register_architecture,
)
from unnoted.models.architectures.bilstm import DistancePairEncoder
from unnoted.models.architectures.bran import BiaffineHead, MentionPairEncoder
from unnoted.models.architectures.docunet import DocuNetPairEncoder
from unnoted.models.architectures.gain import GAINPairEncoder
from unnoted.models.architectures.heads import GroupedBilinear, LinearHead
from unnoted.models.architectures.kd_docre import AxialPairEncoder
from unnoted.models.architectures.max_pool import MaxPoolPairEncoder
from unnoted.models.architectures.p3m import CosineHead

__all__ = [
    "ARCHITECTURES",
    "ATLOPPairEncoder",
    "Architecture",
    "AxialPairEncoder",
    "BiaffineHead",
    "CosineHead",
    "DistancePairEncoder",
    "DocuNetPairEncoder",
    "GAINPairEncoder",
    "GroupedBilinear",
    "LinearHead",
    "MaxPoolPairEncoder",
    "MentionPairEncoder",
    "ModelSizes",
    "PairEncoder",
    "pair_logits",
    "register_architecture",
]
