"""The folder of a saved model: what is checked before anything is built of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from inspect import get_annotations
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.models.encoders.loading import (
    FLOAT_TYPES,
    INDEX,
    WEIGHTS,
    StoredTensor,
    check_counts,
    check_vocabulary,
    read_shapes,
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
"""The files that a tokenizer may be read from; the first two hold all of one that is saved today."""

READ_BY_TRANSFORMERS = (*TOKENIZER_FILES, INDEX, "adapter_config.json", "generation_config.json")
"""Files that transformers reads wherever it finds them: in a folder with checksums, they must have some."""

CODE_SWITCHES = ("quantization_config", "attn_implementation", "_attn_implementation")
"""Configuration keys that make transformers look for other code than ours; saved models have none of them."""

MIN_WINDOW = 4
"""The smallest number of tokens that windows can be made of."""


class ModelError(ValueError):
    """A saved model that cannot be used."""


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A folder whose files are those that were saved, and have the form of a model.

    Attributes:
        folder: where it is.
        tensors: the shapes and types of the weights, by name.
        has_tokenizer: whether it has a tokenizer.
    """

    folder: Path
    tensors: Mapping[str, StoredTensor]
    has_tokenizer: bool

    @classmethod
    def open(cls, folder: Path, config_class: type[PreTrainedConfig]) -> "SavedModel":
        """Check a folder, without building anything.

        Args:
            folder: that of the model.
            config_class: `config.json` must have the types of its annotations.

        Raises:
            ModelError: it is no saved model, or not the one that was saved; names the file.
        """
        if checksums := check_checksums(folder, ModelError):
            _refuse_other_files(folder, checksums)
        path = folder / CONFIG
        if not path.exists():
            raise ModelError(f"{folder}: no config.json; expected a folder written by save_pretrained")
        content = read_json(path, ModelError)
        kind = content.get("model_type") if isinstance(content, dict) else None
        if kind != MODEL_TYPE:
            raise ModelError(
                f"{path}: a model of type {short_repr(kind)}, not {MODEL_TYPE!r}: RelationModel.from_encoder and "
                "training make a relation model of an encoder"
            )
        tensors = read_shapes(folder, ModelError)
        if not tensors:
            raise ModelError(f"{folder}: no model.safetensors beside config.json")
        _check_config(content, path, config_class, len(tensors))
        _check_dtypes(tensors, content, folder)
        for name in TOKENIZER_FILES:
            if (folder / name).exists() and name.endswith(".json"):
                read_json(folder / name, ModelError)
        return cls(folder, tensors, (folder / "tokenizer_config.json").exists())

    def check_shapes(self, expected: Mapping[str, tuple[int, ...]]) -> None:
        """Refuse weights of other shapes than the configuration describes.

        Raises:
            ModelError: names the first that differs.
        """
        for name, shape in expected.items():
            if name in self.tensors and self.tensors[name].shape != shape:
                raise ModelError(
                    f"{name} has shape {list(shape)} by the configuration, {list(self.tensors[name].shape)} in {WEIGHTS}"
                )

    def check_tokenizer(
        self, tokenizer: PreTrainedTokenizerBase, encoder: PreTrainedModel, markers: bool = True
    ) -> None:
        """Refuse a tokenizer that is not the encoder's.

        Raises:
            ModelError: it gives tokens that the encoder does not know, or lacks one that documents need.
        """
        with wrap_errors(self.folder, "no usable tokenizer", "the one that was saved", ModelError):
            check_vocabulary(tokenizer, encoder, self.folder, ModelError)
            DocumentTokenizer(tokenizer, markers)


def write_model_checksums(folder: Path, tokenizer_files: tuple[str, ...]) -> None:
    """Write the checksums of the files that a model was just saved to."""
    weights = [path.name for path in folder.glob("model*.safetensors*")]
    write_checksums(folder, [CONFIG, *weights, *(Path(name).name for name in tokenizer_files)])


def _refuse_other_files(folder: Path, checksums: Collection[str]) -> None:
    for name in READ_BY_TRANSFORMERS:
        if name not in checksums and (folder / name).exists():
            raise ModelError(f"{folder / name}: this file was not saved with the model; remove it")


def _config_schema(config_class: type[PreTrainedConfig]) -> type[BaseModel]:
    """The own annotations of a configuration class, as a strict pydantic model."""
    fields: dict[str, Any] = {
        name: (annotation, getattr(config_class, name, None))
        for name, annotation in get_annotations(config_class).items()
    }
    return create_model("SavedConfig", __config__=ConfigDict(strict=True, extra="allow"), **fields)


def _check_config(
    content: Mapping[str, Any], path: Path, config_class: type[PreTrainedConfig], tensors: int
) -> None:
    for name in CODE_SWITCHES:
        if content.get(name) is not None:
            raise ModelError(f"{path}: {name}: {short_repr(content[name])} is not allowed in a saved model")
    try:
        _config_schema(config_class).model_validate(content)
    except RecursionError:
        raise ModelError(f"{path}: values are nested too deeply") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ModelError(f"{path}: {place}: {short_repr(first['input'])}: {first['msg']}") from None
    check_counts(content.get("encoder_config") or {}, f"{path}: encoder_config", ModelError, tensors)


def _check_dtypes(tensors: Mapping[str, StoredTensor], content: Mapping[str, Any], folder: Path) -> None:
    expected = content.get("dtype") or content.get("torch_dtype")
    found = sorted({FLOAT_TYPES[tensor.dtype] for tensor in tensors.values() if tensor.dtype in FLOAT_TYPES})
    if not found or (expected is not None and expected not in found):
        raise ModelError(
            f"{folder / WEIGHTS}: weights in {', '.join(found) or 'no floating-point type'}, not in "
            f"{short_repr(expected or 'float32')} as {CONFIG} says"
        )
