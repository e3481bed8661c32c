"""Augmentation views of labelled pairs (P3M): scored again under another dropout, and mixed with the threshold class.

A loss says which views it wants and what it learns from them, and sees no more than their scores. They are
made here, from the embeddings of pairs that the forward pass gives: only labelled pairs are scored again.
"""

from typing import cast

import torch
from torch.distributions import Beta

from unnoted.losses import P3M, Loss, Views
from unnoted.models.architectures import ARCHITECTURES, CosineHead, PairEncoder
from unnoted.models.batch import Batch
from unnoted.models.model import RelationModel, RelationOutput


def check_cosines(model: RelationModel, loss: Loss) -> None:
    """Refuse a loss over cosines for a model whose scores are none."""
    name = model.config.architecture
    if loss.needs_cosines and not ARCHITECTURES[name].cosines:
        fitting = ", ".join(repr(each) for each, found in ARCHITECTURES.items() if found.cosines)
        raise ValueError(
            f"model.architecture: the loss needs cosine scores, which {fitting} has and {name!r} not"
        )


def make_views(model: RelationModel, loss: P3M, output: RelationOutput, batch: Batch) -> Views:
    """The views of the labelled pairs of a batch.

    Args:
        model: with cosine scores.
        loss: which wants views.
        output: of the model for the batch.
        batch: the documents.
    """
    encoder, head = cast(PairEncoder, model.pair_encoder), cast(CosineHead, model.head)
    if output.pair_embeddings is None:  # too many pairs were scored to keep all of theirs
        shared = encoder.encode_entities(output.encoded, batch)
        first, last = encoder.encode_pairs(shared, batch, batch.fact_pair)
    else:
        first, last = (side.index_select(0, batch.fact_pair) for side in output.pair_embeddings)
    labelled = head.bilinear(first, last)  # [F, embedding]
    second = mixed = share = None
    if loss.second_view:
        second = head.cosines(head.view(labelled))  # [F, K + 1]
    if loss.mixup_weight > 0:
        alpha = torch.full((len(labelled),), loss.mixup_alpha, device=labelled.device)
        share = Beta(alpha, alpha, validate_args=False).sample()
        mixed = head.cosines(head.mix_with_threshold_class(head.view(labelled), share))  # [F, K + 1]
    return Views(batch.fact_pair, batch.fact_relation, second, mixed, share)
