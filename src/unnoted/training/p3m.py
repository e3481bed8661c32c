"""Augmentation views of labelled pairs (P3M): scored again under another dropout, and mixed with the threshold class.

A loss says which views it wants and what it learns from them, and sees no more than their scores. They are
made here, from the embeddings of pairs that the forward pass gives: only labelled pairs are scored again.
"""

from typing import cast

import torch
from torch import Tensor
from torch.distributions import Beta

from unnoted.losses import P3M, Loss, Views
from unnoted.models.architectures import ARCHITECTURES, CosineHead, PairEncoder
from unnoted.models.batch import Batch
from unnoted.models.model import RelationModel, RelationOutput


class AugmentationViews:
    """A loss on the labels of a batch and on further views of its labelled pairs.

    Args:
        loss: the loss.
        model: with cosine scores.
    """

    def __init__(self, loss: P3M, model: RelationModel) -> None:
        self.loss = loss
        self._pair_encoder = cast(PairEncoder, model.pair_encoder)
        self._head = cast(CosineHead, model.head)

    @classmethod
    def create(cls, model: RelationModel, loss: Loss) -> "AugmentationViews | None":
        """The views that a loss wants, if it wants any.

        Raises:
            ValueError: the loss is over cosines, and the model's scores are none.
        """
        name = model.config.architecture
        if loss.needs_cosines and not ARCHITECTURES[name].cosines:
            fitting = ", ".join(repr(each) for each, found in ARCHITECTURES.items() if found.cosines)
            raise ValueError(
                f"model.architecture: the loss needs cosine scores, which {fitting} has and {name!r} not"
            )
        if not isinstance(loss, P3M) or not loss.needs_views:
            return None
        return cls(loss, model)

    def __call__(self, output: RelationOutput, batch: Batch) -> Tensor:
        """The loss of a batch and of the views of its labelled pairs."""
        views = self._make_views(output, batch)
        return self.loss.with_views(
            output.logits, batch.labels(), batch.pair_weight, views, batch.negatives()
        )

    def _make_views(self, output: RelationOutput, batch: Batch) -> Views:
        if output.pair_embeddings is None:  # too many pairs were scored to keep all of theirs
            shared = self._pair_encoder.encode_entities(output.encoded, batch)
            head, tail = self._pair_encoder.encode_pairs(shared, batch, batch.fact_pair)
        else:
            head, tail = (side.index_select(0, batch.fact_pair) for side in output.pair_embeddings)
        labelled = self._head.bilinear(head, tail)  # [F, embedding]
        second = mixed = share = None
        if self.loss.second_view:
            second = self._head.cosines(self._head.view(labelled))  # [F, K + 1]
        if self.loss.mixup_weight > 0:
            alpha = torch.full((len(labelled),), self.loss.mixup_alpha, device=labelled.device)
            share = Beta(alpha, alpha, validate_args=False).sample()
            mixed = self._head.cosines(
                self._head.mix_with_threshold_class(self._head.view(labelled), share)
            )  # [F, K + 1]
        return Views(batch.fact_pair, batch.fact_relation, second, mixed, share)
