"""How a model is trained, whatever it is trained on: one typed model, and what a first stage may change."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _no_truth_value(value: object) -> object:
    """Python takes true for 1; a settings file that says so is mistaken."""
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


NotNegative: TypeAlias = Annotated[float, Field(ge=0), BeforeValidator(_no_truth_value)]
Positive: TypeAlias = Annotated[float, Field(gt=0), BeforeValidator(_no_truth_value)]
Count: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(_no_truth_value)]
Precision: TypeAlias = Literal["auto", "float32", "bf16", "fp16"]


class Optimisation(BaseModel):
    """How a model is trained, whatever it is trained on; the defaults are the paper's for BERT-base.

    Attributes:
        epochs: passes over the documents.
        batch_documents: documents in a batch.
        gradient_accumulation: batches whose gradients are averaged for one step of the optimiser.
        encoder_learning_rate: the highest learning rate of the encoder.
        head_learning_rate: the highest learning rate of all other layers.
        map_learning_rate: the highest learning rate of the layers over the entity-by-entity map, for models
            that have such a map; without it they are like all other layers.
        warm_up: the share of steps in which the rates rise from 0; then they fall to 0, both linearly.
        adam_epsilon: of AdamW.
        weight_decay: of AdamW, on all weights.
        clip: the longest that a gradient may be.
        unlabelled_share: the share of unlabelled pairs that is scored in each document.
        entity_recognition_weight: of entity recognition beside the risk (see `entity_recognition.py`); for
            texts without markers.
        seed: decides the new layers' first weights, the order of the documents, dropout and samples.
        precision: `auto` is bf16 on a GPU that computes in it, else float32, and lets a GPU round products to
            TF32; `float32` is exact; `bf16` and `fp16` need a GPU.
        checkpoint_steps: steps between checkpoints; without it there is one after every epoch.
        log_steps: steps between two reports of the risk.

    Example:
        >>> Optimisation(epochs=8, encoder_learning_rate=1e-4).batch_documents
        4
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    epochs: Count = 30
    batch_documents: Count = 4
    gradient_accumulation: Count = 1
    encoder_learning_rate: NotNegative = 5e-5
    head_learning_rate: NotNegative = 1e-4
    map_learning_rate: NotNegative | None = None
    warm_up: Annotated[NotNegative, Field(le=1)] = 0.06
    adam_epsilon: Positive = 1e-6
    weight_decay: NotNegative = 0.0
    clip: Positive = 1.0
    unlabelled_share: Annotated[Positive, Field(le=1)] = 1.0
    entity_recognition_weight: NotNegative = 0.0
    seed: Annotated[int, Field(ge=0, lt=2**32), BeforeValidator(_no_truth_value)] = 62
    precision: Precision = "auto"
    checkpoint_steps: Count | None = None
    log_steps: Count = 10


class DistillationSettings(Optimisation):
    """What is different in the stage in which a student learns from a teacher.

    Attributes:
        weight: of the difference from the teacher's scores, beside the risk.

    Example:
        >>> stage = DistillationSettings(epochs=2).over(Optimisation(epochs=8, seed=3))
        >>> stage.epochs, stage.seed, stage.weight
        (2, 3, 1.0)
    """

    weight: NotNegative = 1.0

    def over(self, main: Optimisation) -> "DistillationSettings":
        """The same, with what was not given as in the main settings; what was given is remembered."""
        given = self.model_fields_set
        values = {name: getattr(self if name in given else main, name) for name in Optimisation.model_fields}
        return self.model_construct(_fields_set=set(given), weight=self.weight, **values)
