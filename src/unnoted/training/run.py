"""A run: from a configuration to a folder with a trained model and its results."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safetensors import SafetensorError
from transformers.trainer_utils import TrainOutput

from unnoted.calibration import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.data.formats import write_documents
from unnoted.data.loading import load_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.evaluation.evaluator import evaluate_extractor
from unnoted.evaluation.metrics import document_scores
from unnoted.inference import Extractor
from unnoted.io import write_json
from unnoted.losses import Loss
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.models.model_card import renew_card
from unnoted.progress import Progress, show_progress
from unnoted.training.builders import (
    Log,
    TrainingData,
    build_loss,
    build_model,
    load_corpus,
    load_training_data,
    trainer_options,
)
from unnoted.training.calibrate import (
    calibrate_model,
    check_tunable,
    tune_model,
)
from unnoted.training.checkpoints import CheckpointError
from unnoted.training.config import TrainingConfig, load_config
from unnoted.training.cross_validation import cross_validate, default_jobs, expected_costs
from unnoted.training.distillation import Teacher
from unnoted.training.processes import join_processes, on_main
from unnoted.training.results import Record, RunScores, describe_environment
from unnoted.training.run_directory import RECORD, Fingerprint, RunDirectory, RunError, fingerprint
from unnoted.training.seen_documents import write_train_documents
from unnoted.training.trainer import Trainer, check_training, choose_precision, compute_features
from unnoted.utils import describe_error, plural

HIGH_HEAD_RATE = 5e-4
RANKING_LINK = "ranking-margin"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a run trains; every error that the configuration or the data hold has been raised."""

    data: TrainingData
    model: RelationModel
    loss: Loss
    features: FeatureSet
    dev: Sequence[Document] | None
    teacher: Teacher | None
    costs: tuple[float, float]
    """Of the folds and of the training: see `expected_costs`."""


def run(
    config: TrainingConfig,
    *,
    resume: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    log: Log = lambda line: None,
) -> Record:
    """Train, and score the sets of `config.test`.

    The output folder then is a model for `RelationModel.from_pretrained`. Beside the weights are
    `record.json` (what is returned), `config.yaml`, `priors.json` (of each relation), `environment.json`
    (versions and hardware), `run.json` (what a resumed run must share with this one) and `README.md`, the
    model card. A finished run is not repeated.

    Args:
        config: what `load_config` read.
        resume: continue an unfinished run.
        overwrite: remove a run that is in the folder.
        threads: of torch; chosen by the size of the model and the load of the machine, or as before a resume.
        log: is given lines for the user.

    Raises:
        RunError: the folder holds another run, or data changed since the run began.
        BusyError: another process is at this run.
        DataError: a data file cannot be used.
        ModelError: the teacher, or the model to start from, cannot be used.
        NotFiniteError: a loss is not a finite number.
    """
    if resume and overwrite:
        raise RunError("resume and overwrite: give only one of them")
    since, directory = time.monotonic(), RunDirectory(config.output)
    log = log if join_processes().is_main_process else _log_nothing
    with directory.lock():
        wanted = on_main(lambda: fingerprint(config))
        record = on_main(lambda: None if overwrite else _find_record(directory, config, wanted, resume, log))
        if record is not None and record.scored.keys() == config.test.keys():
            log(f"{config.output}: this run is finished; nothing to do")
            return record
        # Without the vocabulary: a fact that the model cannot predict still has to be found.
        gold = {
            name: load_documents(*files).documents
            for name, files in config.test.items()
            if record is None or name not in record.scored
        }
        if record is None:
            prepared = _prepare(config, log)
            on_main(lambda: directory.acquire(wanted, overwrite))  # not before: an error leaves all as it was
            directory.choose_threads(prepared.model.encoder.width, threads, log)
        with directory.timed(since) as seconds:
            if (trained := record) is not None:
                return on_main(lambda: _score(directory, config, trained, gold, None, seconds, log))
            scoring = _words(chain(*gold.values())) / _words(prepared.data.documents)
            with directory.showing_progress(sum(prepared.costs) + scoring) as progress:
                new = _train(directory, config, prepared, wanted.run_id, resume, seconds, progress, log)
                known = prepared.data.documents
                with progress.part(scoring):
                    return on_main(lambda: _score(directory, config, new, gold, known, seconds, log))


