"""What a training is told: one typed model, from a config and what the user changes in it."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml  # type: ignore[import-untyped]
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from unnoted.configs import Config, read_config
from unnoted.data.candidates import LABELLED, CandidatePairs
from unnoted.evaluation.evaluator import BENCHMARKS
from unnoted.io import YamlError, open_output, parse_yaml
from unnoted.losses import LOSSES, Loss, get_loss
from unnoted.models.architectures import ARCHITECTURES, Architecture
from unnoted.models.encoders import ENCODER_KINDS
from unnoted.models.encoders.from_scratch import SUBWORDS, WORDS
from unnoted.training.optimisation import (
    Count,
    NotNegative,
    Optimisation,
    Positive,
    no_truth_value,
)
from unnoted.utils import Options, lookup, nearest, short_repr, shorten

__all__ = [
    "Optimisation",
    "Settings",
    "SettingsError",
    "load_settings",
    "parse_changes",
]

MOST_PROBLEMS = 20
"""How many things that are wrong with settings are named at once."""

PRIORS = ("prior_multiplier", "prior_file")
"""Settings of losses that need priors; one of them is given."""

LIKELIHOOD = "label-likelihood"
"""The loss whose scores are log odds, which `lexical_weight` adds to."""

WITHOUT_PRIORS = ("unlabelled_per_labelled",)
"""Settings of losses without priors: see `check_sample`."""

GO_WITH = {
    "loss": "lexical_weight",
    "schedule": "cosine_periods",
    "unlabelled_share": "unlabelled_per_labelled",
    "tokenizer": "subword_vocabulary",
}
"""Settings of a config that lose their meaning when a user changes these."""


class SettingsError(ValueError):
    """Settings that cannot be used: names the file and the key, what was found and what was expected."""


def _several(value: object) -> object:
    return [value] if isinstance(value, str | Path) else value


def _by_set(value: object) -> object:
    return value if isinstance(value, Mapping) else {"test": value}


Files: TypeAlias = Annotated[tuple[Path, ...], Field(min_length=1), BeforeValidator(_several)]


class Settings(Optimisation):
    """Everything about a training: the data, the encoder, the loss, and how it is optimised.

    A setting that the loss itself declares, such as `margin`, or the architecture, stands beside the others
    in a file and in `Settings(...)`, and is found in `loss_options` or `architecture_options`.

    Attributes:
        train: the training documents; for PubTator also its relation files.
        dev: development documents that the model is scored on after every epoch; they choose nothing but,
            where `tuned_thresholds` says so, thresholds after the last step.
        tuned_thresholds: decide each relation by the threshold with the best F1 on `dev`; for losses that
            decide at 0.
        teacher: the folder of a trained model from whose scores of `train` the model learns, beside the labels.
        init_from: the folder of a trained model to start from, in place of a new one over `encoder`.
        vocabulary: a file of the relations and their order; by default those that occur.
        candidates: "all", or pairs of types such as "Chemical:Disease,Chemical:Gene"; "intra-sentence" may
            follow either. Or "labelled": the type pairs that have labels, if these hold nearly all facts.
        encoder: a folder, a name on the hub, or one of `ENCODER_KINDS`, which is then made on the spot.
        vectors: word vectors in GloVe's text format, for an encoder that is made.
        tokenizer: of an encoder that is made: `words`, `subwords` learnt from `train`, or a folder or a name
            on the hub that has one; `words` by default.
        subword_vocabulary: how many subwords are learnt, if they are.
        encoder_layers: keep only this many of the encoder's first layers.
        architecture: what represents and scores pairs, one of `ARCHITECTURES`.
        architecture_options: the settings that this architecture declares, as `loss_options`.
        embedding: the size of the embeddings of head and tail.
        block: the size of a block of the grouped bilinear; divides `embedding`.
        fast_dropout: whether dropout on a CPU takes the fast way, which rounds its rate to 1/256.
        markers: whether `*` stands before and after every mention in the text that the encoder sees.
        typed_markers: whether the word for its type opens a mention, in place of `*`.
        typed_relations: whether the model learns which types each relation connects, and predicts no others.
        start: `types` gives relations a bias for the types of head and tail and begins it at what the labels
            say of such pairs (see `start.py`); `random` begins as published.
        lexical_weight: the weight of the lexical model in the ensemble with the network, from 0 to 1. The
            loss must be `label-likelihood`.
        loss: one of `unnoted.losses.LOSSES`.
        loss_options: the settings that this loss declares, by name; those not given have their defaults.
        prior_multiplier: the overall prior as a multiple of the labelled one, for losses with priors.
        prior_file: a file of priors instead (see `Priors.from_file`).
        rules: a file of rules that always hold (see `rules/rules.py`): labels are closed under them, and they
            propagate probabilities at prediction.
            Labels are closed under them, and the trained model's scores keep to them.
        calibrated: calibrate probabilities by cross-fitting, and decide where the expected F1 is best.
        folds: how many folds the documents are cut into for cross-fitting.
        test: documents with all their facts that the trained model is scored on: files, or files by the name
            of the set (`test`, `dev`).
        benchmark: how the scores are reported, one of `unnoted.evaluation.BENCHMARKS`.
        output: the folder that the run is written to.

    Example:
        >>> settings = Settings(train="train.json", encoder="bert-base-cased", loss="ssr-pu", margin=0.5,
        ...                     prior_multiplier=3, output="runs/own")
        >>> settings.loss_options["margin"], settings.loss_options["correction"]
        (0.5, 'flip')
    """

    train: Files
    dev: Annotated[tuple[Path, ...] | None, BeforeValidator(_several)] = None
    tuned_thresholds: bool = False
    teacher: Path | None = None
    init_from: Path | None = None
    vocabulary: Path | None = None
    candidates: str | None = None
    encoder: str
    vectors: Path | None = None
    tokenizer: str | None = None
    subword_vocabulary: Count | None = None
    encoder_layers: Count | None = None
    architecture: str = "atlop"
    architecture_options: dict[str, Any] = Field(default_factory=dict)
    embedding: Count = 768
    block: Count = 64
    fast_dropout: bool = True
    markers: bool = True
    typed_markers: bool = False
    typed_relations: bool = False
    start: Literal["random", "types"] = "random"
    lexical_weight: Annotated[NotNegative, Field(le=1)] = 0.0
    loss: str
    loss_options: dict[str, Any] = Field(default_factory=dict)
    prior_multiplier: Positive | None = None
    prior_file: Path | None = None
    rules: Path | None = None
    calibrated: bool = False
    folds: Annotated[int, Field(ge=2), BeforeValidator(no_truth_value)] = 2
    test: Annotated[dict[str, Files], BeforeValidator(_by_set)] = Field(default_factory=dict)
    benchmark: str = "plain"
    output: Path

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, values: Any) -> Any:  # noqa: ANN401
        """Put the settings that the loss and the architecture declare into mappings of their own.

        Refuses those of other losses and architectures.
        """
        if not isinstance(values, Mapping):
            return values
        every = option_keys()
        if values.get("loss") is None:  # an error of its own
            return {key: value for key, value in values.items() if key not in every}
        loss = get_loss(values["loss"])
        architecture = values.get("architecture", cls.model_fields["architecture"].default)
        for key, who in unused_by(loss, architecture).items():
            if values.get(key) is not None:
                raise ValueError(
                    f"{key}: found {short_repr(values[key])}, expected none: {who} does not use it"
                )
        others = {key: value for key, value in values.items() if key not in every}
        parts: dict[str, tuple[str, type[Options]]] = {"loss_options": (f"loss {loss.name!r}", loss.options)}
        if isinstance(architecture, str) and architecture in ARCHITECTURES:  # or else an error of its own
            declared = ARCHITECTURES[architecture].options
            parts["architecture_options"] = f"architecture {architecture!r}", declared
        for gathered, (who, options) in parts.items():
            own = options.model_fields.keys()
            if clash := own & cls.model_fields.keys():
                raise ValueError(f"{who}: found the option {min(clash)!r}, which is a setting")
            given = {key: values[key] for key in own if values.get(key) is not None}
            others[gathered] = {**(values.get(gathered) or {}), **given}
        return others

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        """Refuse what contradicts itself, and fill in what the loss leaves open."""
        loss = get_loss(self.loss)
        architecture = lookup("architecture", self.architecture, ARCHITECTURES)
        lookup("benchmark", self.benchmark, BENCHMARKS)
        if self.typed_markers and not self.markers:
            raise ValueError("typed_markers: found true without markers, expected markers")
        if self.lexical_weight and self.loss != LIKELIHOOD:
            raise ValueError(
                f"lexical_weight: found {short_repr(self.lexical_weight)} with the loss {self.loss!r}, expected 0, "
                f"or {LIKELIHOOD!r}: log odds are added to log odds"
            )
        self._check_made_encoder()
        if self.embedding % self.block:
            raise ValueError(f"block: found {self.block}, expected a divisor of embedding {self.embedding}")
        if self.candidates not in (None, LABELLED):
            _check_candidates(self.candidates)
        if self.tuned_thresholds and self.calibrated:
            raise ValueError(
                "tuned_thresholds: a calibrated model has its own decision threshold; set one to false"
            )
        if self.tuned_thresholds and self.dev is None:
            raise ValueError("tuned_thresholds: found true without dev, expected documents to tune them on")
        given = [key for key in PRIORS if getattr(self, key) is not None]
        if loss.needs_priors and len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"{', '.join(PRIORS)}: found {found}, expected one of them")
        for gathered, options in (
            ("loss_options", loss.options),
            ("architecture_options", architecture.options),
        ):
            chosen = options.checked(getattr(self, gathered))
            values = chosen.model_dump(mode="json", exclude_none=True)
            object.__setattr__(self, gathered, values)
        return self

    def _check_made_encoder(self) -> None:
        """What is said of an encoder that is made must be of use to it."""
        for key in ("vectors", "tokenizer"):
            if getattr(self, key) is not None and self.encoder not in ENCODER_KINDS:
                kinds = ", ".join(ENCODER_KINDS)
                raise ValueError(
                    f"{key}: found {short_repr(str(getattr(self, key)))}, expected none: the encoder "
                    f"{short_repr(self.encoder)} has its own (encoders that are made: {kinds})"
                )
        if self.subword_vocabulary is not None and self.tokenizer != SUBWORDS:
            raise ValueError(
                f"subword_vocabulary: found {self.subword_vocabulary}, expected none: the tokenizer is "
                f"{short_repr(self.tokenizer or WORDS)}, not {SUBWORDS!r}"
            )

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON or YAML can hold them, those of loss and architecture beside the others.

        Keys without a value are left out.
        """
        values = self.model_dump(mode="json", exclude_none=True)
        values |= values.pop("loss_options") | values.pop("architecture_options")
        return values

    def to_yaml(self) -> str:
        """The settings as a file that `load_settings` reads."""
        text: str = yaml.safe_dump(self.to_json(), sort_keys=False, allow_unicode=True)
        return text

    def save(self, path: Path) -> None:
        """Write them as a file that `load_settings` reads."""
        with open_output(path) as stream:
            stream.write(self.to_yaml())


