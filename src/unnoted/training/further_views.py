"""Further views of labelled pairs (P3M): scored again under another dropout, and mixed with the none class.

A loss says which views it wants and what it learns from them, and sees no more than their scores. They are
made here, from the embeddings of the pairs that the forward pass has made anyway: only labelled pairs are
scored again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn
from torch.distributions import Beta

from unnoted.losses import P3M, Loss, ViewOptions, Views
from unnoted.models.architectures import ARCHITECTURES, CosineHead
from unnoted.models.batch import Batch
from unnoted.models.model import RelationModel


def check_scorer(model: RelationModel, loss: Loss) -> None:
    """Refuse a loss over cosines for a model whose scores are none.

    Raises:
        ValueError: names the architecture, and those that would do.
    """
    name = model.config.architecture
    if loss.needs_cosines and not ARCHITECTURES[name].cosines:
        fitting = ", ".join(repr(each) for each, found in ARCHITECTURES.items() if found.cosines)
        raise ValueError(
            f"architecture: found {name!r}, expected one whose scores are cosines ({fitting}): the loss "
            "multiplies cosines by a large number, and other scores would be far too large"
        )


class FromViews:
    """A loss on the labels of a batch and on further views of its labelled pairs.

    Args:
        loss: the loss.
        wanted: the views that it wants.
        model: that makes the embeddings, with cosine scores.
    """

    def __init__(self, loss: P3M, wanted: ViewOptions, model: RelationModel) -> None:
        self.loss = loss
        self.wanted = wanted
        self._encoder = model.encoder
        self._scorer = cast(CosineHead, model.head)
        self._embedded: list[Tensor] = []

    def __call__(self, scores: Tensor, batch: Batch) -> Tensor:
        """The loss of scores [P, K + 1] and of the views of the embeddings that they were made from."""
        embedded, self._embedded = torch.cat(self._embedded), []  # [P, embedding]
        views = self._views(embedded, batch)
        return self.loss.with_views(scores, batch.labels(), batch.pair_weight, views, batch.negatives())

    def _views(self, embedded: Tensor, batch: Batch) -> Views:
        scorer = self._scorer
        labelled = embedded.index_select(0, batch.fact_pair)  # [F, embedding]
        second = mixed = share = None
        if self.wanted.second:
            second = scorer.cosines(scorer.view(labelled))  # [F, K + 1]
        if self.wanted.mixup:
            alpha = torch.full((len(labelled),), self.wanted.mixup_alpha, device=labelled.device)
            share = Beta(alpha, alpha, validate_args=False).sample()
            mixed = scorer.cosines(
                scorer.mix_with_threshold_class(scorer.view(labelled), share)
            )  # [F, K + 1]
        return Views(batch.fact_pair, batch.fact_relation, second, mixed, share)

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Within this context the embeddings of pairs are kept until they are asked for."""
        # A batch of very many pairs is scored in pieces, which the backward pass makes once more.
        hooks = [
            self._encoder.register_forward_pre_hook(self._begin),
            self._scorer.bilinear.register_forward_hook(self._keep),
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            self._embedded = []

    def _begin(self, encoder: nn.Module, inputs: tuple[Batch]) -> None:
        self._embedded = []

    def _keep(self, bilinear: nn.Module, inputs: tuple[Tensor, Tensor], embedded: Tensor) -> None:
        if bilinear.training:
            self._embedded.append(embedded)
