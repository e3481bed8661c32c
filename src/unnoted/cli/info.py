"""`unnoted info`: which configs are there, what does one set, and what is a trained model?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnoted.cli.options import AsJSON, console, handle_errors, log, print_text, table, to_json_text
from unnoted.configs import FILE_ENDINGS, config_names, published_configs, read_config
from unnoted.io import open_text, parse_yaml
from unnoted.utils import nearest

if TYPE_CHECKING:  # torch takes seconds to load, and configs are listed without it
    from unnoted.models.model import RelationModel

MAX_LISTED = 6
"""Entries of a list that are shown in a table."""

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[CONFIG|MODEL]",
        help="A config: its name or a .yaml file; or a trained model: its folder, or its name on the hub.",
        show_default=False,
    ),
]


@handle_errors
def info(name: Name = None, as_json: AsJSON = False) -> None:
    """List the configs, print all settings of one, or describe a trained model.

    To begin a config of your own: unnoted info NAME > own.yaml
    """
    if name is None:
        _list_configs(as_json)
    elif name.endswith(FILE_ENDINGS) or name in config_names():
        _print_config(name, as_json)
    elif "/" not in name and not Path(name).exists():
        raise ValueError(f"{name}: no config and no folder has this name{nearest(name, config_names())}")
    else:
        _print_model(name, as_json)


def _list_configs(as_json: bool) -> None:
    configs = list(published_configs())
    if as_json:
        print_text(to_json_text({config.source: config.description for config in configs}))
        return
    width = max(len(config.source) for config in configs)
    for config in configs:
        print_text(f"{config.source:{width}}  {config.description}")


def _print_config(name: str, as_json: bool) -> None:
    from unnoted.training import load_config  # loads torch

    missing = {} if "train" in read_config(name).values else {"train": "own.jsonl"}
    settings = load_config(name, missing, log=log)
    print_text(to_json_text(settings.to_dict()) if as_json else settings.to_yaml().rstrip("\n"))


def _print_model(path: str, as_json: bool) -> None:
    from unnoted.models.model import RelationModel

    description = describe(RelationModel.from_pretrained(path), Path(path))
    if as_json:
        print_text(to_json_text(description))
        return
    out = console()
    rows = table(path, "", "", text=2)
    rows.show_header = False
    for name, value in description.items():
        if name not in ("relations", "settings", "record") and value:
            rows.add_row(name.replace("_", " "), _shorten(value))
    if description["settings"] is not None:
        rows.add_row("settings", "in config.yaml; --json prints them, and the record of the training run")
    out.print(rows)
    out.print()
    relations = table(None, "relation", "name", "types", "labelled prior", "overall prior", text=3)
    for row in description["relations"]:
        types = [":".join(pair) for pair in row["types"] or ()]
        more = ", …" if len(types) > MAX_LISTED else ""
        priors = (row[f"{kind}_prior"] for kind in ("labelled", "overall"))
        relations.add_row(
            row["relation"],
            "" if row["name"] == row["relation"] else row["name"],
            ", ".join(types[:MAX_LISTED]) + more or "any",
            *("none" if prior is None else f"{prior:.6f}" for prior in priors),
        )
    out.print(relations)


def describe(model: "RelationModel", folder: Path) -> dict[str, Any]:
    """A saved model as plain data: relations, parts, how it decides, and how it was trained.

    Raises:
        ModelError: a record of its training cannot be read.
    """
    config, encoder, decoder = model.config, model.encoder.model, model.decoder
    calibration = decoder.calibration
    priors, types = decoder.priors, model.relation_types
    return {
        "relations": [
            {
                "relation": relation,
                "name": model.relations.name(relation),
                "labelled_prior": None if priors is None else priors.labelled[number],
                "overall_prior": None if priors is None else priors.overall[number],
                "types": None if types is None else [list(pair) for pair in types.pairs.get(relation, ())],
            }
            for number, relation in enumerate(model.relations)
        ],
        "encoder": {
            "type": encoder.config.model_type,
            "layers": getattr(encoder.config, "num_hidden_layers", None),
            "width": model.encoder.width,
            "window": model.encoder.limit,
            "parameters": _count(encoder),
        },
        "architecture": {"name": config.architecture, "parameters": _count(model) - _count(encoder)},
        "parameters": _count(model),
        "precision": str(model.dtype).removeprefix("torch."),
        "candidates": model.candidates.to_json(),
        "lexical_weight": config.lexical_weight,
        "rules": [rule.to_text(model.relations.name) for rule in model.rule_propagation.rules]
        if model.rule_propagation
        else [],
        "decoder": {
            "decision": decoder.decision.to_json(),
            "link": asdict(decoder.link),
            "calibrated": decoder.is_calibrated,
            "threshold": decoder.threshold,
            "expected": None if calibration is None else calibration.expected.metrics_at(decoder.threshold),
        },
        "undertrained": config.undertrained,
        "settings": _read_beside(folder / "config.yaml"),
        "record": _read_beside(folder / "record.json"),
    }


def _count(module: Any) -> int:  # noqa: ANN401
    return sum(parameter.numel() for parameter in module.parameters())


def _read_beside(path: Path) -> object:
    """A file that a training run left beside the model; None without one."""
    from unnoted.models.model import ModelError

    if not path.is_file():
        return None
    try:
        with open_text(path) as stream:
            text = stream.read()
        return json.loads(text) if path.suffix == ".json" else parse_yaml(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read ({' '.join(str(error).split())})") from error


def _shorten(value: Any) -> str:  # noqa: ANN401
    """A value in one line; of a long list the first entries."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shorten(each)}" for name, each in value.items() if each is not None)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        listed = ", ".join(map(_shorten, value[:MAX_LISTED]))
        return listed + (f", … ({len(value):,})" if len(value) > MAX_LISTED else "")
    return f"{value:,}" if type(value) is int else str(value)
