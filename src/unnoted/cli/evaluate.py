"""`unnoted evaluate`: how good are these predictions, or the predictions of this model?"""

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
    progress,
    read_vocabulary,
    to_json_text,
)
from unnoted.data.formats.predictions import read_predictions
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog, Severity
from unnoted.evaluation import BENCHMARKS, Evaluation, PredictionError, evaluate_extractor
from unnoted.evaluation import evaluate as evaluate_predictions
from unnoted.evaluation.report import format_evaluation
from unnoted.io import TextInput, is_stream, lock_output, open_output
from unnoted.utils import lookup

Gold = Annotated[
    list[Path],
    typer.Option(
        metavar="FILE", help="Documents with all their facts; repeat it for PubTator's relation files."
    ),
]
PredictionFile = Annotated[
    Path | None,
    typer.Option("--predictions", metavar="FILE", help="Predictions in the official DocRED format."),
]
TrainedModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="A trained model, to extract and score in one go.")
]
ExactBackend = Annotated[
    str,
    typer.Option(
        "--backend", help="What runs the encoder: torch, which is exact; int8 or onnx, as predict does it."
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
    inputs = [Path(path) for path in (*gold, *(train or ()), predictions, vocabulary, model) if path]
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
            with progress(len(documents)) as report:
                evaluation = evaluate_extractor(extractor, documents, seen, progress=report, **options)
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


def _draw_reliability(evaluation: Evaluation, path: Path) -> None:
    if not evaluation.reliability:
        raise ValueError("--reliability needs a calibrated model (docs/concepts/probabilities.md)")
    from unnoted.experiments.plots import plot_reliability

    drawn = plot_reliability(evaluation.reliability)
    with open_output(path) as stream:
        stream.write(drawn)
