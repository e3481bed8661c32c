"""Attention guided by evidence (DREEAM): a labelled pair should look at the sentences that support it.

The weight q of localized context says how much of a pair's representation comes from each token. Summed over
sentences, and divided by their sum, it is a distribution p over the sentences of the document. Where the data
says which sentences are evidence for a pair, p is held against the uniform distribution v over these:

    KL(v || p) = sum over evidence sentences of 1/n log((1/n) / p),      n of them,

and the mean of it over the pairs that have evidence, times a weight, is added to what is minimised. Pairs
without evidence, all unlabelled ones among them, say nothing about where to look. Nothing is added to the
model but a note that its attention can be read as evidence.

Reference:
    Ma, Wang, Okazaki (2023): DREEAM: guiding attention with evidence for improving document-level relation
    extraction.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from unnoted.inference.scoring import attention_shares
from unnoted.models.batch import Batch
from unnoted.models.encoders import Encoded
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.training.objective import Objective
from unnoted.training.optimisation import Optimisation

THRESHOLD = 0.2
"""The share from which a sentence is evidence, as published."""

SMALLEST = 1e-12
"""Shares below it count as so much, so that their logarithm is finite."""


def check_evidence(model: RelationModel, optimisation: Optimisation, features: FeatureSet) -> None:
    """Refuse to guide attention that is not there, or by evidence that is not there; note it in the model.

    Args:
        model: whose configuration is told that its attention is guided.
        optimisation: with the weight.
        features: those of the training documents.

    Raises:
        ValueError: names the setting, and what is missing.
    """
    if not optimisation.evidence_weight:
        return
    reason = None
    if not model.encoder.attention:
        reason = f"the architecture {model.config.architecture!r} does not look at attention"
    elif not any(len(document.evidence_pair) for document in features):
        reason = "no labelled fact has an evidence sentence"
    if reason is not None:
        raise ValueError(f"evidence_weight: found {optimisation.evidence_weight:g}, expected 0: {reason}")
    if model.config.evidence_threshold is None:
        model.config.evidence_threshold = THRESHOLD


def evidence_divergence(attention: Tensor, batch: Batch) -> Tensor:
    """The mean of KL(v || p) over the pairs of a batch that have evidence, a scalar; 0 if none has.

    Only these pairs' products of attentions are made.

    Args:
        attention: [N, H, T], what each entity attends to (`Encoded.attention`).
        batch: with its evidence.
    """
    pair, number, count = torch.unique_consecutive(
        batch.evidence_pair, return_inverse=True, return_counts=True
    )  # [Q], [V], [Q]
    shares = attention_shares(attention.float(), batch, pair)  # [Q, S]
    found = shares[number, batch.evidence_sentence].clamp(min=SMALLEST)  # [V]
    each = 1 / count[number]  # [V], v at its sentence
    total: Tensor = (each * (each.log() - found.log())).sum() / max(len(pair), 1)
    return total


class WithEvidence:
    """Another objective, and the divergence of attention from evidence beside it.

    Args:
        objective: the other one.
        model: whose attention is guided.
        weight: of the divergence.
    """

    def __init__(self, objective: Objective, model: RelationModel, weight: float) -> None:
        self._objective = objective
        self._model = model
        self._weight = weight
        self._encoded: Encoded | None = None

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The number to be minimised, of scores [P, K + 1] and the attention that they were made from."""
        assert self._encoded is not None, "attention is kept only in training"
        encoded, self._encoded = self._encoded, None
        divergence = evidence_divergence(encoded.entity_attention, batch)
        return self._objective(scores, batch) + self._weight * divergence

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Within this context the encoder's attention is kept for the objective."""
        hook = self._model.encoder.register_forward_hook(self._keep)
        try:
            yield
        finally:
            hook.remove()
            self._encoded = None

    def _keep(self, encoder: nn.Module, inputs: tuple[Batch], encoded: Encoded) -> None:
        if encoder.training:
            self._encoded = encoded
