"""A teacher: a trained model whose scores a student learns beside the labels (KD-DocRE's first stage)."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from unnoted.losses import Distillation, Loss
from unnoted.models.batch import Batch
from unnoted.models.model import ModelError, RelationModel


class Teacher:
    """A trained model that scores the batches of its student. It is never trained and in no checkpoint.

    Args:
        model: the trained model.
        weight: of the difference from its scores, beside the loss; 1 as published.
        name: by which errors call it.
    """

    def __init__(self, model: RelationModel, weight: float = 1.0, name: str = "teacher") -> None:
        self.model: RelationModel = model.eval().requires_grad_(False)  # type: ignore[no-untyped-call]
        self.weight = weight
        self.name = name

    @classmethod
    def from_pretrained(cls, folder: Path, weight: float = 1.0) -> "Teacher":
        """The model in a folder.

        Raises:
            ModelError: the folder is missing, incomplete, damaged or something else.
        """
        if not folder.is_dir():
            raise ModelError(f"teacher {folder}: there is no such folder")
        return cls(RelationModel.from_pretrained(folder), weight, f"teacher {folder}")

    def check(self, student: RelationModel, loss: Loss) -> None:
        """Refuse a student that these scores do not fit.

        Raises:
            ModelError: they score other relations, see other features, or mean something else by a score.
        """
        try:
            student.check_relations(self.model.relations.ids)
        except ModelError as error:
            raise ModelError(f"{self.name}: {error}") from None
        if self.model.tokenizer is None or student.tokenizer is None:
            raise ModelError(f"{self.name}: the teacher and the student both need a tokenizer")
        for what, own, other in (
            ("markers around mentions", self.model.config.markers, student.config.markers),
            ("entity types", self.model.entity_types, student.entity_types),
        ):
            if own != other:
                raise ModelError(f"{self.name}: its {what} are {own}, and the student's are {other}")
        if _describe(self.model.tokenizer) != _describe(student.tokenizer):
            sizes = f"{len(self.model.tokenizer):,} and {len(student.tokenizer):,} tokens"
            raise ModelError(f"{self.name}: its tokenizer is not that of the student ({sizes})")
        if not self.model.decoder.is_comparable_to(loss.decoder):
            raise ModelError(
                f"{self.name}: its scores have {self.model.decoder.describe_scale()}, and those of the student's loss have "
                f"{loss.decoder.describe_scale()}"
            )

    def to(self, device: torch.device) -> "Teacher":
        """Move to a device."""
        self.model.to(device)  # type: ignore[arg-type]
        return self

    @torch.no_grad()
    def scores(self, batch: Batch) -> Tensor:
        """Scores [P, K + 1] of the pairs of a batch."""
        scores: Tensor = self.model(batch).logits
        return scores

    def loss(self, loss: Loss, scores: Tensor, batch: Batch, known: Tensor) -> Tensor:
        """A loss on the labels, and the weighted difference of scores [P, K + 1] from those of the teacher."""
        distillation = Distillation(loss, self.weight)
        total: Tensor = distillation(
            scores, batch.labels(), batch.pair_weight, batch.negatives(), teacher=known
        )
        return total


def _describe(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """What decides the tokens of a text."""
    described: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return described | {"truncation": None, "padding": tokenizer.pad_token_id}
