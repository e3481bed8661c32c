"""What a training is told: one typed model, read from YAML; what is not in it is an error."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import yaml  # type: ignore[import-untyped]
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from unnoted.architectures import ARCHITECTURES
from unnoted.common.errors import shown
from unnoted.common.files import write_text
from unnoted.common.lookup import lookup, nearest
from unnoted.documents import candidates as candidate_rules
from unnoted.encoders import ENCODER_KINDS
from unnoted.risks.corrections import CORRECTIONS
from unnoted.risks.losses import loss_named
from unnoted.risks.normalisations import NORMALISATIONS
from unnoted.risks.surrogates import MARGIN
from unnoted.training.layers import read_layers
from unnoted.training.optimisation import (
    Count,
    DistillationSettings,
    NotNegative,
    Optimisation,
    Positive,
)

__all__ = ["DistillationSettings", "Optimisation", "Settings", "SettingsError", "load_settings"]


class SettingsError(ValueError):
    """Settings that cannot be used: names the file and the key, what was found and what was expected."""


def _several(value: object) -> object:
    return [value] if isinstance(value, str | Path) else value


def _by_set(value: object) -> object:
    return value if isinstance(value, Mapping) else {"test": value}


Files: TypeAlias = Annotated[tuple[Path, ...], Field(min_length=1), BeforeValidator(_several)]


class Settings(Optimisation):
    """Everything about a training: the data, the encoder, the loss, and how it is optimised.

    Attributes:
        train: the training documents; for PubTator also its relation files.
        dev: development documents that the model is scored on after every epoch; they choose nothing but,
            where `tuned_thresholds` says so, thresholds after the last step.
        tuned_thresholds: decide each relation by a threshold that has the best F1 on `dev`; for losses that
            decide at 0.
        teacher: the folder of a trained model. With it there are two stages: the model learns from the
            teacher's scores of `distant`, and is then fine-tuned on `train`.
        distant: distantly labelled documents for the first stage; files as those of `train`.
        distillation: what is different in the first stage; all else is as in the main settings.
        vocabulary: a file of the relations and their order; by default those that occur.
        candidates: "all", or pairs of types such as "Chemical:Disease,Chemical:Gene".
        encoder: a folder, a name on the hub, or one of `ENCODER_KINDS`, which is then made on the spot.
        vectors: word vectors in GloVe's text format for an encoder that is made.
        encoder_layers: keep only so many of its first layers.
        architecture: what represents and scores pairs, one of `ARCHITECTURES`.
        embedding: the size of the embeddings of head and tail.
        block: the size of a block of the grouped bilinear; divides `embedding`.
        loss: one of `unnoted.risks.LOSSES`.
        prior_multiplier: the overall prior as a multiple of the labelled one.
        prior_file: a file of priors instead (see `Priors.from_file`).
        margin: of the squared ranking loss.
        correction: of a class whose negative part falls below 0.
        normalisation: of the sums over a batch.
        class_weight: whether positives weigh more the rarer they are.
        test: documents with all their facts that the trained model is scored on: files, or files by the name
            of the set (`test`, `dev`).
        benchmark: how the scores are reported, one of `unnoted.evaluation.BENCHMARKS`.
        output: the folder that the run is written to.
    """

    train: Files
    dev: Annotated[tuple[Path, ...] | None, BeforeValidator(_several)] = None
    tuned_thresholds: bool = False
    teacher: Path | None = None
    distant: Files | None = None
    distillation: DistillationSettings | None = None
    vocabulary: Path | None = None
    candidates: str | None = None
    encoder: str
    vectors: Path | None = None
    encoder_layers: Count | None = None
    architecture: str = "atlop"
    embedding: Count = 768
    block: Count = 64
    loss: str
    prior_multiplier: Positive | None = None
    prior_file: Path | None = None
    margin: NotNegative | None = None
    correction: str | None = None
    normalisation: str | None = None
    class_weight: bool | None = None
    test: Annotated[dict[str, Files], BeforeValidator(_by_set)] = Field(default_factory=dict)
    benchmark: str = "plain"
    output: Path

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        """Refuse what contradicts itself, and fill in what the loss leaves open."""
        loss = loss_named(self.loss)
        lookup("architecture", self.architecture, ARCHITECTURES)
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
        self._check_thresholds()
        self._check_distillation()
        without_priors = not loss.needs_priors
        self._refuse_unused(PRIOR_KEYS if without_priors else (), "has no priors")
        self._refuse_unused(() if "margin" in loss.options.model_fields else ("margin",), "has no margin")
        if without_priors:
            return self
        given = [key for key in ("prior_multiplier", "prior_file") if getattr(self, key) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "neither"
            raise ValueError(f"prior_multiplier, prior_file: found {found}, expected one of them")
        chosen: dict[str, Any] = {"correction": "flip", "normalisation": "per-batch", "class_weight": True}
        if "margin" in loss.options.model_fields:
            chosen["margin"] = MARGIN
        for key, default in chosen.items():
            if getattr(self, key) is None:
                object.__setattr__(self, key, default)
        lookup("correction", self.correction, CORRECTIONS)
        lookup("normalisation", self.normalisation, NORMALISATIONS)
        return self

    def _check_thresholds(self) -> None:
        """Tuned thresholds need documents to be tuned on."""
        if self.tuned_thresholds and self.dev is None:
            raise ValueError("tuned_thresholds: found true without dev, expected documents to tune them on")

    def _check_distillation(self) -> None:
        """A first stage needs both a teacher and documents; what it leaves open is filled in."""
        found = [key for key in ("teacher", "distant") if getattr(self, key) is not None]
        if len(found) == 1:
            raise ValueError(f"teacher, distant: found {found[0]} only, expected both or neither")
        if self.distillation is not None and not found:
            raise ValueError("distillation: found a mapping, expected none without teacher and distant")
        if found:
            given = self.distillation or DistillationSettings()
            object.__setattr__(self, "distillation", given.over(self))

    def _refuse_unused(self, keys: Sequence[str], why: str) -> None:
        for key in keys:
            if getattr(self, key) is not None:
                found = shown(getattr(self, key))
                raise ValueError(f"{key}: found {found}, expected none: the loss {self.loss!r} {why}")

    @property
    def data_files(self) -> tuple[Path, ...]:
        """Every file that a training reads, but for the encoder's."""
        others = [path for path in (self.vocabulary, self.prior_file, self.vectors) if path is not None]
        if self.teacher is not None:
            others += [self.teacher / name for name in ("config.json", "model.safetensors")]
        tested = [path for files in self.test.values() for path in files]
        return (*self.train, *(self.dev or ()), *(self.distant or ()), *tested, *others)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON or YAML can hold them; keys without a value are left out."""
        values = self.model_dump(mode="json", exclude_none=True)
        if self.distillation is not None:
            # Here a key without a value says something: that it is not as in the main settings.
            values["distillation"] = self.distillation.over(self).model_dump(mode="json")
        return values

    def save(self, path: Path) -> None:
        """Write them as a file that `load_settings` reads."""
        with write_text(path) as stream:
            yaml.safe_dump(self.to_json(), stream, sort_keys=False, allow_unicode=True)


PRIOR_KEYS = ("prior_multiplier", "prior_file", "correction", "normalisation", "class_weight")
"""Keys that mean nothing to a loss without priors."""


def load_settings(path: str | Path, overrides: Sequence[str] | Mapping[str, object] = ()) -> Settings:
    """Read settings from a YAML file.

    A file may begin from others: `extends: base.yaml`, or a list of them, of which the later ones win. Their
    paths are relative to the file; those of data and output are relative to the working directory.

    Args:
        path: the file.
        overrides: values by key, or `key=value` each with the value in YAML; they win over the file. None
            (null) takes a key away.

    Raises:
        SettingsError: in one line, with the file and the key.
    """
    path = Path(path)
    try:
        values = read_layers(path)
        changed = (
            dict(overrides) if isinstance(overrides, Mapping) else dict(_override(text) for text in overrides)
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None
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
        valid = (Settings if len(place) == 1 else DistillationSettings).model_fields
        return f"{source}: unknown key {'.'.join(place)!r}{nearest(place[-1], valid)}"
    if detail["type"] == "missing":
        return f"{source}: {key}: found nothing, expected a value"
    if not key:
        return f"{source}: {message}"
    return f"{source}: {'.'.join(place)}: found {shown(detail['input'])}, expected {_lowered(message)}"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
