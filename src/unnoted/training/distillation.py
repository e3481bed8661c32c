"""A teacher: a trained model whose scores a student learns beside the labels (KD-DocRE's first stage)."""

import json
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from unnoted.losses import Loss
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
    def from_pretrained(cls, folder: Path) -> "Teacher":
        """The model in a folder.

        Raises:
            ModelError: the folder is missing, incomplete, damaged or something else.
        """
        if not folder.is_dir():
            raise ModelError(f"teacher {folder}: there is no such folder")
        return cls(RelationModel.from_pretrained(folder), name=f"teacher {folder}")

    def check(self, student: RelationModel, loss: Loss) -> None:
        """Refuse a student that these scores do not fit.

        Raises:
            ModelError: they score other relations, see other features, or mean something else by a score.
        """
        own, decoder = self.model, self.model.decoder
        try:
            student.check_relations(own.relations.ids)
        except ModelError as error:
            raise ModelError(f"{self.name}: {error}") from None
        if own.tokenizer is None or student.tokenizer is None:
            raise ModelError(f"{self.name}: the teacher and the student both need a tokenizer")
        for what, here, there in (
            ("markers around mentions", own.config.markers, student.config.markers),
            ("entity types", own.entity_types, student.entity_types),
        ):
            if here != there:
                raise ModelError(f"{self.name}: its {what} are {here}, and the student's are {there}")
        if _describe(own.tokenizer) != _describe(student.tokenizer):
            sizes = f"{len(own.tokenizer):,} and {len(student.tokenizer):,} tokens"
            raise ModelError(f"{self.name}: its tokenizer is not that of the student ({sizes})")
        if not decoder.is_comparable_to(loss.decoder):
            raise ModelError(
                f"{self.name}: its scores have {decoder.describe_scale()}, and those of the student's loss have "
                f"{loss.decoder.describe_scale()}"
            )


def _describe(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """What decides the tokens of a text."""
    described: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return described | {"truncation": None, "padding": tokenizer.pad_token_id}
