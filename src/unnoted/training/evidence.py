"""Attention guided by evidence (DREEAM): a labelled pair should look at the sentences that support it.

The weight q of localized context says how much of a pair's representation comes from each token. Summed over
sentences, and divided by their sum, it is a distribution p over the sentences of the document. Where the data
says which sentences are evidence for a pair, p is held against the uniform distribution v over these:

    KL(v || p) = sum over evidence sentences of 1/n log((1/n) / p),      n of them,

and the mean of it over the pairs that have evidence, times a weight, is added to what is minimised. Pairs
without evidence, all unlabelled ones among them, say nothing about where to look. The model has no further
parameters.

Reference:
    Ma, Wang, Okazaki (2023): DREEAM: guiding attention with evidence for improving document-level relation
    extraction.
"""

import torch
from torch import Tensor

from unnoted.inference.scoring import attention_shares
from unnoted.losses.base import weighted_mean
from unnoted.models.batch import Batch
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel

THRESHOLD = 0.2
"""The share from which a sentence is evidence, as published."""

SMALLEST = 1e-12
"""Shares below it count as so much, so that their logarithm is finite."""


def evidence_divergence(attention: Tensor, batch: Batch) -> Tensor:
    """The mean of KL(v || p) over the pairs of a batch that have evidence, a scalar; 0 if none has.

    Only these pairs' products of attentions are made.

    Args:
        attention: [N, H, T], what each entity attends to (`EncoderOutput.entity_attention`).
        batch: with its evidence.
    """
    pair, number, count = torch.unique_consecutive(
        batch.evidence_pair, return_inverse=True, return_counts=True
    )  # [Q], [V], [Q]
    shares = attention_shares(attention.float(), batch, pair)  # [Q, S]
    found = shares[number, batch.evidence_sentence].clamp(min=SMALLEST)  # [V]
    each = 1 / count[number]  # [V], v at its sentence
    total = (each * (each.log() - found.log())).sum()
    return weighted_mean(total, total.new_tensor(float(len(pair))))


def check_evidence(model: RelationModel, features: FeatureSet) -> None:
    """Refuse to guide attention that is not there, or without evidence.

    Raises:
        ValueError: says which.
    """
    if not model.encoder.attention:
        raise ValueError(
            f"loss.evidence_weight: the architecture {model.config.architecture!r} does not use attention"
        )
    if not any(len(document.evidence_pair) for document in features):
        raise ValueError("loss.evidence_weight: no labelled fact has an evidence sentence")
