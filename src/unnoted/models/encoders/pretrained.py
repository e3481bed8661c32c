"""Making an encoder: from a folder or the hub with its weights, or anew from its saved configuration."""

import inspect
from pathlib import Path
from typing import Any

from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers import PreTrainedTokenizerBase as Tokenizer

from unnoted.io import read_json
from unnoted.models.encoders.hub import hub_options, is_on_hub
from unnoted.models.encoders.stored_weights import (
    check_counts,
    check_vocabulary,
    no_larger_than,
    not_finite,
    stored_weights,
)
from unnoted.utils import describe_error, quiet_transformers, short_repr, wrap_errors


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
    place, where = f"encoder {str(path)!r}", hub_options(path)
    if (Path(path) / "config.json").is_file():
        content = read_json(Path(path) / "config.json", EncoderError)
        check_counts(content if isinstance(content, dict) else {}, place, EncoderError)
    try:
        config = AutoConfig.from_pretrained(path, revision=revision, trust_remote_code=False, **where)
    except Exception as error:  # whatever transformers makes of a file from elsewhere
        raise EncoderError(_not_found(path, error)) from error
    _refuse_fetched_code(config, place)
    if layers is not None:
        _keep_layers(config, layers, path)
    options = _model_options(config, path)
    expected = "model.safetensors beside config.json, and its sizes in there"
    model: PreTrainedModel
    with (
        wrap_errors(place, "no readable weights in safetensors format", expected, EncoderError),
        no_larger_than(stored_weights(Path(path), EncoderError), place, EncoderError),
        quiet_transformers(),  # weights left over (of the pooler, of heads) are no news
    ):
        model, loading = AutoModel.from_pretrained(
            path,
            config=config,
            revision=revision,
            use_safetensors=True,
            weights_only=True,
            output_loading_info=True,
            trust_remote_code=False,
            **options,
            **where,
        )
    if missing := sorted(loading["missing_keys"]):
        raise EncoderError(
            f"{place}: found no weights for {len(missing)} of its tensors ({missing[0]}, ...), expected all"
        )
    if (name := not_finite(model)) is not None:
        raise EncoderError(f"{place}: found weights {name} that are not finite, expected finite numbers")
    return model


def load_tokenizer(path: str | Path, encoder: PreTrainedModel) -> Tokenizer:
    """The tokenizer beside a pretrained encoder.

    Raises:
        EncoderError: if there is none that can be used, or it has tokens that the encoder does not know.
    """
    place = f"encoder {str(path)!r}"
    expected = "tokenizer.json and tokenizer_config.json, which need no code of their own"
    with wrap_errors(place, "no usable tokenizer", expected, EncoderError), quiet_transformers():
        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(
            path, trust_remote_code=False, **hub_options(path)
        )
        check_vocabulary(tokenizer, encoder, place, EncoderError)
    return tokenizer


def build_encoder(config: dict[str, Any]) -> PreTrainedModel:
    """An encoder with new weights from a saved configuration (that of `PreTrainedConfig.to_dict`)."""
    place = "saved configuration"
    rebuilt = AutoConfig.for_model(**config)
    _refuse_fetched_code(rebuilt, place)
    model: PreTrainedModel = AutoModel.from_config(  # type: ignore[no-untyped-call]
        rebuilt, trust_remote_code=False, **_model_options(rebuilt, place)
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


def _refuse_fetched_code(config: PreTrainedConfig, place: str) -> None:
    """Attention by the name of a repository is code that transformers would fetch and run."""
    attention = config._attn_implementation
    if attention is not None and not str(attention).replace("_", "").isalnum():
        raise EncoderError(
            f"{place}: found attention by {short_repr(attention)}, expected no code from elsewhere"
        )


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
        return f"encoder folder {str(path)!r}: found no usable config.json ({describe_error(error)})"
    return (
        f"encoder {str(path)!r}: found neither a folder of that name nor such a model on the hub or in its "
        f"cache ({describe_error(error)}); expected a folder with config.json and model.safetensors, or a name"
    )
