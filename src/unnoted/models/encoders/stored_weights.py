"""Weights in safetensors files, seen from outside: names, shapes and types, before anything is built."""

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from unnoted.io import read_json
from unnoted.utils import plural, short_repr, wrap_errors

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
"""Where weights are, and which file has which of them if there are several."""

SLACK = 16
"""A model may have so many times the tensors, and the numbers, that its file has: weights may be packed, and
some of a model's are not stored."""

COUNTED = ("layer", "label")
"""In a configuration, a number by a name with one of these in it says how often something is made."""

MOST_COUNTED = 10_000
"""How often something may be made; no encoder has so many layers."""


class StoredTensor(NamedTuple):
    """A tensor in a file."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The tensors that a folder holds.

    Attributes:
        tensors: by name.
    """

    tensors: Mapping[str, StoredTensor]

    @property
    def numbers(self) -> int:
        """How many numbers there are in all tensors."""
        return sum(prod(tensor.shape) for tensor in self.tensors.values())

    @property
    def real_types(self) -> set[str]:
        """The types of those tensors that hold real numbers."""
        return {tensor.dtype for tensor in self.tensors.values() if tensor.dtype in REAL_TYPES}


REAL_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
"""Types of real numbers as safetensors names them, and as torch does."""


def stored_weights(folder: Path, error: type[ValueError]) -> StoredWeights | None:
    """What the weights in a folder are, without reading them; None if there are none.

    Raises:
        ValueError: of the given type, if a file is damaged, or is not in the folder.
    """
    tensors: dict[str, StoredTensor] = {}
    for file in _files(folder, error):
        with (
            wrap_errors(file, "damaged or truncated weights", "a whole safetensors file", error),
            safe_open(file, framework="pt") as opened,
        ):
            for name in opened.keys():  # noqa: SIM118 - it is no dictionary
                stored = opened.get_slice(name)
                tensors[name] = StoredTensor(tuple(stored.get_shape()), stored.get_dtype())
    return StoredWeights(tensors) if tensors else None


def _files(folder: Path, error: type[ValueError]) -> list[Path]:
    if (folder / WEIGHTS).exists():
        return [folder / WEIGHTS]
    path = folder / INDEX
    if not path.exists():
        return []
    content = read_json(path, error)
    places = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(places, dict) or not places:
        raise error(f"{path}: found {short_repr(content)}, expected which file has which weights")
    for tensor, name in places.items():
        if not isinstance(name, str) or PurePath(name).name != name or not (folder / name).is_file():
            raise error(
                f"{path}: weight_map.{short_repr(tensor)}: found {short_repr(name)}, expected a file in {folder}"
            )
    return [folder / name for name in sorted(set(places.values()))]


def check_counts(config: Mapping[str, Any], place: object, error: type[ValueError]) -> None:
    """Refuse a configuration that says to make something more often than any encoder does.

    Example:
        >>> check_counts({"num_hidden_layers": 10**9}, "config.json", ValueError)
        Traceback (most recent call last):
        ValueError: config.json: num_hidden_layers: found 1,000,000,000, expected 10,000 or less
    """
    for key, value in config.items():
        if isinstance(value, int) and value > MOST_COUNTED and any(part in key for part in COUNTED):
            raise error(f"{place}: {key}: found {value:,}, expected {MOST_COUNTED:,} or less")
        if isinstance(value, dict):
            check_counts(value, place, error)


@contextmanager
def no_larger_than(weights: StoredWeights | None, place: object, error: type[ValueError]) -> Iterator[None]:
    """Stop the building of a model as soon as it is far larger than the weights that are to fill it.

    A configuration can ask for a billion layers; what it asks for must be in some proportion to what is
    there. Only what this thread builds is counted.

    Raises:
        ValueError: of the given type.
    """
    if weights is None:
        yield
        return
    most, largest = SLACK * (len(weights.tensors) + 100), SLACK * (weights.numbers + 10**6)
    builder, built = threading.get_ident(), {"modules": 0, "numbers": 0}

    def refuse() -> None:
        what = f"{plural(len(weights.tensors), 'tensor')} of {plural(weights.numbers, 'number')}"
        raise error(f"{place}: found sizes of a model that is far larger than its weights, expected {what}")

    def note_parameter(module: nn.Module, name: str, parameter: Tensor | None) -> None:
        if threading.get_ident() == builder and parameter is not None:
            built["numbers"] += parameter.numel()
            if built["numbers"] > largest:
                refuse()

    def note_module(module: nn.Module, name: str, submodule: nn.Module | None) -> None:
        if threading.get_ident() == builder:
            built["modules"] += 1
            if built["modules"] > most:
                refuse()

    handles = (
        register_module_parameter_registration_hook(note_parameter),
        register_module_module_registration_hook(note_module),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def check_vocabulary(
    tokenizer: PreTrainedTokenizerBase, encoder: PreTrainedModel, place: object, error: type[ValueError]
) -> None:
    """Refuse a tokenizer without tokens, or with some that the encoder has no vector for.

    An encoder whose configuration does not say how many tokens it has may have any number.

    Raises:
        ValueError: of the given type.
    """
    rows = int(getattr(encoder.config, "vocab_size", sys.maxsize))
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if not 0 <= highest < rows:
        raise error(
            f"{place}: found a tokenizer whose tokens go up to {highest:,}, expected the encoder's {rows:,} "
            "tokens"
        )


def not_finite(module: nn.Module) -> str | None:
    """The first tensor of a module that holds something else than finite numbers, by name; None if none does.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> not_finite(layer)
        >>> _ = layer.bias.data.fill_(torch.inf)
        >>> not_finite(layer)
        'bias'
    """
    for name, tensor in module.state_dict().items():
        if not tensor.is_floating_point() or tensor.is_meta:
            continue
        # A sum is finite only if everything is, and ten times as fast as a look at each; it may overflow.
        if not torch.isfinite(tensor.sum()) and not torch.isfinite(tensor).all():
            return str(name)
    return None