def _log_nothing(line: str) -> None:
    """What a process says that trains beside the main one."""


def _find_record(
    directory: RunDirectory, config: TrainingConfig, wanted: Fingerprint, resume: bool, log: Log
) -> Record | None:
    """The record of the run in the folder, if it is trained; refuses another run, and to resume unasked."""
    if not directory.exists:
        return None
    directory.check(wanted)
    record = directory.read_record(log)
    if not resume and (record is None or record.scored.keys() != config.test.keys()):
        raise RunError(
            f"{config.output}: this run is unfinished; --resume continues it, --overwrite begins anew"
        )
    return record


def train(
    documents: str | Path | Sequence[str | Path] | Corpus,
    *,
    config: str | Path = "best",
    encoder: str | None = None,
    output: str | Path | None = None,
    changes: Mapping[str, object] | None = None,
    log: Log = lambda line: None,
) -> RelationModel:
    """Train a model as `unnoted train` does: calibrated, with its decision threshold, where the config says so.

    Args:
        documents: files with labelled documents, or such documents.
        config: `best`, another name that `unnoted info` lists, or a config file.
        encoder: a folder, or a name on the hub; by default that of the config.
        output: a folder that keeps the model; the same call continues an interrupted run there.
        changes: other settings by key, such as `{"prior_multiplier": 2, "epochs": 5}`.
        log: is given lines for the user.

    Example:
        `train("own.jsonl", encoder="bert-base-cased", output="runs/own")`
    """
    with TemporaryDirectory() as scratch:
        files: object = documents
        if isinstance(documents, Corpus):
            files = Path(scratch, "documents.jsonl")
            write_documents(files, documents.documents)
        given = {"train": files, "encoder": encoder, "output": output or Path(scratch, "run")}
        given = {key: value for key, value in given.items() if value is not None}
        loaded = load_config(config, {**given, **(changes or {})}, log=log)
        run(loaded, resume=RunDirectory(loaded.output).exists, log=log)
        return RelationModel.from_pretrained(loaded.output)


def _words(documents: Iterable[Document]) -> int:
    return sum(document.word_count for document in documents)


def _prepare(config: TrainingConfig, log: Log) -> _Prepared:
    choose_precision(config.optimizer.precision, width=0)  # refused before anything is read
    data = load_training_data(config, log)
    model = build_model(config, data.corpus, log)
    dev = None if config.dev is None else load_documents(*config.dev).documents
    loss = build_loss(config, data.priors())
    if config.calibration.tune_thresholds and dev is not None:
        check_tunable(loss.decoder, dev, data.corpus.candidates)
    teacher = None if config.loss.teacher is None else Teacher.from_pretrained(config.loss.teacher)
    features = compute_features(model, data.corpus)
    check_training(
        model, loss, features, config.optimizer, teacher=teacher,
        evidence_weight=config.loss.evidence_weight,
        entity_recognition_weight=config.loss.entity_recognition_weight,
    )  # fmt: skip
    link, rate = loss.decoder.link, config.optimizer.head_learning_rate
    if link.name == RANKING_LINK and rate >= HIGH_HEAD_RATE:
        log(
            f"note: head_learning_rate {rate:g} is high for the squared ranking loss, whose logits differ by "
            f"{link.margin:g}: new layers spend the first epochs bringing them back to that size; 1e-4 is published"
        )
    for line in features.report.lines():
        log(f"note: {line}")
    costs = expected_costs(config, default_jobs(len(data.corpus)))
    return _Prepared(data, model, loss, features, dev, teacher, costs)


