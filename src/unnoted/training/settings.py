"""What a training is told: one typed model, read from YAML; what is not in it is an error."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml  # type: ignore[import-untyped]
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from unnoted.documents import candidates as candidate_rules
from unnoted.documents.defects import shown
from unnoted.documents.files import write_text
from unnoted.documents.lookup import lookup, nearest
from unnoted.encoders import ENCODER_KINDS
from unnoted.risks.corrections import CORRECTIONS
from unnoted.risks.methods import PairwiseMethod, RankingMethod, method_named
from unnoted.risks.normalisations import NORMALISATIONS
from unnoted.risks.surrogates import MARGIN
from unnoted.scores import ARCHITECTURES
from unnoted.training.layers import read_layers


class SettingsError(ValueError):
    """Settings that cannot be used: names the file and the key, what was found and what was expected."""


def _no_truth_value(value: object) -> object:
    """Python takes true for 1; a settings file that says so is mistaken."""
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


NotNegative: TypeAlias = Annotated[float, Field(ge=0), BeforeValidator(_no_truth_value)]
Positive: TypeAlias = Annotated[float, Field(gt=0), BeforeValidator(_no_truth_value)]
Count: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(_no_truth_value)]
Precision: TypeAlias = Literal["float32", "bf16", "fp16"]


class Optimisation(BaseModel):
    """How a model is trained, whatever it is trained on; the defaults are the paper's for BERT-base.

    Attributes:
        epochs: passes over the documents.
        batch_documents: documents in a batch.
        gradient_accumulation: batches whose gradients are averaged for one step of the optimiser.
        encoder_rate: the highest learning rate of the encoder.
        new_layer_rate: the highest learning rate of all other layers.
        warm_up: the share of steps in which the rates rise from 0; then they fall to 0, both linearly.
        adam_epsilon: of AdamW.
        weight_decay: of AdamW, on all weights.
        clip: the longest that a gradient may be.
        unlabelled_rate: the share of unlabelled pairs that is scored in each document.
        seed: decides the new layers' first weights, the order of the documents, dropout and samples.
        precision: float32, or bf16 or fp16 where the hardware has them.
        checkpoint_steps: steps between checkpoints; without it there is one after every epoch.
        log_steps: steps between two reports of the risk.

    Example:
        >>> Optimisation(epochs=8, encoder_rate=1e-4).batch_documents
        4
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    epochs: Count = 30
    batch_documents: Count = 4
    gradient_accumulation: Count = 1
    encoder_rate: NotNegative = 5e-5
    new_layer_rate: NotNegative = 1e-4
    warm_up: Annotated[NotNegative, Field(le=1)] = 0.06
    adam_epsilon: Positive = 1e-6
    weight_decay: NotNegative = 0.0
    clip: Positive = 1.0
    unlabelled_rate: Annotated[Positive, Field(le=1)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**32), BeforeValidator(_no_truth_value)] = 62
    precision: Precision = "float32"
    checkpoint_steps: Count | None = None
    log_steps: Count = 10


