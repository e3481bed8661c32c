"""What a saved model is: its relations and priors, how it decides, how large it is, how it was trained."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import pad

from unnoted.io import open_text, parse_yaml
from unnoted.losses.decoding import undo_class_weight
from unnoted.models.model import ModelError, RelationModel
from unnoted.models.scores.lexical import SLOTS, STEMS

MOST_WORDS = 8
"""How many words are shown for each relation."""

STRONGEST = 20
"""How many entries of the type bias are described."""

SUMMARIES = {
    "settings": ("settings.yaml",),
    "training": ("record.json", "training.json"),
    "environment": ("environment.json",),
}
"""Files that a training leaves beside the weights, by their name in the summary; the first that is there is
read (`training.json` is of earlier versions), and none needs to be there."""


def inspect_model(path: str | Path) -> dict[str, Any]:
    """Load a saved model and describe it, as plain data for tables and JSON.

    Raises:
        ModelError: the folder is no usable model, or a summary of its training cannot be read.
    """
    model = RelationModel.from_pretrained(path)
    folder = Path(path)
    description = describe(model)
    for name, files in SUMMARIES.items():
        found = next((folder / file for file in files if (folder / file).is_file()), None)
        description[name] = None if found is None else _summary(found)
    return description


def describe(model: RelationModel) -> dict[str, Any]:
    """Everything about a model that does not lie beside it."""
    config, encoder = model.config, model.encoder.model
    return {
        "relations": list(_relations(model)),
        "decision": model.decoder.decision.to_json(),
        "link": model.decoder.link.name,
        "margin": model.decoder.link.margin,
        "calibration": _calibration(model),
        "candidates": model.candidates.to_json(),
        "rules": [rule.line(model.relations.name) for rule in model.rule_lift.rules]
        if model.rule_lift
        else [],
        "typed_relations": model.relation_types is not None,
        "undertrained": config.undertrained,
        "encoder": {
            "type": encoder.config.model_type,
            "layers": getattr(encoder.config, "num_hidden_layers", None),
            "width": model.encoder.width,
            "tokens_at_once": model.encoder.limit,
            "parameters": _count(encoder),
        },
        "architecture": {
            "name": config.architecture,
            "embedding": config.embedding,
            "block": config.block,
            "parameters": _count(model.pairs) + _count(model.scores),
        },
        "type_bias": _type_bias(model),
        "lexical": _lexical(model),
        "parameters": _count(model),
        "precision": str(model.dtype).removeprefix("torch."),
        "tokenizer": None if model.tokenizer is None else type(model.tokenizer).__name__,
    }


def _type_bias(model: RelationModel) -> list[dict[str, Any]] | None:
    """What the types of head and tail alone say, the most probable first; None for a model without."""
    if model.type_bias is None:
        return None
    bias, decoder = model.type_bias.weight.detach().float().cpu(), model.decoder
    scores = pad(bias.flatten(0, 1), (1, 0))  # [(T + 1)², K + 1], the none class at 0
    shown = decoder.link(scores)
    if decoder.priors is not None and decoder.class_weighted:
        shown = undo_class_weight(shown, torch.tensor(decoder.priors.class_weight))
    types = ("other", *model.entity_types)
    values, places = shown.flatten().topk(min(STRONGEST, shown.numel()))
    entries = []
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        pair, relation = divmod(place, shown.shape[1])
        head, tail = divmod(pair, len(types))
        entries.append(
            {"head": types[head], "tail": types[tail], "relation": model.relations[relation], "shown": value}
        )
    return entries


def _lexical(model: RelationModel) -> dict[str, Any] | None:
    """How much the linear model counts, and which words speak most for each relation; None without one."""
    lexical = model.lexical
    if lexical is None:
        return None
    weights, places = lexical.words.float().topk(MOST_WORDS, 0)  # [w, K] each
    stems = lexical.stem.tolist()
    words = [
        {
            "relation": relation,
            "name": model.relations.name(relation),
            "words": [
                {"word": _word(model, stems.index(place % STEMS)), "where": SLOTS[place // STEMS]}
                for place, weight in zip(places[:, number].tolist(), weights[:, number].tolist(), strict=True)
                if weight > 0
            ],
        }
        for number, relation in enumerate(model.relations)
    ]
    return {"share": lexical.share, "words": words}


def _word(model: RelationModel, token: int) -> str:
    """The first token of a stem in the vocabulary, which often is the most frequent."""
    return str(token) if model.tokenizer is None else str(model.tokenizer.convert_ids_to_tokens(token))


def _calibration(model: RelationModel) -> dict[str, Any] | None:
    calibration = model.decoder.calibration
    if calibration is None:
        return None
    return {
        "threshold": calibration.threshold,
        "expected": calibration.expected.metrics_at(calibration.threshold),
    }


def _relations(model: RelationModel) -> Iterator[dict[str, Any]]:
    priors, learnt = model.decoder.priors, model.relation_types
    for number, relation in enumerate(model.relations):
        yield {
            "relation": relation,
            "name": model.relations.name(relation),
            "labelled_prior": None if priors is None else priors.labelled[number],
            "overall_prior": None if priors is None else priors.overall[number],
            "types": None if learnt is None else [list(pair) for pair in learnt.pairs.get(relation, ())],
        }


def _count(module: Any) -> int:  # noqa: ANN401
    return sum(parameter.numel() for parameter in module.parameters())


def _summary(path: Path) -> object:
    try:
        with open_text(path) as stream:
            text = stream.read()
        content = json.loads(text) if path.suffix == ".json" else parse_yaml(text)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{path}: found no readable summary of the training ({reason})") from error
    # A record has the training beside settings and scores.
    return content.get("training", content) if isinstance(content, dict) else content