def option_keys() -> set[str]:
    """Every setting that some loss or some architecture declares."""
    parts: tuple[type[Loss] | Architecture, ...] = (*LOSSES.values(), *ARCHITECTURES.values())
    return {key for part in parts for key in part.options.model_fields}


def unused_by(loss: type[Loss], architecture: str = "atlop") -> dict[str, str]:
    """Settings that mean something to another loss or architecture, but nothing to these, and to which.

    Example:
        >>> unused_by(get_loss("s-pu"))["margin"], "margin" in unused_by(get_loss("ssr-pu"))
        ("the loss 's-pu'", False)
    """
    losses = {key for other in LOSSES.values() for key in other.options.model_fields}
    losses |= set(WITHOUT_PRIORS if loss.needs_priors else PRIORS)
    unused = dict.fromkeys(losses - loss.options.model_fields.keys(), f"the loss {loss.name!r}")
    if isinstance(architecture, str) and architecture in ARCHITECTURES:
        others = {key for other in ARCHITECTURES.values() for key in other.options.model_fields}
        own = ARCHITECTURES[architecture].options.model_fields.keys()
        unused |= dict.fromkeys(others - own, f"the architecture {architecture!r}")
    return unused


def load_settings(
    config: str | Path,
    changes: Mapping[str, object] | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> Settings:
    """The settings of a config, with changes.

    A setting of the config that the chosen loss or architecture does not use is left out with a note; among
    the changes it is an error.

    Args:
        config: the name of a config of the package (`config_names`), or a file (see `read_config`).
        changes: settings by key, which win over the config; None takes a key away.
        tell: is given notes for the user.

    Raises:
        SettingsError: in one line, with the file and the key.

    Example:
        >>> load_settings("small", {"train": "own.jsonl", "epochs": 2}).epochs
        2
    """
    changes = dict(changes or {})
    loss = changes.get("loss")
    try:
        found = read_config(config)
        chosen = found.with_loss(loss) if found.losses and isinstance(loss, str) else found
        values = _used(chosen, changes, tell)
    except ValueError as error:
        raise SettingsError(str(error)) from None
    values |= {} if chosen.output is None or "output" in values else {"output": chosen.output}
    try:
        return Settings.model_validate(values | changes)
    except ValidationError as error:
        problems = [_problem(dict(detail), chosen.source, changes) for detail in error.errors()]
        rest = f"; and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else ""
        raise SettingsError("; ".join(map(shorten, problems[:MOST_PROBLEMS])) + rest) from None


def _check_candidates(text: str) -> None:
    try:
        CandidatePairs.parse(text)
    except ValueError as error:
        raise ValueError(f"candidates: {str(error).removeprefix('candidate pairs ')}") from None


def parse_changes(texts: Sequence[str]) -> dict[str, object]:
    """Changes from `key=value` texts, each value in YAML.

    Raises:
        SettingsError: names the text that is none.

    Example:
        >>> parse_changes(["epochs=8", "train=[a.json, b.json]"])
        {'epochs': 8, 'train': ['a.json', 'b.json']}
    """
    return dict(_change(text) for text in texts)


def _change(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SettingsError(f"--set {text}: found no key=value")
    try:
        return key.strip(), parse_yaml(value)
    except YamlError as error:
        raise SettingsError(
            f"--set {key.strip()}: found {short_repr(value)}, expected a YAML value ({error})"
        ) from None


def _used(config: Config, changes: Mapping[str, object], tell: Callable[[str], None]) -> dict[str, Any]:
    """What a config says, without the settings that the chosen loss or architecture does not use."""
    chosen = {**config.values, **changes}
    name, architecture = chosen.get("loss"), str(chosen.get("architecture", "atlop"))
    unused = unused_by(LOSSES[name], architecture) if isinstance(name, str) and name in LOSSES else {}
    for key in sorted(unused.keys() & config.values.keys() - changes.keys()):
        if config.values[key] is not None:
            found = short_repr(config.values[key])
            tell(f"note: {config.source}: {key} {found} is left out: {unused[key]} does not use it")
    changed = {key for key, value in changes.items() if value != config.values.get(key)}
    gone = {key for other, key in GO_WITH.items() if other in changed and key not in changes}
    for key in sorted(gone & config.values.keys() - unused.keys()):
        found = short_repr(config.values[key])
        tell(f"note: {config.source}: {key} {found} is left out: it went with what was changed")
    return {key: value for key, value in config.values.items() if key not in gone | unused.keys()}


def _problem(detail: Mapping[str, Any], source: str, changes: Mapping[str, object]) -> str:
    """One line on what is wrong; it begins with the config, unless a change is at fault."""
    place = [str(part) for part in detail["loc"] if not str(part).startswith(("function-", "tuple"))]
    key = ".".join(place)
    message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    named = place[:1] or re.findall(r"\w+", message.partition(":")[0])
    begin = "" if changes.keys() & set(named) else f"{source}: "
    if detail["type"] == "extra_forbidden":
        return f"{begin}unknown key {short_repr(key)}{nearest(key, _keys())}"
    if detail["type"] == "missing":
        return f"{begin}{place[0]}: found nothing, expected a value"
    if not place:
        return f"{begin}{message}"
    return f"{begin}{key}: found {short_repr(detail['input'])}, expected {message[:1].lower()}{message[1:]}"


def _keys() -> set[str]:
    """The valid keys."""
    return set(Settings.model_fields) - {"loss_options", "architecture_options"} | option_keys()
