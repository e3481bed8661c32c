"""How a model is trained, whatever it is trained on: one typed model, and what a first stage may change."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def no_truth_value(value: object) -> object:
    """Python takes true for 1; a settings file that says so is mistaken."""
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


NotNegative: TypeAlias = Annotated[float, Field(ge=0), BeforeValidator(no_truth_value)]
Positive: TypeAlias = Annotated[float, Field(gt=0), BeforeValidator(no_truth_value)]
Count: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(no_truth_value)]
Precision: TypeAlias = Literal["auto", "float32", "bf16", "fp16"]
Batches: TypeAlias = Literal["like-length", "random"]
Schedule: TypeAlias = Literal["linear", "cosine", "constant"]

HALF_A_PERIOD = 0.5
"""How far a cosine goes from its highest value to 0."""


class Optimisation(BaseModel):
    """How a model is trained, whatever it is trained on; the defaults are the paper's for BERT-base.

    Attributes:
        epochs: passes over the documents.
        batch_documents: documents in a batch.
        batches: `like-length` puts documents of like length into a batch; `random` any documents, as the
            authors' program does, which takes longer.
        gradient_accumulation: batches whose gradients are averaged for one step of the optimiser.
        encoder_learning_rate: the highest learning rate of the encoder.
        head_learning_rate: the highest learning rate of all other layers.
        map_learning_rate: the highest learning rate of the layers over the entity-by-entity map, for models
            that have such a map; without it they are like all other layers.
        warm_up: the share of steps in which the rates rise linearly from 0.
        schedule: what they do then: fall to 0 in a line, follow a cosine, or stay.
        cosine_periods: how many periods of the cosine there are, for the schedule `cosine`; without it half a
            one, which ends at 0.
        adam_epsilon: of AdamW.
        weight_decay: of AdamW, on all weights.
        encoder_weight_decay: another one for the encoder.
        clip: the longest that a gradient may be.
        unlabelled_share: the share of unlabelled pairs that is scored in each document, weighted so that all
            means keep their expectation.
        unlabelled_per_labelled: score so many unlabelled pairs for each labelled one, at least 20 in a
            document, without weights; for losses without priors.
        entity_recognition_weight: of entity recognition beside the loss (see `entity_recognition.py`); for
            texts without markers.
        evidence_weight: of guiding the attention of labelled pairs to their evidence, beside the loss (see
            `evidence_guidance.py`); for documents that have evidence.
        seed: decides the new layers' first weights, the order of the documents, dropout and samples.
        precision: `auto` is bf16 on a GPU that computes in it, else float32, and lets a GPU round products to
            TF32; `float32` is exact; `bf16` and `fp16` need a GPU.
        checkpoint_steps: steps between checkpoints; without it there is one after every epoch.
        log_steps: steps between two reports of the loss.

    Example:
        >>> Optimisation(epochs=8, encoder_learning_rate=1e-4).batch_documents
        4
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    epochs: Count = 30
    batch_documents: Count = 4
    batches: Batches = "like-length"
    gradient_accumulation: Count = 1
    encoder_learning_rate: NotNegative = 5e-5
    head_learning_rate: NotNegative = 1e-4
    map_learning_rate: NotNegative | None = None
    warm_up: Annotated[NotNegative, Field(le=1)] = 0.06
    schedule: Schedule = "linear"
    cosine_periods: Positive | None = None
    adam_epsilon: Positive = 1e-6
    weight_decay: NotNegative = 0.0
    encoder_weight_decay: NotNegative | None = None
    clip: Positive = 1.0
    unlabelled_share: Annotated[Positive, Field(le=1)] = 1.0
    unlabelled_per_labelled: Positive | None = None
    entity_recognition_weight: NotNegative = 0.0
    evidence_weight: NotNegative = 0.0
    seed: Annotated[int, Field(ge=0, lt=2**32), BeforeValidator(no_truth_value)] = 62
    precision: Precision = "auto"
    checkpoint_steps: Count | None = None
    log_steps: Count = 10

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        self.refuse_contradictions()
        return self

    def refuse_contradictions(self) -> None:
        """Refuse what only makes sense without, or with, something else.

        Raises:
            ValueError: names both.
        """
        if self.unlabelled_per_labelled is not None and self.unlabelled_share < 1:
            raise ValueError(
                f"unlabelled_per_labelled: found {self.unlabelled_per_labelled:g} beside unlabelled_share "
                f"{self.unlabelled_share:g}, expected one of them"
            )
        if self.cosine_periods is not None and self.schedule != "cosine":
            raise ValueError(
                f"cosine_periods: found {self.cosine_periods:g}, expected none: the schedule is "
                f"{self.schedule!r}"
            )
