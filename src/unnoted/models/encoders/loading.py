"""Loading encoders: from a folder or the hub with their weights, or anew from a saved configuration.

Files from elsewhere are checked before anything is built: only safetensors are read, no code is fetched, and
sizes are bounded by the weights that are there.
"""

import inspect
import re
import sys
from collections.abc import Mapping
from math import prod
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers import PreTrainedTokenizerBase as Tokenizer

from unnoted.io import read_json
from unnoted.utils import describe_error, quiet_transformers, short_repr, wrap_errors

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
"""The weights, and the index of the files that hold them if there are several."""

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
"""Names of models on the hub: `name` or `owner/name`."""

HUB_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]

FLOAT_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
"""Floating-point types as safetensors names them, and as torch does."""

MAX_LABELS = 10_000
"""The largest number of labels in a configuration, for each of which a name is made."""

SIZE_FACTOR = 16
"""A model may have so many times the numbers of its files: some of its weights may not be stored."""


class EncoderError(ValueError):
    """An encoder that cannot be found, loaded or used."""


class StoredTensor(NamedTuple):
    """A tensor in a file."""

    shape: tuple[int, ...]
    dtype: str


def is_on_hub(path: str | PathLike[str]) -> bool:
    """Whether a string can be the name of a model on the hub.

    It cannot if it looks like a path, or its first part is a folder: `runs/onw` beside `runs/own` is a typing
    mistake.

    Example:
        >>> is_on_hub("bert-base-cased"), is_on_hub("owner/name"), is_on_hub("./own"), is_on_hub("a/b/c")
        (True, True, False, False)
    """
    owner, slash, _ = str(path).partition("/")
    return bool(HUB_NAME.fullmatch(str(path))) and not (slash and Path(owner).is_dir())


def resolve_folder(path: str | PathLike[str], **options: Any) -> Path:  # noqa: ANN401 - of snapshot_download
    """A folder as it is, or that into which the files of a model on the hub are fetched.

    Where the hub cannot be reached, what is in its cache is used; with HF_HUB_OFFLINE=1 at once.
    """
    if Path(path).is_dir():
        return Path(path)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(str(path), allow_patterns=HUB_FILES, ignore_patterns=["*/*"], **options))


def load_encoder(path: str | Path, layers: int | None = None) -> PreTrainedModel:
    """A pretrained encoder.

    Args:
        path: a folder, or a name on the hub.
        layers: the number of layers to keep, counted from the input; all by default.

    Raises:
        EncoderError: there is no such encoder, or it cannot be used.
    """
    place = f"encoder {str(path)!r}"
    folder = _find_encoder(path)
    content = read_json(folder / "config.json", EncoderError)
    stored = read_shapes(folder, EncoderError)
    if not stored:
        raise EncoderError(
            f"{place}: no weights in safetensors format (model.safetensors) beside config.json"
        )
    check_counts(content if isinstance(content, dict) else {}, place, EncoderError, len(stored))
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # whatever transformers makes of a file from elsewhere
        raise EncoderError(f"{place}: config.json cannot be used: {describe_error(error)}") from error
    _refuse_fetched_code(config, place)
    if layers is not None:
        _keep_layers(config, layers, place)
    options = _model_options(config, place)
    expected = "model.safetensors beside config.json, and its sizes in there"
    model: PreTrainedModel
    with (
        wrap_errors(place, "no readable weights in safetensors format", expected, EncoderError),
        quiet_transformers(),  # weights of poolers and heads that are not used are no news
    ):
        _check_size(config, options, stored, place)
        model, loading = AutoModel.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            weights_only=True,
            output_loading_info=True,
            trust_remote_code=False,
            **options,
        )
    if missing := sorted(loading["missing_keys"]):
        raise EncoderError(f"{place}: {len(missing)} weights are missing ({missing[0]}, ...)")
    if (name := find_nonfinite(model)) is not None:
        raise EncoderError(f"{place}: weights {name} are not finite numbers")
    return model


def load_tokenizer(path: str | Path, encoder: PreTrainedModel) -> Tokenizer:
    """The tokenizer beside a pretrained encoder."""
    place = f"encoder {str(path)!r}"
    expected = "tokenizer.json and tokenizer_config.json, which need no code of their own"
    with wrap_errors(place, "no usable tokenizer", expected, EncoderError), quiet_transformers():
        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(resolve_folder(path), trust_remote_code=False)
        check_vocabulary(tokenizer, encoder, place, EncoderError)
    return tokenizer


def build_encoder(config: Mapping[str, Any]) -> PreTrainedModel:
    """An encoder with new weights from a saved configuration (that of `PreTrainedConfig.to_dict`)."""
    place = "encoder_config"
    rebuilt = AutoConfig.for_model(**config)
    _refuse_fetched_code(rebuilt, place)
    model: PreTrainedModel = AutoModel.from_config(  # type: ignore[no-untyped-call]
        rebuilt, trust_remote_code=False, **_model_options(rebuilt, place)
    )
    return model


def position_limit(model: PreTrainedModel) -> int:
    """The number of tokens that an encoder takes at once; 512 if it does not say.

    RoBERTa-like encoders number their positions from the padding index on, which costs them two of 514.
    """
    named = getattr(model.config, "max_position_embeddings", None)
    limit = named if isinstance(named, int) and named > 0 else 512
    for name, module in model.named_modules():
        padded = isinstance(module, nn.Embedding) and module.padding_idx is not None
        if padded and name.rpartition(".")[2] == "position_embeddings":
            limit = min(limit, module.num_embeddings - module.padding_idx - 1)
    return limit


