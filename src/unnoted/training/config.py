"""The configuration of a run: one typed, nested model, from a config file and what a user changes in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import yaml  # type: ignore[import-untyped]
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from unnoted.configs import ConfigError, merge_values, read_config
from unnoted.data.candidates import CandidatePairs
from unnoted.evaluation import BENCHMARKS
from unnoted.io import YamlError, open_output, parse_yaml
from unnoted.losses import LOSSES, get_loss
from unnoted.models.architectures import ARCHITECTURES
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.models.encoders.from_scratch import WORDS
from unnoted.utils import Options, lookup, nearest, short_repr, shorten

LABELLED = "labelled"
"""Candidates: the type pairs that have labels, where these hold nearly all facts."""

LEXICAL_LOSS = "label-likelihood"
"""The loss whose logits are log odds, as those of the lexical model are."""

ALTERNATIVES = {
    "loss.prior_multiplier": "loss.prior_file", "loss.prior_file": "loss.prior_multiplier",
    "optimizer.unlabelled_per_labelled": "optimizer.unlabelled_rate",
}  # fmt: skip
"""Keys that are left out when another one is given."""

MAX_PROBLEMS = 20


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers here")
    return value


def _check_candidates(text: str) -> str:
    if text != LABELLED:
        CandidatePairs.parse(text)
    return text


def _known(what: str, table: Mapping[str, object]) -> AfterValidator:
    """A name must stand in a table."""

    def check(name: str) -> str:
        lookup(what, name, table)
        return name

    return AfterValidator(check)


NOT_BOOL = BeforeValidator(_refuse_bool)
NAMED = BeforeValidator(lambda value: {"name": value} if isinstance(value, str) else value)
"""`loss: NAME` is short for `loss: {name: NAME}`."""

NotNegative: TypeAlias = Annotated[float, Field(ge=0), NOT_BOOL]
Positive: TypeAlias = Annotated[float, Field(gt=0), NOT_BOOL]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1), NOT_BOOL]
Count: TypeAlias = Annotated[int, Field(ge=1), NOT_BOOL]
Files: TypeAlias = Annotated[
    tuple[Path, ...],
    Field(min_length=1),
    BeforeValidator(lambda value: [value] if isinstance(value, str | Path) else value),
]
Precision: TypeAlias = Literal["auto", "float32", "bf16", "fp16"]


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


class DataConfig(_Group):
    """What is made of the documents.

    Attributes:
        vocabulary: a file of the relations and their order; by default those that occur.
        candidates: which pairs are scored: `all`, type pairs such as `Chemical:Disease,Chemical:Gene`, or
            `labelled`, the type pairs that have labels. ` intra-sentence` may follow either of the first two.
        rules: a file of Horn rules. The training labels are closed under them, and the model propagates its
            scores along them.
        benchmark: how the scores on `test` are reported, one of `unnoted.evaluation.BENCHMARKS`.
    """

    vocabulary: Path | None = None
    candidates: Annotated[str, AfterValidator(_check_candidates)] | None = None
    rules: Path | None = None
    benchmark: Annotated[str, _known("benchmark", BENCHMARKS)] = "plain"


class EncoderOptions(Options):
    """What an encoder that is made on the spot is made from.

    Attributes:
        vectors: word vectors in GloVe's text format.
        tokenizer: `words`, `subwords` learnt from the training documents, or a folder or a name on the hub.
    """

    owner = "encoder"
    vectors: Path | None = None
    tokenizer: str = WORDS


class ModelConfig(_Group):
    """The model.

    Attributes:
        init_from: the folder of a trained model to start from, in place of a new one over `encoder`.
        encoder: a folder, a name on the hub, or one of `ENCODER_KINDS`, which is then made on the spot.
        encoder_layers: keep only this many of the encoder's first layers.
        encoder_options: for an encoder that is made, see `EncoderOptions`.
        architecture: what represents and scores pairs, one of `ARCHITECTURES`.
        options: what this architecture declares.
        embedding: the size of the embeddings of head and tail.
        markers: what stands around mentions in the text that the encoder sees: `plain` (an asterisk on either
            side), `typed` (the word of its type opens a mention), or `none`.
        typed_relations: predict only relations between types that they are labelled with.
        use_type_bias: give relations a bias for each type pair, initialised from the label counts.
        lexical_weight: the weight of a lexical model in an ensemble with the network.
    """

    init_from: Path | None = None
    encoder: str | None = None
    encoder_layers: Count | None = None
    encoder_options: dict[str, Any] = {}
    architecture: Annotated[str, _known("architecture", ARCHITECTURES)] = "atlop"
    options: dict[str, Any] = {}
    embedding: Count = 768
    markers: Literal["plain", "typed", "none"] = "plain"
    typed_relations: bool = False
    use_type_bias: bool = False
    lexical_weight: Share = 0.0

    @field_validator("options")
    @classmethod
    def _fill_options(cls, options: dict[str, Any], others: ValidationInfo) -> dict[str, Any]:
        return _fill_options(ARCHITECTURES.get(others.data.get("architecture", "")), options)

    @field_validator("encoder_options")
    @classmethod
    def _check_encoder_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        return EncoderOptions.checked(options).model_dump(exclude_unset=True)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.encoder is None and self.init_from is None:
            raise ValueError("encoder: missing; give a folder or a name on the hub")
        return self


class LossConfig(_Group):
    """What is minimised.

    Attributes:
        name: one of `unnoted.losses.LOSSES`.
        options: what this loss declares.
        prior_multiplier: true facts for each labelled one, for losses with priors; 1 where labels are complete.
        prior_file: a file of priors instead (see `Priors.from_file`).
        evidence_weight: of guiding the attention of labelled pairs to their evidence sentences.
        entity_recognition_weight: of entity recognition beside relation extraction, for texts without markers.
        teacher: the folder of a trained model whose scores of the documents are learnt beside the labels.
    """

    name: Annotated[str, _known("loss", LOSSES)]
    options: dict[str, Any] = {}
    prior_multiplier: Positive | None = None
    prior_file: Path | None = None
    evidence_weight: NotNegative = 0.0
    entity_recognition_weight: NotNegative = 0.0
    teacher: Path | None = None

    @field_validator("options")
    @classmethod
    def _fill_options(cls, options: dict[str, Any], others: ValidationInfo) -> dict[str, Any]:
        return _fill_options(LOSSES.get(others.data.get("name", "")), options)

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = (self.prior_multiplier, self.prior_file).count(None)
        if given == 0 or (given == 2 and get_loss(self.name).needs_priors):
            problem = "give only one of them" if given == 0 else f"the loss {self.name!r} needs one of them"
            raise ValueError(f"prior_multiplier, prior_file: {problem}")
        return self


class ScheduleConfig(_Group):
    """How learning rates change after the warm-up; a cosine makes `num_cycles` cycles, of which a half ends at 0."""

    name: Literal["linear", "cosine", "constant"] = "linear"
    num_cycles: Positive | None = None

    @model_serializer
    def _dump(self) -> str | dict[str, Any]:
        return self.name if self.num_cycles is None else {"name": self.name, "num_cycles": self.num_cycles}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.num_cycles is not None and self.name != "cosine":
            raise ValueError(f"num_cycles: the schedule {self.name!r} has no cycles; leave it out")
        return self


class GroupConfig(_Group):
    """What differs for a group of parameters."""

    learning_rate: NotNegative | None = None
    weight_decay: NotNegative | None = None


class OptimizerConfig(_Group):
    """How a model is trained, whatever it is trained on; the defaults are the paper's for BERT-base.

    Attributes:
        epochs: passes over the documents.
        batch_size: documents in a batch.
        group_by_length: put documents of like length into a batch, which saves padding; false mixes them, as
            the authors' program does.
        unlabelled_rate: the share of unlabelled pairs that is scored in each document, weighted so that all
            means keep their expectation.
        unlabelled_per_labelled: score so many unlabelled pairs for each labelled one, at least 20 in a
            document, without weights; for losses without priors.
        gradient_accumulation: batches whose gradients are averaged for one step.
        encoder_learning_rate: the highest learning rate of the encoder.
        head_learning_rate: the highest learning rate of all other layers.
        groups: other values for groups of parameters: `encoder`, and `pair_map`, the layers over the
            entity-by-entity map of docunet and kd-docre.
        warmup: the share of steps in which the learning rates rise linearly from 0.
        schedule: what they do then: `linear` to 0, `cosine`, or `constant`.
        adam_epsilon: of AdamW.
        weight_decay: of AdamW.
        max_grad_norm: the largest norm of a gradient.
        precision: `auto` is bf16 on a GPU or a CPU that computes in it (on a CPU for encoders of 256 or wider),
            else float32, and lets a GPU round products to TF32; `float32` is exact; `fp16` needs a GPU.
        checkpoint_steps: steps between checkpoints; by default there is one after every epoch.

    Example:
        >>> OptimizerConfig(epochs=8, encoder_learning_rate=1e-4).batch_size
        4
    """

    epochs: Count = 30
    batch_size: Count = 4
    group_by_length: bool = True
    unlabelled_rate: Annotated[Positive, Field(le=1)] = 1.0
    unlabelled_per_labelled: Positive | None = None
    gradient_accumulation: Count = 1
    encoder_learning_rate: NotNegative = 5e-5
    head_learning_rate: NotNegative = 1e-4
    groups: dict[Literal["encoder", "pair_map"], GroupConfig] = {}
    warmup: Share = 0.06
    schedule: Annotated[ScheduleConfig, NAMED] = ScheduleConfig()
    adam_epsilon: Positive = 1e-6
    weight_decay: NotNegative = 0.0
    max_grad_norm: Positive = 1.0
    precision: Precision = "auto"
    checkpoint_steps: Count | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.unlabelled_per_labelled is not None and self.unlabelled_rate < 1:
            raise ValueError("unlabelled_per_labelled, unlabelled_rate: give only one of them")
        return self


class CalibrationConfig(_Group):
    """What is fitted after training.

    Attributes:
        folds: folds of cross-validation, from whose out-of-fold scores probabilities are calibrated, with the
            decision threshold that maximises expected F1; without it nothing is calibrated.
        tune_thresholds: decide each relation by the threshold with the best F1 on `dev`; for losses that decide
            at 0, and not beside `folds`.
    """

    folds: Annotated[int, Field(ge=2), NOT_BOOL] | None = None
    tune_thresholds: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.folds is not None and self.tune_thresholds:
            raise ValueError(
                "folds, tune_thresholds: both choose the decision threshold; give only one of them"
            )
        return self


class TrainingConfig(_Group):
    """Everything about a run: documents, model, loss, optimizer and calibration.

    Attributes:
        train: the training documents; for PubTator also its relation files.
        dev: documents that the model is scored on after every epoch; they choose nothing, unless
            `calibration.tune_thresholds` says so.
        test: documents with all their facts that the trained model is scored on: files, or files by the name
            of a set.
        output: the folder that the run is written to.
        seed: decides the first weights of new layers, the order of the documents, dropout and samples.
        data, model, loss, optimizer, calibration: see there.

    Example:
        >>> config = TrainingConfig(train="train.json", model={"encoder": "bert-base-cased"},
        ...     loss={"name": "ssr-pu", "options": {"margin": 0.5}, "prior_multiplier": 3}, output="runs/own")
        >>> config.optimizer.epochs, config.get("margin"), config.loss.options["correction"]
        (30, 0.5, 'flip')
    """

    train: Files
    dev: Files | None = None
    test: Annotated[
        dict[str, Files],
        BeforeValidator(lambda value: value if isinstance(value, Mapping) else {"test": value}),
    ] = {}
    output: Path
    seed: Annotated[int, Field(ge=0, lt=2**32), NOT_BOOL] = 62
    data: DataConfig = DataConfig()
    model: ModelConfig = Field(default_factory=dict)  # type: ignore[assignment]
    loss: Annotated[LossConfig, NAMED]
    optimizer: OptimizerConfig = OptimizerConfig()
    calibration: CalibrationConfig = CalibrationConfig()

    @model_validator(mode="after")
    def _check(self) -> Self:
        values = self.flatten()
        for key, value in values.items():
            if value and (reason := _reason_unused(key, values)):
                raise ValueError(f"{key}: {reason}")
        if self.calibration.tune_thresholds and self.dev is None:
            raise ValueError("calibration.tune_thresholds: needs dev, documents to tune them on")
        return self

    @classmethod
    def from_keys(cls, values: Mapping[str, object]) -> "TrainingConfig":
        """The configuration of values by dotted or unique bare key.

        Example:
            >>> given = {"train": "own.jsonl", "encoder": "minilm", "loss": "atlop", "epochs": 3, "output": "runs/own"}
            >>> TrainingConfig.from_keys(given).optimizer.epochs
            3
        """
        return _validate(nest_changes(values), "configuration", values)

    def get(self, key: str) -> Any:  # noqa: ANN401
        """The value of a key: `optimizer.epochs`, or `epochs`, since no other group has it."""
        value: Any = self
        for part in expand_key(key).split("."):
            value = value.get(part) if isinstance(value, Mapping) else getattr(value, part)
        return value

    def with_changes(self, changes: Mapping[str, object]) -> "TrainingConfig":
        """Another configuration, with values by key as for `load_config`."""
        return _validate(merge_values(self.to_dict(), nest_changes(changes)), str(self.output), changes)

    def to_dict(self) -> dict[str, Any]:
        """The configuration as JSON or YAML can hold it; keys without a value are left out."""
        return _prune(self.model_dump(mode="json"))

    def flatten(self) -> dict[str, Any]:
        """The values by dotted key."""
        return flatten(self.to_dict())

    def to_yaml(self) -> str:
        """The text of a file that `load_config` reads."""
        text: str = yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True)
        return text

    def save(self, path: Path) -> None:
        """Write a file that `load_config` reads."""
        with open_output(path) as stream:
            stream.write(self.to_yaml())


GROUPS: Mapping[str, type[_Group]] = {
    "data": DataConfig, "model": ModelConfig, "loss": LossConfig, "optimizer": OptimizerConfig,
    "calibration": CalibrationConfig,
}  # fmt: skip


def load_config(
    config: str | Path,
    changes: Mapping[str, object] | None = None,
    *,
    log: Callable[[str], None] = lambda line: None,
) -> TrainingConfig:
    """The configuration of a config file, with changes.

    A value of the file that the chosen loss or architecture does not use is left out with a note; among the
    changes it is an error.

    Args:
        config: the name of a config of the package (`config_names`), or a file (see `read_config`).
        changes: values by key, `optimizer.epochs` or `epochs`, which win over the file; None takes one away.
        log: is given notes for the user.

    Raises:
        ConfigError: names the file and the keys.

    Example:
        >>> load_config("small", {"train": "own.jsonl", "epochs": 2}).optimizer.epochs
        2
    """
    changes = dict(changes or {})
    nested, found = nest_changes(changes), read_config(config)
    loss, train = nested.get("loss", {}).get("name"), nested.get("train")
    if found.losses and isinstance(loss, str):
        found = found.with_loss(loss)
    values = merge_values(found.values, nested)
    changed, own = flatten(nested), {} if found.packaged else flatten(found.values)
    for key, value in flatten(found.values).items():
        reason = _reason_unused(key, flatten(values))
        if changed.get(other := ALTERNATIVES.get(key, "")) is not None:
            reason = f"{other} is given"
        # What means nothing in a user's own file, whatever is changed, is an error of that file.
        if reason and value is not None and key not in changed and not (own and _reason_unused(key, own)):
            log(f"note: {found.source}: {key} {short_repr(value)} is left out: {reason}")
            values = merge_values(values, _nest(key, None))
    if values.get("output") is None:
        name = found.source if found.packaged else Path(found.source).stem
        first = train[0] if isinstance(train, list | tuple) and train else train
        if isinstance(first, str | Path) and Path(first).name:
            name += f"-{Path(first).name.partition('.')[0]}"
        values["output"] = f"runs/{name}"
    return _validate(values, found.source, changes)


def parse_changes(texts: Sequence[str]) -> dict[str, object]:
    """Changes from `key=value` texts, each value in YAML.

    Example:
        >>> parse_changes(["epochs=8", "loss.prior_multiplier=2", "train=[a.json, b.json]"])
        {'epochs': 8, 'loss.prior_multiplier': 2, 'train': ['a.json', 'b.json']}
    """
    changes: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {text}: write key=value", keys=(text,))
        try:
            changes[key.strip()] = parse_yaml(value)
        except YamlError as error:
            raise ConfigError(f"--set {key.strip()}: {error}", keys=(key.strip(),)) from None
    return changes


def nest_changes(changes: Mapping[str, object]) -> dict[str, Any]:
    """Values by dotted or unique bare key as nested values.

    Example:
        >>> nest_changes({"epochs": 3, "loss": "ssr-pu", "margin": 0.5})
        {'optimizer': {'epochs': 3}, 'loss': {'name': 'ssr-pu', 'options': {'margin': 0.5}}}
    """
    nested: dict[str, Any] = {}
    for key, value in changes.items():
        nested = merge_values(nested, _nest(expand_key(key), value))
    return nested


def _nest(key: str, value: object) -> dict[str, Any]:
    first, _, rest = key.partition(".")
    return {first: _nest(rest, value) if rest else value}


def expand_key(key: str) -> str:
    """The dotted name of a key that may be bare; refuses what no group, loss or architecture has.

    Example:
        >>> expand_key("epochs"), expand_key("seed"), expand_key("margin")
        ('optimizer.epochs', 'seed', 'loss.options.margin')
    """
    names = set(_dotted_names())
    if key in names or key in GROUPS or key.rpartition(".")[0] in ("model.options", "loss.options"):
        return key
    found = sorted(name for name in names if name.rpartition(".")[2] == key)
    found = [name for name in found if name.count(".") == min(each.count(".") for each in found)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigError(f"{key}: write which of them: {', '.join(found)}", keys=(key,))
    hint = nearest(key, {*names, *(name.rpartition(".")[2] for name in names)})
    raise ConfigError(f"unknown key {short_repr(key)}{hint}", keys=(key,))


def is_used(key: str, loss: str, architecture: str) -> bool:
    """Whether a key means something to a loss and an architecture.

    Example:
        >>> is_used("margin", "ssr-pu", "atlop"), is_used("margin", "s-pu", "atlop"), is_used("epochs", "pn", "gain")
        (True, False, True)
    """
    return _reason_unused(expand_key(key), {"loss.name": loss, "model.architecture": architecture}) is None


def _reason_unused(key: str, values: Mapping[str, Any]) -> str | None:
    """Why a key means nothing beside values, by dotted key; None if it means something."""
    loss_name, architecture_name = values.get("loss.name"), values.get("model.architecture") or "atlop"
    loss, architecture = LOSSES.get(str(loss_name)), ARCHITECTURES.get(str(architecture_name))
    encoder = values.get("model.encoder")
    group, _, name = key.rpartition(".")
    match group, name:
        case "model.encoder_options", _ if encoder is not None and encoder not in ENCODER_KINDS:
            kinds = ", ".join(ENCODER_KINDS)
            return f"the encoder {short_repr(str(encoder))} has a tokenizer of its own; it is for {kinds}"
        case "model.options", _ if architecture is not None and name not in architecture.options.model_fields:
            return f"the architecture {architecture_name!r} does not use it"
        case "model", "lexical_weight" if loss is not None and loss_name != LEXICAL_LOSS:
            return f"it needs the loss {LEXICAL_LOSS!r}, whose logits are log odds as the lexical model's"
        case "loss.options", _ if loss is not None and name not in loss.options.model_fields:
            return f"the loss {loss_name!r} does not use it"
        case "loss", "prior_multiplier" | "prior_file" if loss is not None and not loss.needs_priors:
            return f"the loss {loss_name!r} has no priors"
        case "optimizer", "unlabelled_per_labelled" if loss is not None and loss.needs_priors:
            return f"the priors of the loss {loss_name!r} are those of all pairs; take unlabelled_rate"
    return None


def _dotted_names() -> Iterator[str]:
    """Every key that there is, with those of all losses and architectures."""
    yield from (key for key in TrainingConfig.model_fields if key not in GROUPS)
    parts: list[tuple[str, type[BaseModel]]] = [
        *GROUPS.items(),
        *(("loss.options", loss.options) for loss in LOSSES.values()),
        *(("model.options", architecture.options) for architecture in ARCHITECTURES.values()),
        ("model.encoder_options", EncoderOptions),
        *((f"optimizer.groups.{group}", GroupConfig) for group in ("encoder", "pair_map")),
        ("optimizer.schedule", ScheduleConfig),
    ]
    for group, fields in parts:
        yield from (f"{group}.{key}" for key in fields.model_fields)


def _fill_options(part: Any, options: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """All options of a loss or an architecture with their values, as JSON can hold them."""
    if part is None:  # its name is an error of its own
        return dict(options)
    return part.options.checked(options).model_dump(mode="json", exclude_none=True)  # type: ignore[no-any-return]


def _validate(values: Mapping[str, Any], source: str, changes: Mapping[str, object]) -> TrainingConfig:
    try:
        return TrainingConfig.model_validate(_prune(values))
    except ValidationError as error:
        details = error.errors()
        changed = {expand_key(each) for each in changes}
        keys, problems = [], []
        for detail in details[:MAX_PROBLEMS]:
            key, problem = _describe(dict(detail))
            is_change = any(key.startswith(each) or each.startswith(key or "?") for each in changed)
            keys.append(key)
            problems.append(shorten(problem if is_change else f"{source}: {problem}"))
        if len(details) > MAX_PROBLEMS:
            problems.append(f"and {len(details) - MAX_PROBLEMS:,} more")
        raise ConfigError("; ".join(problems), keys=tuple(keys)) from None


def _describe(detail: Mapping[str, Any]) -> tuple[str, str]:
    """The dotted key that a validation error is about, and what is wrong."""
    place = [str(part) for part in detail["loc"]]
    key, message = ".".join(place), str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        siblings = (GROUPS.get(place[0], TrainingConfig) if len(place) > 1 else TrainingConfig).model_fields
        elsewhere = [name for name in _dotted_names() if name.rpartition(".")[2] == place[-1]]
        hint = f": it is {elsewhere[0]}" if len(elsewhere) == 1 else nearest(place[-1], siblings)
        return key, f"unknown key {short_repr(key)}{hint}"
    if detail["type"] == "missing":
        return key, f"{key}: missing"
    if detail["type"] != "value_error":
        return (key, f"{key}: {short_repr(detail['input'])} is refused: {message[:1].lower()}{message[1:]}")
    if key not in ("", *GROUPS, "optimizer.schedule"):
        return key, f"{key}: {message}"
    # A check of a whole group names its keys.
    names, _, reason = message.partition(": ")
    within = [f"{key}.{name}" if key else name for name in names.split(", ")]
    return within[0], f"{', '.join(within)}: {reason}"


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values by dotted key.

    Example:
        >>> flatten({"seed": 3, "optimizer": {"epochs": 2}})
        {'seed': 3, 'optimizer.epochs': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": each for name, each in flatten(value).items()}
        else:
            flat[key] = value
    return flat


def _prune(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without nulls, and without mappings that hold nothing."""
    found = {key: _prune(value) if isinstance(value, Mapping) else value for key, value in values.items()}
    return {key: value for key, value in found.items() if value is not None and value != {}}
