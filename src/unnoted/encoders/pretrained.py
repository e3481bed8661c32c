"""Making an encoder: from a folder or the hub with its weights, or anew from its saved configuration."""

import inspect
from pathlib import Path
from typing import Any

from torch import nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel

from unnoted.common.quiet import quiet_transformers
from unnoted.encoders.hub import hub_options, is_on_hub


class EncoderError(ValueError):
    """An encoder that cannot be found, loaded or used; names what was found and what was expected."""


def load_encoder(path: str | Path, layers: int | None = None, revision: str | None = None) -> PreTrainedModel:
    """A pretrained encoder, with its first `layers` layers only if that is given.

    Args:
        path: a folder, or a name on the hub.
        layers: how many layers to keep, counted from the input.
        revision: the hub revision.

    Raises:
        EncoderError: if there is no such encoder, or it has no such number of layers.
    """
    if not Path(path).is_dir() and not is_on_hub(path):
        raise EncoderError(
            f"encoder {str(path)!r}: found no such folder, expected one with config.json and "
            "model.safetensors, or a name on the hub"
        )
    where = hub_options(path)
    try:
        config = AutoConfig.from_pretrained(path, revision=revision, **where)
    except (OSError, ValueError) as error:
        raise EncoderError(_not_found(path, error)) from error
    if layers is not None:
        _keep_layers(config, layers, path)
    options = _model_options(config, path)
    model: PreTrainedModel
    try:
        # Weights left over (of the pooler, of heads) are no news; missing ones are an error of ours.
        with quiet_transformers():
            model, loading = AutoModel.from_pretrained(
                path,
                config=config,
                revision=revision,
                use_safetensors=True,
                weights_only=True,
                output_loading_info=True,
                **options,
                **where,
            )
    except OSError as error:
        raise EncoderError(
            f"encoder {str(path)!r}: found no readable weights in safetensors format ({_first_line(error)}); "
            "expected model.safetensors beside config.json"
        ) from error
    if missing := sorted(loading["missing_keys"]):
        raise EncoderError(
            f"encoder {str(path)!r}: found no weights for {len(missing)} of its tensors ({missing[0]}, ...), "
            "expected all"
        )
    return model


def build_encoder(config: dict[str, Any]) -> PreTrainedModel:
    """An encoder with new weights from a saved configuration (that of `PreTrainedConfig.to_dict`)."""
    rebuilt = AutoConfig.for_model(**config)
    model: PreTrainedModel = AutoModel.from_config(  # type: ignore[no-untyped-call]
        rebuilt, **_model_options(rebuilt, "saved configuration")
    )
    return model


def position_limit(model: PreTrainedModel, default: int = 512) -> int:
    """How many tokens an encoder takes at once.

    RoBERTa-like encoders number their positions from the padding index on, which costs them two of 514.
    An encoder that names no limit gets `default`.
    """
    named = getattr(model.config, "max_position_embeddings", None)
    limit = named if isinstance(named, int) and named > 0 else default
    for name, module in model.named_modules():
        padded = isinstance(module, nn.Embedding) and module.padding_idx is not None
        if padded and name.rpartition(".")[2] == "position_embeddings":
            limit = min(limit, module.num_embeddings - module.padding_idx - 1)
    return limit


def _model_options(config: PreTrainedConfig, path: object) -> dict[str, bool]:
    try:
        model_class: Any = AutoModel._model_mapping[type(config)]
    except KeyError:
        raise EncoderError(
            f"encoder {str(path)!r}: found model type {config.model_type!r}, which has no AutoModel; "
            "expected a text encoder such as bert, roberta or deberta-v2"
        ) from None
    if config.is_encoder_decoder:
        raise EncoderError(
            f"encoder {str(path)!r}: found {config.model_type!r}, an encoder-decoder; expected an encoder"
        )
    # The pooler is a layer over the first token, which pairs do not use: its weights would never be trained.
    pooler = "add_pooling_layer" in inspect.signature(model_class).parameters
    return {"add_pooling_layer": False} if pooler else {}


def _keep_layers(config: PreTrainedConfig, layers: int, path: object) -> None:
    available = config.num_hidden_layers
    if not 1 <= layers <= available:
        raise EncoderError(f"encoder {str(path)!r}: encoder_layers is {layers}, expected 1 to {available}")
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]


def _not_found(path: str | Path, error: Exception) -> str:
    folder = Path(path)
    if folder.is_dir():
        return f"encoder folder {str(path)!r}: found no usable config.json ({_first_line(error)})"
    return (
        f"encoder {str(path)!r}: found neither a folder of that name nor such a model on the hub or in its "
        f"cache ({_first_line(error)}); expected a folder with config.json and model.safetensors, or a name"
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
