"""The folder of a saved model: what is looked at before anything is built of it, and what is refused."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.models.encoders.stored_weights import (
    INDEX,
    REAL_TYPES,
    WEIGHTS,
    StoredWeights,
    check_counts,
    check_vocabulary,
    stored_weights,
)
from unnoted.models.tokenization import DocumentTokenizer
from unnoted.utils import short_repr, wrap_errors

MODEL_TYPE = "unnoted-relation"
CONFIG = "config.json"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)
"""What a tokenizer may be read from; the first two hold all of one that is saved today."""

READ_BESIDE = (*TOKENIZER_FILES, INDEX, "adapter_config.json", "generation_config.json")
"""Files that transformers reads wherever it finds them: in a folder with checksums, they must have some."""

SWITCHES = ("quantization_config", "attn_implementation", "_attn_implementation")
"""In a configuration, what makes transformers look for other code than ours; saved models have none of it."""

SMALLEST_WINDOW = 4
"""Tokens that an encoder must see at once for windows to be cut."""


class ModelError(ValueError):
    """A saved model that cannot be used; names the folder, what was found and what was expected."""


class SavedConfig(BaseModel):
    """The types of what `RelationConfig` holds, as they are in JSON."""

    model_config = ConfigDict(strict=True, extra="allow")

    encoder_config: dict[str, Any]
    relations: list[str]
    relation_names: dict[str, str] | None = None
    relation_descriptions: dict[str, str] | None = None
    entity_types: list[str] | None = None
    architecture: str = "atlop"
    architecture_options: dict[str, Any] | None = None
    embedding: int = Field(default=1, gt=0)
    block: int = Field(default=1, gt=0)
    window: int | None = Field(default=None, ge=SMALLEST_WINDOW)
    fast_dropout: bool = True
    markers: bool = True
    type_tokens: list[int] | None = None
    type_bias: bool = False
    lexical_weight: float = Field(default=0.0, ge=0, le=1)
    relation_types: dict[str, Any] | None = None
    undertrained: str | None = None
    evidence_threshold: float | None = Field(default=None, ge=0, le=1)
    score_decoder: dict[str, Any] | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A folder whose files are those that were saved, and have the form of a model.

    Attributes:
        folder: where it is.
        weights: their names, shapes and types.
        has_tokenizer: whether a tokenizer lies beside them.
    """

    folder: Path
    weights: StoredWeights
    has_tokenizer: bool

    @classmethod
    def open(cls, folder: Path) -> "SavedModel":
        """Look at a folder, without building anything.

        Raises:
            ModelError: if it is no saved model, or not the one that was saved; names the file.
        """
        if noted := check_checksums(folder, ModelError):
            _refuse_others(folder, noted)
        path = folder / CONFIG
        if not path.exists():
            raise ModelError(f"{folder}: found no config.json, expected a folder written by save_pretrained")
        content = read_json(path, ModelError)
        kind = content.get("model_type") if isinstance(content, dict) else None
        if kind != MODEL_TYPE:
            raise ModelError(
                f"{path}: found a model of type {short_repr(kind)}, expected {MODEL_TYPE!r} (an encoder becomes a "
                "relation model by RelationModel.from_encoder and training)"
            )
        _check_config(content, path)
        weights = stored_weights(folder, ModelError)
        if weights is None:
            raise ModelError(f"{folder}: found no model.safetensors, expected the weights beside config.json")
        _check_types(weights, content, folder)
        for name in TOKENIZER_FILES:
            if (folder / name).exists() and name.endswith(".json"):
                read_json(folder / name, ModelError)
        return cls(folder, weights, (folder / "tokenizer_config.json").exists())

    def check_shapes(self, expected: Mapping[str, tuple[int, ...]]) -> None:
        """Refuse weights that do not have the shapes which the configuration describes.

        Raises:
            ModelError: names the first that has another shape.
        """
        stored = self.weights.tensors
        for name, shape in expected.items():
            if name in stored and stored[name].shape != shape:
                raise ModelError(
                    f"found {list(shape)} as the shape of {name}, expected {list(stored[name].shape)} as in "
                    f"{WEIGHTS}"
                )

    def check_tokenizer(
        self, tokenizer: PreTrainedTokenizerBase, encoder: PreTrainedModel, markers: bool = True
    ) -> None:
        """Refuse a tokenizer that is not the encoder's.

        Args:
            tokenizer: that was found in the folder.
            encoder: that was found beside it.
            markers: whether it must have the marker.

        Raises:
            ModelError: if it gives tokens that the encoder does not know, or lacks one that documents need.
        """
        with wrap_errors(self.folder, "no usable tokenizer", "the one that was saved", ModelError):
            check_vocabulary(tokenizer, encoder, self.folder, ModelError)
            DocumentTokenizer(tokenizer, markers)


def note_checksums(folder: Path, tokenizer_files: tuple[str, ...]) -> None:
    """Note the checksums of the files that a model was just saved to."""
    weights = [path.name for path in folder.glob("model*.safetensors*")]
    write_checksums(folder, [CONFIG, *weights, *(Path(name).name for name in tokenizer_files)])


def _refuse_others(folder: Path, noted: Collection[str]) -> None:
    for name in READ_BESIDE:
        if name not in noted and (folder / name).exists():
            raise ModelError(
                f"{folder / name}: found a file that was not saved with the model, expected none by this name"
            )


def _check_config(content: Mapping[str, Any], path: Path) -> None:
    for name in SWITCHES:
        if content.get(name) is not None:
            raise ModelError(f"{path}: {name}: found {short_repr(content[name])}, expected no such key")
    # Earlier versions left the decoder out, and wrote null for what a model does not have.
    try:
        SavedConfig.model_validate(content)
    except (ValidationError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            raise ModelError(f"{path}: found values nested too deeply, expected a configuration") from None
        first = error.errors(include_url=False)[0]
        place, expected = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Input should be ")
        raise ModelError(
            f"{path}: {place}: found {short_repr(first['input'])}, expected {expected}"
        ) from None
    check_counts(content["encoder_config"], f"{path}: encoder_config", ModelError)


def _check_types(weights: StoredWeights, content: Mapping[str, Any], folder: Path) -> None:
    said = content.get("dtype") or content.get("torch_dtype")
    found = sorted(REAL_TYPES[name] for name in weights.real_types)
    if not found or (said is not None and said not in found):
        raise ModelError(
            f"{folder / WEIGHTS}: found weights in {', '.join(found) or 'no type of real numbers'}, expected "
            f"{said or 'float32'} as {CONFIG} says"
        )