def read_shapes(folder: Path, error: type[ValueError]) -> dict[str, StoredTensor]:
    """The shapes and types of the weights in a folder, by name, without reading them; empty if there are none."""
    tensors: dict[str, StoredTensor] = {}
    for file in _weight_files(folder, error):
        with (
            wrap_errors(file, "damaged or truncated weights", "a whole safetensors file", error),
            safe_open(file, framework="pt") as opened,
        ):
            for name in opened.keys():  # noqa: SIM118 - it is no dictionary
                stored = opened.get_slice(name)
                tensors[name] = StoredTensor(tuple(stored.get_shape()), stored.get_dtype())
    return tensors


def check_counts(config: Mapping[str, Any], place: object, error: type[ValueError], tensors: int) -> None:
    """Refuse a configuration with more layers than there are stored tensors, or more labels than anybody has.

    Example:
        >>> check_counts({"num_hidden_layers": 10**9}, "config.json", ValueError, tensors=197)
        Traceback (most recent call last):
        ValueError: config.json: num_hidden_layers is 1,000,000,000, far more than its weights are for
    """
    for key, value in config.items():
        if isinstance(value, int):
            if ("layer" in key and value > tensors) or ("label" in key and value > MAX_LABELS):
                raise error(f"{place}: {key} is {value:,}, far more than its weights are for")
        elif isinstance(value, dict):
            check_counts(value, place, error, tensors)


def check_vocabulary(
    tokenizer: Tokenizer, encoder: PreTrainedModel, place: object, error: type[ValueError]
) -> None:
    """Refuse a tokenizer without tokens, or with some that the encoder has no vector for."""
    rows = int(getattr(encoder.config, "vocab_size", sys.maxsize))
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if not 0 <= highest < rows:
        raise error(f"{place}: the tokenizer's ids go up to {highest:,}, the encoder has {rows:,} tokens")


def find_nonfinite(module: nn.Module) -> str | None:
    """The name of the first tensor of a module with a value that is not finite; None if there is none."""
    for name, tensor in module.state_dict().items():
        if not tensor.is_floating_point() or tensor.is_meta:
            continue
        # A sum is finite only if everything is, and ten times as fast as a look at each; it may overflow.
        if not torch.isfinite(tensor.sum()) and not torch.isfinite(tensor).all():
            return str(name)
    return None


def _find_encoder(path: str | Path) -> Path:
    expected = "a folder with config.json and model.safetensors, or a name on the hub"
    if not Path(path).is_dir() and not is_on_hub(path):
        raise EncoderError(f"encoder {str(path)!r}: no such folder; expected {expected}")
    try:
        folder = resolve_folder(path)
    except Exception as error:  # whatever the hub's client raises
        raise EncoderError(
            f"encoder {str(path)!r}: neither a folder nor on the hub or in its cache "
            f"({describe_error(error)}); expected {expected}"
        ) from error
    if not (folder / "config.json").is_file():
        raise EncoderError(f"encoder {str(path)!r}: no config.json; expected {expected}")
    return folder


def _weight_files(folder: Path, error: type[ValueError]) -> list[Path]:
    if (folder / WEIGHTS).exists():
        return [folder / WEIGHTS]
    path = folder / INDEX
    if not path.exists():
        return []
    content = read_json(path, error)
    files = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not files:
        raise error(f"{path}: no weight_map of weights to files")
    for tensor, name in files.items():
        if not isinstance(name, str) or PurePath(name).name != name or not (folder / name).is_file():
            raise error(f"{path}: weight_map.{short_repr(tensor)}: {short_repr(name)} is no file in {folder}")
    return [folder / name for name in sorted(set(files.values()))]


def _check_size(
    config: PreTrainedConfig, options: Mapping[str, bool], stored: Mapping[str, StoredTensor], place: str
) -> None:
    """Refuse a configuration of a model far larger than its weights, which would exhaust the memory."""
    numbers = sum(prod(tensor.shape) for tensor in stored.values())
    with torch.device("meta"):
        model = AutoModel.from_config(config, trust_remote_code=False, **options)  # type: ignore[no-untyped-call]
    if sum(weight.numel() for weight in model.parameters()) > SIZE_FACTOR * (numbers + 10**6):
        raise EncoderError(
            f"{place}: config.json describes a model far larger than its weights ({numbers:,} numbers)"
        )


def _model_options(config: PreTrainedConfig, place: str) -> dict[str, bool]:
    try:
        model_class: Any = AutoModel._model_mapping[type(config)]
    except KeyError:
        raise EncoderError(
            f"{place}: model type {config.model_type!r} has no AutoModel; use an encoder such as bert, roberta "
            "or deberta-v2"
        ) from None
    if config.is_encoder_decoder:
        raise EncoderError(f"{place}: {config.model_type!r} is an encoder-decoder; use an encoder")
    # The pooler is a layer over the first token, which pairs do not use: its weights would never be trained.
    pooler = "add_pooling_layer" in inspect.signature(model_class).parameters
    return {"add_pooling_layer": False} if pooler else {}


def _refuse_fetched_code(config: PreTrainedConfig, place: str) -> None:
    """Attention by the name of a repository is code that transformers would fetch and run."""
    attention = config._attn_implementation
    if attention is not None and not str(attention).replace("_", "").isalnum():
        raise EncoderError(
            f"{place}: attention {short_repr(attention)} is code from elsewhere, which is never run"
        )


def _keep_layers(config: PreTrainedConfig, layers: int, place: str) -> None:
    available = config.num_hidden_layers
    if not 1 <= layers <= available:
        raise EncoderError(f"{place}: it has {available} layers, {layers} cannot be kept")
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]
