"""The model card: what a model is, what it was trained on, how it scored, and where it must not be trusted.

It is made from the files of a run (`record.json`, `priors.json`, `environment.json`), and lies as `README.md`
beside the weights, where the hub shows it. A card that a person has written is kept.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import yaml  # type: ignore[import-untyped]

from unnoted.io import open_output
from unnoted.utils import duration, format_count, percent, plural

CARD = "README.md"
OURS = "library_name: unnoted"
"""The line of a card's head by which we know our own."""

FROM_TEMPLATE = "This model card has been automatically generated."
"""What the hub's client writes where a repository has no card."""

FEW_LABELS = 10
"""A relation with fewer labels in training is named as hardly learnt."""

_SHOWN = 10


def model_card(
    config: Mapping[str, Any],
    record: Mapping[str, Any] | None = None,
    priors: Sequence[Mapping[str, Any]] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> str:
    """The card of a model, in Markdown with a head in YAML.

    Args:
        config: of the model, as `config.json` holds it.
        record: of its training, as `record.json` holds it; without it the card says that nothing is known.
        priors: what was used for each relation, as `priors.json` holds it.
        environment: versions and hardware, as `environment.json` holds it.

    Example:
        >>> card = model_card({"relations": ["P26"], "relation_names": {"P26": "spouse"}})
        >>> print(card[:25])
        ---
        library_name: unnoted
        >>> "no record of its training" in card
        True
    """
    record = record or {}
    sections = [
        _head(record),
        "# A model for relation extraction over whole documents",
        _what(config, record),
        _use(),
        *(_of_training(config, record, priors or [], environment or {}) if record else [_UNKNOWN]),
        _limits(config, record),
    ]
    return "\n\n".join(sections) + "\n"


_UNKNOWN = "## Training\n\nThere is no record of its training here: data, priors and scores are unknown."


def _head(record: Mapping[str, Any]) -> str:
    tags = ["relation-extraction", "document-level", "incomplete-labels"]
    head: dict[str, Any] = {"library_name": "unnoted", "tags": tags}
    results = [
        {
            "task": {"type": "relation-extraction", "name": "Document-level relation extraction"},
            "dataset": {"type": "custom", "name": ", ".join(_files(record, name)) or name},
            "metrics": [
                {"type": kind, "value": round(100 * value, 1)}
                for kind, value in zip(
                    ("f1", "precision", "recall"), _figures(scored["overall"]), strict=True
                )
            ],
        }
        for name, scored in record.get("scored", {}).items()
    ]
    if results:
        head["model-index"] = [{"name": "unnoted relation model", "results": results}]
    text: str = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    return f"---\n{text}---"


def _what(config: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    names, relations = config.get("relation_names") or {}, config.get("relations") or []
    listed = ", ".join(_plain(names.get(relation, relation)) for relation in relations[:_SHOWN])
    more = f" and {format_count(len(relations) - _SHOWN)} more" if len(relations) > _SHOWN else ""
    encoder = config.get("encoder_config") or {}
    named = record.get("settings", {}).get("encoder") or encoder.get("_name_or_path") or ""
    types = ", ".join(map(_plain, config.get("entity_types") or []))
    lines = [
        f"It finds {plural(len(relations), 'relation')} between the entities of a document: {listed}{more}.",
        "Entities have to be given, or found by another tool.",
        f"Architecture {_code(config.get('architecture', 'atlop'))} on the encoder "
        f"{_code(PurePath(named).name or encoder.get('model_type', 'unknown'))}.",
        f"Types of entities in training: {types}." if types else "",
    ]
    return " ".join(line for line in lines if line)


def _use() -> str:
    return (
        "## Use\n\n```python\nfrom unnoted import Extractor, load_documents\n\n"
        'extractor = Extractor.from_pretrained("FOLDER OR NAME OF THIS MODEL")\n'
        'for extraction in extractor.extract(load_documents("documents.jsonl")):\n    print(extraction)\n```'
    )


def _of_training(
    config: Mapping[str, Any],
    record: Mapping[str, Any],
    priors: Sequence[Mapping[str, Any]],
    environment: Mapping[str, Any],
) -> list[str]:
    return [
        _data(record),
        _labelling(config, record, priors),
        _scores(record),
        _procedure(record, environment),
    ]


def _data(record: Mapping[str, Any]) -> str:
    documents, facts = record.get("train_documents", 0), record.get("train_facts", {})
    labels = sum(facts.values())
    each = f", {labels / documents:.1f} per document" if documents else ""
    files = ", ".join(_code(name) for name in _last_names(record.get("settings", {}).get("train")))
    return (
        f"## Training data\n\n{files or 'Unnamed files'}: {plural(documents, 'document')} with "
        f"{plural(labels, 'label')} of {plural(len(facts), 'relation')}{each}."
    )


def _labelling(
    config: Mapping[str, Any], record: Mapping[str, Any], priors: Sequence[Mapping[str, Any]]
) -> str:
    """How complete the labels were taken to be, and the priors of the most labelled relations."""
    loss = _code(record.get("settings", {}).get("loss", "unknown"))
    labelled = sum(row["labelled"] for row in priors)
    if not labelled:
        return f"## Labels and priors\n\nTrained with the loss {loss}, which was given no priors."
    times = sum(row["overall"] for row in priors) / labelled
    completeness = (
        f"incomplete: true facts {times:.2g} times as frequent as labels, that is {percent(1 / times)}% of "
        "them labelled. This was an assumption or an estimate, not a count."
        if times > 1.005
        else "complete."
    )
    lines = [
        f"## Labels and priors\n\nTrained with the loss {loss}. Labels were taken to be {completeness}",
        "",
        "| relation | labelled pairs, % | true pairs as assumed, % |",
        "|---|---:|---:|",
    ]
    names = config.get("relation_names") or {}
    for row in sorted(priors, key=lambda row: -row["labelled"])[:_SHOWN]:
        name = _plain(names.get(row["relation"], row["relation"]))
        lines.append(f"| {name} | {100 * row['labelled']:.3f} | {100 * row['overall']:.3f} |")
    if len(priors) > _SHOWN:
        lines.append(f"\nThe {_SHOWN} most labelled of {format_count(len(priors))} relations.")
    return "\n".join(lines)


def _scores(record: Mapping[str, Any]) -> str:
    scored = record.get("scored", {})
    if not scored:
        return "## Scores\n\nNo documents were given to score it on."
    lines = [
        "## Scores\n\nIn %, over all facts, by the model's own decision.\n",
        "| documents | number | true facts | F1 | precision | recall | average precision |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, figures in scored.items():
        overall = figures["overall"]
        values = [*_figures(overall), figures.get("average_precision", 0.0)]
        cells = [
            format_count(len(figures.get("documents", {}))),
            format_count(overall["gold"]),
            *map(percent, values),
        ]
        title = _plain(", ".join(_files(record, name)) or name)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _procedure(record: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    settings, training = record.get("settings", {}), record.get("training", {})
    parts = [
        plural(settings["epochs"], "epoch") if "epochs" in settings else "",
        f"{format_count(training['steps'])} steps" if "steps" in training else "",
        f"seed {settings['seed']}" if "seed" in settings else "",
        duration(record["seconds"]) if "seconds" in record else "",
    ]
    versions = ", ".join(
        f"{name} {_plain(environment[name])}"
        for name in ("unnoted", "torch", "transformers")
        if name in environment
    )
    return "## Training\n\n" + ", ".join(part for part in [*parts, versions] if part) + "."


def _limits(config: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    calibrated = bool((config.get("score_decoder") or {}).get("calibration"))
    lines = [
        "It knows no other relations than these, and was made for documents like those of its training.",
        "Confidences order facts; they are no probabilities."
        + (
            " Probabilities were calibrated on documents like those of the training, and hold for no others."
            if calibrated
            else " The model is not calibrated, so it gives no probabilities."
        ),
        "Supporting sentences show where the model looked. They prove nothing.",
    ]
    if isinstance(config.get("candidates"), dict):
        lines.append("It finds no facts between entities that no sentence mentions both of.")
    if record:
        facts, relations = record.get("train_facts", {}), config.get("relations") or []
        few = [relation for relation in relations if facts.get(relation, 0) < FEW_LABELS]
        if few:
            names = config.get("relation_names") or {}
            listed = ", ".join(_plain(names.get(relation, relation)) for relation in few[:_SHOWN])
            more = " and others" if len(few) > _SHOWN else ""
            lines.append(
                f"{plural(len(few), 'relation')} with fewer than {FEW_LABELS} labels in training, hardly "
                f"learnt: {listed}{more}."
            )
        if record.get("scored"):
            lines.append(
                "If the documents it was scored on are incompletely labelled too, true facts count as wrong."
            )
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def card_beside(folder: Path) -> str | None:
    """The card of a saved model: that in its folder, or one made of the record there; None without either."""
    try:
        return (folder / CARD).read_text("utf-8")
    except (OSError, ValueError):
        pass
    try:
        found = {
            name: _read(folder / f"{name}.json") for name in ("config", "record", "priors", "environment")
        }
        if not found["record"]:
            return None
        return model_card(found["config"], found["record"], found["priors"], found["environment"])
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
    ):  # a damaged record is no reason to refuse a model
        return None


def write_card(folder: Path, text: str) -> None:
    """Write a card into a folder, unless a person's own lies there."""
    path = folder / CARD
    try:
        found = path.read_text("utf-8")
    except FileNotFoundError:
        found = OURS
    except (OSError, ValueError):
        return
    if OURS in found or FROM_TEMPLATE in found:
        with open_output(path) as stream:
            stream.write(text)


def renew_card(folder: Path) -> None:
    """Write the card of a run's folder anew, from the record that is now there."""
    config = _read(folder / "config.json")
    record, priors, environment = (
        _read(folder / f"{name}.json") for name in ("record", "priors", "environment")
    )
    write_card(folder, model_card(config, record, priors, environment))


def _read(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError:
        return None


def _figures(score: Mapping[str, int]) -> tuple[float, float, float]:
    """F1, precision and recall."""
    correct, predicted, gold = score["correct"], score["predicted"], score["gold"]
    precision, recall = correct / predicted if predicted else 0.0, correct / gold if gold else 0.0
    return 2 * correct / (predicted + gold) if predicted + gold else 0.0, precision, recall


def _files(record: Mapping[str, Any], name: str) -> list[str]:
    """The names of the files of a set of test documents."""
    return _last_names((record.get("settings", {}).get("test") or {}).get(name))


def _last_names(paths: Iterable[str] | None) -> list[str]:
    """Files without their folders, which say nothing elsewhere."""
    return [PurePath(path).name for path in paths or []]


def _code(text: object) -> str:
    """A name as code, which Markdown leaves as it is."""
    return f"`{' '.join(str(text).replace('`', chr(39)).split())}`"


def _plain(text: object) -> str:
    """A text that stays a text in Markdown: in one line, no table, no tag, no code."""
    line = " ".join(str(text).split())
    for letter in "\\`|*_[]":
        line = line.replace(letter, f"\\{letter}")
    return line.replace("<", "&lt;")
