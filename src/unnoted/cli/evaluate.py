"""`unnoted evaluate`: how good are these predictions, or the predictions of this model?"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnoted.cli.common import (
    AsJSON,
    Overwrite,
    Vocabulary,
    json_text,
    read_vocabulary,
    reports_errors,
    say,
    tell,
    tell_defects,
)
from unnoted.cli.predict import (
    AnyTypes,
    Batch,
    Device,
    TargetPrecision,
    TargetRecall,
    load_extractor,
    progress,
)
from unnoted.data.document import Document
from unnoted.data.formats.predictions import read_predictions
from unnoted.data.loading import stream_documents
from unnoted.errors import DefectLog, Severity
from unnoted.evaluation.evaluator import BENCHMARKS, Evaluation, PredictionError
from unnoted.evaluation.evaluator import evaluate as evaluate_predictions
from unnoted.evaluation.report import format_evaluation
from unnoted.io import TextInput, check_output, is_stream, lock_output, open_output
from unnoted.utils import lookup

if TYPE_CHECKING:  # loading torch takes seconds
    from unnoted.inference import Extractor

Gold = Annotated[
    list[Path],
    typer.Option(
        metavar="FILE", help="Documents with all their facts; repeat it for PubTator's relation files."
    ),
]
Predictions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Predictions in the official DocRED format.")
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
SeenInTraining = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="The training documents in use, for Ign F1.")
]
BenchmarkName = Annotated[
    str,
    typer.Option(
        help=f"How to score: {', '.join(BENCHMARKS)}. For chemdisgene with --train also over the facts that "
        "published systems could reach."
    ),
]
Frequent = Annotated[
    int | None, typer.Option(help="How many most frequent relations to score apart (10; chemdisgene 5).")
]
Relations = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Score these relations apart instead; may be repeated."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Decide only on predictions of at least this score; with --model instead of by its own threshold."
    ),
]
PerRelation = Annotated[bool, typer.Option("--per-relation", help="Also show each relation.")]
CurveFile = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Write the precision-recall curve here.")
]
ReliabilityFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Draw how well calibrated probabilities hold, into this file."),
]


@reports_errors
def evaluate(
    gold: Gold,
    predictions: Predictions = None,
    model: TrainedModel = None,
    train: SeenInTraining = None,
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
    """Score predictions, or a model, against gold documents, as the official scorers do."""
    if frequent is not None and relation:
        raise ValueError("found both --frequent and --relation, expected one of them")
    read = [Path(path) for path in (*gold, *(train or ()), predictions, vocabulary, model) if path]
    for output in filter(None, (curve, reliability)):
        check_output(output, read, overwrite)
    names = read_vocabulary(vocabulary)
    logs = [DefectLog(), DefectLog(), DefectLog()]
    documents = tuple(stream_documents(*gold, vocabulary=names, log=logs[0]))
    seen = stream_documents(*train, vocabulary=names, log=logs[2]) if train else None
    options: dict[str, Any] = {
        "benchmark": lookup("benchmark", benchmark, BENCHMARKS),
        "frequent": relation or frequent,
        "vocabulary": names,
        "threshold": threshold,
    }
    match predictions, model:
        case Path() as file, None:
            _refuse_without_model(batch, device, target_precision, target_recall)
            try:
                evaluation = evaluate_predictions(
                    documents,
                    read_predictions(file, logs[1]),
                    seen,
                    probabilities=reliability is not None,
                    **options,
                )
            except PredictionError as error:
                raise ValueError(f"{TextInput(file).name}: {error}") from None
        case None, str() as folder:
            extractor = load_extractor(folder, batch, device, backend, any_types)
            from unnoted.inference import DecisionOptions

            chosen = DecisionOptions(threshold, target_precision, target_recall)
            evaluation = _scored(extractor, documents, seen, options | {"threshold": chosen})
            names = names or extractor.model.relations
        case _:
            raise ValueError("found both or none of --predictions and --model, expected one of them")
    tell_defects(logs[0])
    tell_defects(logs[2])
    _tell_ignored(logs[1])
    _write_curve(evaluation, curve, read, predictions)
    _draw_reliability(evaluation, reliability, read)
    called = names.names if names else None
    shown = (
        json_text(evaluation.to_json()) if as_json else format_evaluation(evaluation, per_relation, called)
    )
    say(shown, err=curve is not None and is_stream(curve))


def _refuse_without_model(
    batch: int | None, device: str | None, precision: float | None, recall: float | None
) -> None:
    if batch is not None or device is not None:
        raise ValueError("found --batch or --device without --model, expected them with it")
    if precision is not None or recall is not None:
        raise ValueError(
            "found --target-precision or --target-recall without --model, expected a calibrated model"
        )


def _scored(
    extractor: "Extractor",
    documents: Sequence[Document],
    seen: Iterable[Document] | None,
    options: Mapping[str, Any],
) -> Evaluation:
    """Score a model, with a progress bar."""
    # Here, because it loads torch, which predictions in a file need not wait for.
    from unnoted.evaluation.evaluator import evaluate_extractor

    with progress(len(documents)) as told:
        return evaluate_extractor(extractor, documents, seen, progress=told, **options)


def _tell_ignored(log: DefectLog) -> None:
    if ignored := log.total(Severity.DEFECT):
        example = next(iter(log.examples.values()))[0]
        tell(f"note: {ignored:,} unknown fields of predictions ignored, e.g. {example}")


def _write_curve(
    evaluation: Evaluation, path: Path | None, read: list[Path], predictions: Path | None
) -> None:
    if path is None:
        return
    if evaluation.curve is None:
        raise ValueError(f"{predictions}: found no scores, expected a score for each prediction (--curve)")
    with lock_output(path, inputs=read, overwrite=True):  # what was there was looked at before the work
        evaluation.curve.write_csv(path)


def _draw_reliability(evaluation: Evaluation, path: Path | None, read: list[Path]) -> None:
    if path is None:
        return
    if not evaluation.reliability:
        raise ValueError(
            "--reliability needs scores that are probabilities, such as those of a calibrated model "
            "(docs/concepts/probabilities.md)"
        )
    # Here, because matplotlib takes a second to load.
    from unnoted.report.plots import reliability_plot
    from unnoted.report.svg import standalone

    drawn = reliability_plot(list(evaluation.reliability.items()), "reliability")
    with lock_output(path, inputs=read, overwrite=True), open_output(path) as stream:
        stream.write(standalone(drawn))
