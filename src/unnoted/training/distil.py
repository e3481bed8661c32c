"""A teacher: a trained model whose scores a student learns from (KD-DocRE's first stage)."""

from pathlib import Path

import torch
from torch import Tensor

from unnoted.losses import Loss
from unnoted.models.batch import Batch
from unnoted.models.model import ModelError, RelationModel
from unnoted.models.tokenization import DocumentTokenizer


class Teacher:
    """A trained model that is asked for the scores of the batches that its student sees.

    It is never trained: no dropout, no gradient, no part in checkpoints.

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
    def from_folder(cls, folder: Path, weight: float = 1.0) -> "Teacher":
        """The model that a training left in a folder.

        Raises:
            ModelError: if the folder is missing, incomplete, damaged or something else.
        """
        if not folder.is_dir():
            raise ModelError(f"teacher {folder}: found no such folder, expected that of a trained model")
        return cls(RelationModel.from_pretrained(folder), weight, f"teacher {folder}")

    def check(self, student: RelationModel, loss: Loss) -> None:
        """Refuse a student that this teacher's scores do not fit.

        Raises:
            ModelError: if they score other relations, see other features, or mean something else by a score.
        """
        try:
            student.check_relations(self.model.relations.ids)
        except ModelError as error:
            raise ModelError(f"{self.name}: {error}") from None
        self._check_features(student)
        self._check_decoder(loss)

    def _check_features(self, student: RelationModel) -> None:
        """The student's batches must mean to the teacher what its own did."""
        if self.model.tokenizer is None or student.tokenizer is None:
            raise ModelError(f"{self.name}: found no tokenizer, expected that of the student")
        if self.model.config.markers != student.config.markers:
            found, expected = (
                "markers" if model.config.markers else "none" for model in (self.model, student)
            )
            raise ModelError(
                f"{self.name}: found {found} around mentions, expected the student's: {expected}"
            )
        own, other = (
            DocumentTokenizer(tokenizer, student.config.markers)
            for tokenizer in (self.model.tokenizer, student.tokenizer)
        )
        if (own.identity, own.pad_token) != (other.identity, other.pad_token):
            sizes = f"{len(self.model.tokenizer):,} tokens, not {len(student.tokenizer):,}"
            same = len(self.model.tokenizer) == len(student.tokenizer)
            how = "as many tokens, but not the same" if same else sizes
            raise ModelError(
                f"{self.name}: found another tokenizer ({how}), expected that of the student's encoder"
            )
        if self.model.entity_types != student.entity_types:
            found, expected = (", ".join(model.entity_types) or "none" for model in (self.model, student))
            raise ModelError(
                f"{self.name}: found the entity types {found}, expected the student's: {expected}"
            )

    def _check_decoder(self, loss: Loss) -> None:
        """A score of 1 says different things under different losses."""
        own, expected = self.model.decoder, loss.decoder
        if not own.is_comparable_to(expected):
            raise ModelError(
                f"{self.name}: found scores with {own.describe_scale()}, expected those of the student's loss: "
                f"{expected.describe_scale()}"
            )

    def to(self, device: torch.device) -> "Teacher":
        """Move to a device."""
        self.model.to(device)  # type: ignore[arg-type]
        return self

    @torch.no_grad()
    def scores(self, batch: Batch) -> Tensor:
        """Scores [P, K + 1] of the same pairs that the student is asked for."""
        scores: Tensor = self.model(batch).logits
        return scores
