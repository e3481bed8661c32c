"""The folder of a saved model: what is checked before anything is built of it."""

from collections.abc import Mapping
from inspect import get_annotations
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError, create_model
from transformers import PreTrainedConfig

from unnoted.io import check_checksums, read_json, write_checksums
from unnoted.models.encoders.loading import (
    FLOAT_TYPES,
    INDEX,
    WEIGHTS,
    StoredTensor,
    check_counts,
    read_shapes,
)
from unnoted.utils import short_repr

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


class ModelError(ValueError):
    """A saved model that cannot be used."""


def check_folder(folder: Path, config_class: type[PreTrainedConfig]) -> Mapping[str, StoredTensor]:
    """Refuse a folder whose files are not those that were saved, or have not the form of a model's.

    Returns:
        The shapes and types of the weights, by name.

    Raises:
        ModelError: it is no saved model, or not the one that was saved; names the file.
    """
    if checksums := check_checksums(folder, ModelError):
        for name in READ_BY_TRANSFORMERS:
            if name not in checksums and (folder / name).exists():
                raise ModelError(f"{folder / name}: this file was not saved with the model; remove it")
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
    return tensors


def write_model_checksums(folder: Path, tokenizer_files: tuple[str, ...]) -> None:
    """Write the checksums of the files that a model was just saved to."""
    weights = [path.name for path in folder.glob("model*.safetensors*")]
    write_checksums(folder, [CONFIG, *weights, *(Path(name).name for name in tokenizer_files)])


def _check_config(
    content: Mapping[str, Any], path: Path, config_class: type[PreTrainedConfig], tensors: int
) -> None:
    for name in CODE_SWITCHES:
        if content.get(name) is not None:
            raise ModelError(f"{path}: {name}: {short_repr(content[name])} is not allowed in a saved model")
    fields: dict[str, Any] = {
        name: (annotation, getattr(config_class, name, None))
        for name, annotation in get_annotations(config_class).items()
    }
    schema = create_model("SavedConfig", __config__=ConfigDict(strict=True, extra="allow"), **fields)
    try:
        schema.model_validate(content)
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