def _train(
    directory: RunDirectory,
    config: TrainingConfig,
    prepared: _Prepared,
    run_id: str,
    resume: bool,
    seconds: Callable[[], float],
    progress: Progress,
    log: Log,
) -> Record:
    """Train, in all processes, then finish the run in the main one."""
    model, data = prepared.model, prepared.data
    scores = None
    folds, training_cost = prepared.costs
    if config.calibration.folds is not None and len(data.corpus) < config.calibration.folds:
        log(f"not calibrated: {plural(len(data.corpus), 'document')} for {config.calibration.folds} folds")
    elif config.calibration.folds is not None:
        with progress.part(folds):
            scores = cross_validate(config, data, log)
    # After the trainers of the folds: transformers has one accelerator state a process.
    trainer = Trainer(
        model, prepared.loss, data.corpus, features=prepared.features, dev=prepared.dev,
        teacher=prepared.teacher, output=directory.path, **trainer_options(config),
    )  # fmt: skip
    with progress.part(training_cost):
        output = trainer.train(resume=resume, log=log)
    history = trainer.state.log_history
    return on_main(
        lambda: _finish(directory, config, prepared, run_id, output, history, scores, seconds, log)
    )


def _finish(
    directory: RunDirectory,
    config: TrainingConfig,
    prepared: _Prepared,
    run_id: str,
    output: TrainOutput,
    history: Sequence[dict[str, Any]],
    scores: OutOfFoldScores | None,
    seconds: Callable[[], float],
    log: Log,
) -> Record:
    """Calibrate, and put the model and a record without scores in their place."""
    model, data, report = prepared.model, prepared.data, prepared.features.report
    training: dict[str, Any] = {
        "steps": output.global_step,
        "epochs": config.optimizer.epochs,
        "precision": choose_precision(config.optimizer.precision, model.encoder.width),
        "documents": report.documents,
        "features": asdict(report),
        "seconds_of_last_session": output.metrics["train_runtime"],
        "history": [entry for entry in history if "loss" in entry],
        "development": [entry for entry in history if "eval_f1" in entry],
    }
    if config.calibration.tune_thresholds and prepared.dev is not None:
        training["tuned_thresholds"] = tune_model(model, prepared.dev, log)
    if scores is not None:
        training["calibration"] = calibrate_model(model, scores, data.corpus.documents, log)
    record = Record(
        run_id=run_id,
        config=config.to_dict(),
        seconds=seconds(),
        train_documents=len(data.corpus),
        train_facts=Counter(relation for document in data.documents for *_, relation in document.labels),
        scored={},
        training=training,
    )
    priors = prepared.loss.decoder.priors
    try:
        with directory.publishing(record) as folder:
            model.save_pretrained(folder)
            config.save(folder / "config.yaml")
            write_train_documents(folder, data.corpus)
            write_json(folder / "priors.json", None if priors is None else priors.report())
            write_json(folder / "environment.json", describe_environment())
        renew_card(directory.path)
    except (OSError, SafetensorError) as error:
        problem = f"the trained model was not written ({describe_error(error)}); --resume writes it again"
        raise CheckpointError(directory.path, problem) from error
    return record


def _score(
    directory: RunDirectory,
    config: TrainingConfig,
    record: Record,
    gold: Mapping[str, Sequence[Document]],
    train: Sequence[Document] | None,
    seconds: Callable[[], float],
    log: Log,
) -> Record:
    """Score the sets that have no scores yet, and keep each as it is done."""
    if not gold:
        return record
    extractor = Extractor(directory.path, backend="torch")
    train = load_corpus(config, config.train).documents if train is None else train
    with show_progress(_words(chain(*gold.values())), "scoring") as progress:
        for name, documents in gold.items():
            log(f"scoring {name}: {plural(len(documents), 'document')}")
            with progress.part(_words(documents)):
                evaluation = evaluate_extractor(
                    extractor, documents, train, benchmark=BENCHMARKS[config.data.benchmark]
                )
            scores = document_scores(documents, evaluation.predictions.by_key, train)
            scored = {**record.scored, name: RunScores.from_evaluation(evaluation, scores)}
            record = replace(record, seconds=seconds(), scored=scored)
            record.write(directory.path / RECORD)
            renew_card(directory.path)
            log(f"{name}: F1 {100 * evaluation.overall.f1:.2f}")
    return record
