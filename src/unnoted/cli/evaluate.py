"""`unnoted evaluate`: how good are these predictions, or the predictions of this model?"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.options import (
    AnyTypes,
    AsJSON,
    Batch,
    Device,
    Overwrite,
    TargetPrecision,
    TargetRecall,
    Train,
    Vocabulary,
    handle_errors,
    load_extractor,
    log,
    log_defects,
    print_text,
    read_vocabulary,
    to_json_text,
)
from unnoted.data.document import Document
from unnoted.data.formats.predictions import read_predictions
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog, Severity
from unnoted.evaluation import BENCHMARKS, Evaluation, LabelFrequency, PredictionError, evaluate_extractor
from unnoted.evaluation import evaluate as evaluate_predictions
from unnoted.evaluation.report import format_evaluation
from unnoted.io import TextInput, is_stream, lock_output, open_output, parse_json, read_whole
from unnoted.priors import OTHERS, Priors
from unnoted.utils import lookup, plural, short_repr

Gold = Annotated[
    list[Path],
    typer.Option(
        metavar="FILE", help="Documents with all their facts; repeat it for PubTator's relation files."
    ),
]
PredictionFile = Annotated[
    Path | None,
    typer.Option(
        "--predictions",
        metavar="FILE",
        help="Predictions: JSON or JSONL of `unnoted predict`, or an official DocRED file.",
    ),
]
TrainedModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="A trained model, to extract and score in one go.")
]
ExactBackend = Annotated[
    str,
    typer.Option(
        "--backend", help="What runs the encoder: torch, which is exact, or int8, as predict may do it."
    ),
]
BenchmarkName = Annotated[
    str,
    typer.Option(
        help=f"How to score: {', '.join(BENCHMARKS)}. For chemdisgene with --train also over the facts that "
        "published systems could reach."
    ),
]
Frequent = Annotated[
    int | None, typer.Option(help="How many most frequent relations to score together (10; chemdisgene 5).")
]
Relations = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Score these relations together instead; may be repeated."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Decide only on predictions of at least this score; with --model instead of its own threshold."
    ),
]
LabelFrequencyOption = Annotated[
    str | None,
    typer.Option(
        "--label-frequency",
        metavar="SHARE",
        help="Also estimate scores for complete gold, if gold has this share of all true facts: 0.36, a range "
        "(0.3-0.45), counts of a random sample (54/150), a file of priors by relation (.json), or a review.",
    ),
]
Checked = Annotated[
    str | None,
    typer.Option(
        metavar="HOLD/CHECKED",
        help="With --label-frequency: of so many random predictions that gold lacks, so many hold (18/50).",
    ),
]
PerRelation = Annotated[bool, typer.Option("--per-relation", help="Also show each relation.")]
CurveFile = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Write the precision-recall curve here.")
]
ReliabilityFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Draw how well calibrated scores are (needs `unnoted[plots]`)."),
]


@handle_errors
def evaluate(
    gold: Gold,
    predictions: PredictionFile = None,
    model: TrainedModel = None,
    train: Train = None,
    vocabulary: Vocabulary = None,
    benchmark: BenchmarkName = "plain",
    frequent: Frequent = None,
    relation: Relations = None,
    threshold: Threshold = None,
    target_precision: TargetPrecision = None,
    target_recall: TargetRecall = None,
    label_frequency: LabelFrequencyOption = None,
    checked: Checked = None,
    per_relation: PerRelation = False,
    curve: CurveFile = None,
    reliability: ReliabilityFile = None,
    any_types: AnyTypes = False,
    batch: Batch = None,
    device: Device = None,
    backend: ExactBackend = "torch",
    as_json: AsJSON = False,
    overwrite: Overwrite = False,
) -> None:
    """Score predictions, or a model, against gold documents, as the official scorers do.

    With --train also Ign F1, and scores by how frequent relations are in the training documents.
    """
    if frequent is not None and relation:
        raise ValueError("give --frequent or --relation, not both")
    if (predictions is None) == (model is None):
        raise ValueError("give either --predictions or --model")
    if model is None and any(each is not None for each in (batch, device, target_precision, target_recall)):
        raise ValueError("--batch, --device, --target-precision and --target-recall need --model")
    if checked is not None and label_frequency is None:
        raise ValueError("--checked needs --label-frequency")
    files = *gold, *(train or ()), predictions, vocabulary, model, label_frequency
    inputs = [Path(path) for path in files if path]
    outputs = [path for path in (curve, reliability) if path is not None]
    with lock_output(*outputs, inputs=inputs, overwrite=overwrite):
        names = read_vocabulary(vocabulary)
        defects, ignored = DefectLog(), DefectLog()
        documents = tuple(stream_documents(*gold, vocabulary=names, log=defects))
        seen = stream_documents(*train, vocabulary=names, log=defects) if train else None
        options: dict[str, Any] = {
            "benchmark": lookup("benchmark", benchmark, BENCHMARKS),
            "frequent": relation or frequent,
            "vocabulary": names,
            "checked": checked and _counts("--checked", checked),
            "label_frequency": None
            if label_frequency is None
            else _read_label_frequency(label_frequency, documents),
        }
        if predictions is not None:
            options |= {"threshold": threshold, "probabilities": reliability is not None}
            try:
                evaluation = evaluate_predictions(
                    documents, read_predictions(predictions, ignored), seen, **options
                )
            except PredictionError as error:
                raise ValueError(f"{TextInput(predictions).name}: {error}") from None
        else:
            from unnoted.inference import DecisionOptions

            assert model is not None  # one of the two was given
            extractor = load_extractor(model, batch, device, backend, any_types)
            names = names or extractor.model.relations
            options["threshold"] = DecisionOptions(threshold, target_precision, target_recall)
            evaluation = evaluate_extractor(extractor, documents, seen, **options)
        log_defects(defects)
        if unknown := ignored.total(Severity.DEFECT):
            example = next(iter(ignored.examples.values()))[0]
            log(f"note: {unknown:,} unknown fields of predictions ignored, e.g. {example}")
        if curve is not None:
            if evaluation.curve is None:
                raise ValueError(f"{predictions}: has no scores; --curve needs a score for each prediction")
            evaluation.curve.write_csv(curve)
        if reliability is not None:
            _draw_reliability(evaluation, reliability)
    titles = names.names if names else None
    text = (
        to_json_text(evaluation.to_json()) if as_json else format_evaluation(evaluation, per_relation, titles)
    )
    print_text(text, err=curve is not None and is_stream(curve))


def _read_label_frequency(given: str, gold: Sequence[Document]) -> LabelFrequency:
    """The label frequency that an option or a file gives."""
    if "/" in given and not Path(given).exists():
        return LabelFrequency.from_counts(*_counts("--label-frequency", given))
    if shares := re.fullmatch(r"(\d*\.?\d+)(?:-(\d*\.?\d+))?", given):
        low, high = shares[1], shares[2] or shares[1]
        return LabelFrequency.from_range(float(low), float(high))
    if not Path(given).is_file():
        raise ValueError(
            f"--label-frequency: {given!r} must be a share (0.36), a range (0.3-0.45), counts (54/150), or a file: "
            "priors by relation (.json) or a review"
        )
    return (
        _from_priors(Path(given), gold) if Path(given).suffix == ".json" else _from_review(Path(given), gold)
    )


def _counts(option: str, given: str) -> tuple[int, int]:
    part, _, whole = given.partition("/")
    if not (part.isdecimal() and whole.isdecimal()):
        raise ValueError(f"{option}: {given} must be two counts, such as 18/50")
    return int(part), int(whole)


def _from_priors(path: Path, gold: Sequence[Document]) -> LabelFrequency:
    """By relation; relations of the file that the gold does not have play no part."""
    counts = Counter(relation for document in gold for *_, relation in document.labels)
    pairs = sum(len(document.entities) * (len(document.entities) - 1) for document in gold)
    content = parse_json(read_whole(path))
    others = sorted(set(content) - {OTHERS, *counts}) if isinstance(content, dict) else []
    if others:
        log(
            f"note: {path}: gold has no fact of {plural(len(others), 'relation')}, e.g. {short_repr(others[0])}"
        )
    labelled = Priors.from_counts([*counts, *others], counts, pairs)
    return LabelFrequency.from_priors(Priors.from_file(path, labelled))


def _from_review(path: Path, gold: Sequence[Document]) -> LabelFrequency:
    """Labels by what a review estimates of all facts: those of the gold if it has the review's documents."""
    from unnoted.review import open_existing
    from unnoted.review.progress import CompletenessEstimate

    with closing(open_existing(path)) as store:
        estimate = CompletenessEstimate(store).to_json()
        same = {row["id"] for row in store.query("SELECT id FROM documents")} == {each.id for each in gold}
        labels = sum(len(each.labels) for each in gold) if same else int(store.about["labels"])
    if estimate is None or not estimate["sampled"]:
        raise ValueError(
            f"{path}: no suggestion was decided in random order; decide some 100, or give a share"
        )
    facts = [estimate["found"] + estimate[part] for part in ("missing", "missing_high", "missing_low")]
    log(
        f"note: {path}: {labels:,} labels of about {facts[0]:,.0f} facts, by {estimate['sampled']} random decisions"
    )
    return LabelFrequency.from_interval(*(min(1.0, labels / number) for number in facts))


def _draw_reliability(evaluation: Evaluation, path: Path) -> None:
    if not evaluation.reliability:
        raise ValueError("--reliability needs a calibrated model (docs/concepts/probabilities.md)")
    from unnoted.experiments.plots import plot_reliability

    drawn = plot_reliability(evaluation.reliability)
    with open_output(path) as stream:
        stream.write(drawn)