class Settings(Optimisation):
    """Everything about a training: the data, the encoder, the method, and how it is optimised.

    Attributes:
        train: the training documents; for PubTator also its relation files.
        dev: development documents that the model is scored on after every epoch; they choose nothing.
        vocabulary: a file of the relations and their order; by default those that occur.
        candidates: "all", or pairs of types such as "Chemical:Disease,Chemical:Gene".
        encoder: a folder, a name on the hub, or one of `ENCODER_KINDS`, which is then made on the spot.
        vectors: word vectors in GloVe's text format for an encoder that is made.
        encoder_layers: keep only so many of its first layers.
        model: what represents and scores pairs, one of `ARCHITECTURES`.
        embedding: the size of the embeddings of head and tail.
        block: the size of a block of the grouped bilinear; divides `embedding`.
        method: one of `unnoted.risks.METHODS`.
        prior_multiplier: the overall prior as a multiple of the labelled one.
        prior_file: a file of priors instead (see `Priors.from_file`).
        margin: of the squared ranking loss.
        correction: of a class whose negative part falls below 0.
        normalisation: of the sums over a batch.
        class_weight: whether positives weigh more the rarer they are.
        output: the folder that the run is written to.
    """

    train: Annotated[tuple[Path, ...], Field(min_length=1), BeforeValidator(lambda value: _several(value))]
    dev: Annotated[tuple[Path, ...] | None, BeforeValidator(lambda value: _several(value))] = None
    vocabulary: Path | None = None
    candidates: str | None = None
    encoder: str
    vectors: Path | None = None
    encoder_layers: Count | None = None
    model: str = "atlop"
    embedding: Count = 768
    block: Count = 64
    method: str
    prior_multiplier: Positive | None = None
    prior_file: Path | None = None
    margin: NotNegative | None = None
    correction: str | None = None
    normalisation: str | None = None
    class_weight: bool | None = None
    output: Path

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        """Refuse what contradicts itself, and fill in what the method leaves open."""
        method = method_named(self.method)
        lookup("model", self.model, ARCHITECTURES)
        if self.vectors is not None and self.encoder not in ENCODER_KINDS:
            kinds = ", ".join(ENCODER_KINDS)
            raise ValueError(
                f"vectors: found {shown(str(self.vectors))}, expected none: the encoder {self.encoder!r} has "
                f"its own (encoders that are made: {kinds})"
            )
        if self.embedding % self.block:
            raise ValueError(f"block: found {self.block}, expected a divisor of embedding {self.embedding}")
        if self.candidates is not None:
            candidate_rules.parse(self.candidates)
        without_priors = isinstance(method, PairwiseMethod)
        self._refuse_unused(PRIOR_KEYS if without_priors else (), "has no priors")
        self._refuse_unused(() if isinstance(method, RankingMethod) else ("margin",), "has no margin")
        if without_priors:
            return self
        given = [key for key in ("prior_multiplier", "prior_file") if getattr(self, key) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "neither"
            raise ValueError(f"prior_multiplier, prior_file: found {found}, expected one of them")
        chosen: dict[str, Any] = {"correction": "flip", "normalisation": "per-batch", "class_weight": True}
        if isinstance(method, RankingMethod):
            chosen["margin"] = MARGIN
        for key, default in chosen.items():
            if getattr(self, key) is None:
                object.__setattr__(self, key, default)
        lookup("correction", self.correction, CORRECTIONS)
        lookup("normalisation", self.normalisation, NORMALISATIONS)
        return self

    def _refuse_unused(self, keys: Sequence[str], why: str) -> None:
        for key in keys:
            if getattr(self, key) is not None:
                found = shown(getattr(self, key))
                raise ValueError(f"{key}: found {found}, expected none: the method {self.method!r} {why}")

    @property
    def data_files(self) -> tuple[Path, ...]:
        """Every file that a training reads, but for the encoder's."""
        others = [path for path in (self.vocabulary, self.prior_file, self.vectors) if path is not None]
        return (*self.train, *(self.dev or ()), *others)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON or YAML can hold them; keys without a value are left out."""
        return self.model_dump(mode="json", exclude_none=True)

    def save(self, path: Path) -> None:
        """Write them as a file that `load_settings` reads."""
        with write_text(path) as stream:
            yaml.safe_dump(self.to_json(), stream, sort_keys=False, allow_unicode=True)


PRIOR_KEYS = ("prior_multiplier", "prior_file", "correction", "normalisation", "class_weight")
"""Keys that mean nothing to a method without priors."""


def _several(value: object) -> object:
    return [value] if isinstance(value, str | Path) else value


def load_settings(path: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """Read settings from a YAML file.

    A file may begin from others: `extends: base.yaml`, or a list of them, of which the later ones win. Their
    paths are relative to the file; those of data and output are relative to the working directory.

    Args:
        path: the file.
        overrides: `key=value` each, the value in YAML; they win over the file. `key=null` takes a key away.

    Raises:
        SettingsError: in one line, with the file and the key.
    """
    path = Path(path)
    try:
        values = read_layers(path)
        given = [_override(text) for text in overrides]
    except ValueError as error:
        raise SettingsError(str(error)) from None
    changed = dict(given)
    try:
        return Settings.model_validate(values | changed)
    except ValidationError as error:
        problems = [_problem(dict(detail), path, changed) for detail in error.errors()]
        raise SettingsError("; ".join(problems)) from None


def _override(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {text}: found no key=value")
    try:
        return key.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise ValueError(f"--set {key.strip()}: found {shown(value)}, expected a YAML value") from None


def _problem(detail: Mapping[str, Any], path: Path, overrides: Mapping[str, object]) -> str:
    """One line on what is wrong."""
    place = [str(part) for part in detail["loc"] if not str(part).startswith(("function-", "tuple"))]
    key = place[0] if place else ""
    source = "--set" if key in overrides else str(path)
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    if detail["type"] == "extra_forbidden":
        return f"{source}: unknown key {key!r}{nearest(key, Settings.model_fields)}"
    if detail["type"] == "missing":
        return f"{source}: {key}: found nothing, expected a value"
    if not key:
        return f"{source}: {message}"
    return f"{source}: {'.'.join(place)}: found {shown(detail['input'])}, expected {_lowered(message)}"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
