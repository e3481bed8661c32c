"""A run: from settings to a folder with a trained model and a record of what it came to."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from safetensors import SafetensorError

from unnoted.data.loading import load_documents
from unnoted.evaluation import BENCHMARKS
from unnoted.evaluation.evaluator import evaluate_extractor
from unnoted.evaluation.metrics import document_scores
from unnoted.inference import Extractor
from unnoted.io import write_json
from unnoted.models.model_card import renew_card
from unnoted.training.calibrate import calibrate_model, tune_model, write_train_documents
from unnoted.training.checkpoints import CheckpointError, check_files, last_good, whole_folder
from unnoted.training.cross_validation import cross_validate
from unnoted.training.environment import environment
from unnoted.training.fingerprint import RunError, fingerprint
from unnoted.training.ingredients import load_corpus
from unnoted.training.record import Record, Scored
from unnoted.training.run_folder import RECORD, RunFolder
from unnoted.training.settings import Settings
from unnoted.training.stages import Plan, Stage, plan_of
from unnoted.training.trainer import CHECKPOINTS
from unnoted.training.training_labels import training_labels
from unnoted.utils import one_line, plural

MODEL = ".model"
"""Where the trained model is put together before its files are moved into the run's folder."""


def run(
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Record:
    """Train as the settings say, and score the sets of `settings.test`.

    The output folder then is a model for `RelationModel.from_pretrained`. Beside the weights are
    `record.json` (what is returned), `settings.yaml` (resolved), `priors.json` (what was used for each
    relation), `environment.json` (versions and hardware), and `run.json` (what a resumed run must share with
    this one); `README.md` is the model card. A finished run is not repeated.

    Args:
        settings: what `load_settings` read.
        resume: continue an unfinished run.
        overwrite: remove a run that is in the folder.
        tell: is given lines for the user, such as what was left out of the data.

    Raises:
        RunError: if the folder holds another run, or data changed since the run began.
        Busy: if another process is at this run.
        DataError: if a data file cannot be used.
        ModelError: if the teacher cannot be used, or does not fit.
        NotFinite: if a loss is not a finite number.
    """
    if resume and overwrite:
        raise RunError("found both resume and overwrite, expected one of them")
    since, folder = time.monotonic(), RunFolder(settings.output)
    with folder.locked():
        wanted = fingerprint(settings)
        record = None if overwrite else _found(folder, settings, resume, tell)
        if record is not None and record.scored.keys() == settings.test.keys():
            tell(f"{settings.output}: this run is finished; nothing to do")
            return record
        plan = None
        if record is None:
            plan = plan_of(settings, tell)
            # Not before the data and the encoder have proved to be usable: an error leaves all as it was.
            folder.claim(wanted, overwrite)
        with folder.timed(since) as seconds:
            if plan is not None:
                record = _trained(folder, settings, plan, resume, seconds, tell)
            assert record is not None
            return _scored(folder, settings, record, seconds, tell)


def _found(folder: RunFolder, settings: Settings, resume: bool, tell: Callable[[str], None]) -> Record | None:
    """The record of the run that the folder holds; None if it is not trained yet."""
    if not folder.taken:
        return None
    folder.check(fingerprint(settings))
    record = folder.record(tell)
    if not resume and (record is None or record.scored.keys() != settings.test.keys()):
        raise RunError(
            f"{folder.path}: found this run, unfinished; --resume continues it, --overwrite begins anew"
        )
    if record is None and (last := last_good(folder.path / CHECKPOINTS, check_files)) is not None:
        tell(f"continuing at {last.name}")
    return record


def _trained(
    folder: RunFolder,
    settings: Settings,
    plan: Plan,
    resume: bool,
    seconds: Callable[[], float],
    tell: Callable[[str], None],
) -> Record:
    """Train, put the model in its place, and make a record without scores."""
    scores = cross_validate(settings, log=tell, resume=resume) if settings.calibrated else None
    summary = plan.main.train(plan.model, resume, tell)
    if settings.tuned_thresholds and plan.main.dev is not None:
        summary["tuned_thresholds"] = tune_model(plan.model, plan.main.dev, tell)
    corpus = load_corpus(settings, settings.train)
    train = corpus.documents
    if scores is not None:
        labels = training_labels(settings, corpus).corpus.documents
        summary["calibration"] = calibrate_model(plan.model, scores, labels, tell)
    record = Record(
        address=fingerprint(settings).address,
        settings=settings.to_json(),
        seconds=seconds(),
        train_documents=len(train),
        train_facts=Counter(relation for document in train for *_, relation in document.labels),
        scored={},
        training=summary,
    )
    _place(folder, settings, plan, record)
    return record


def _place(folder: RunFolder, settings: Settings, plan: Plan, record: Record) -> None:
    """Write the trained model and all that belongs to it, and say that the training is finished."""
    try:
        with whole_folder(settings.output / MODEL) as staged:
            plan.model.save_pretrained(staged)
            settings.save(staged / "settings.yaml")
            write_train_documents(staged, load_corpus(settings, settings.train))
            _write_priors(staged, plan.main)
            write_json(staged / "environment.json", environment())
        folder.place(settings.output / MODEL, record)
        renew_card(settings.output)
    except (OSError, SafetensorError) as error:
        what = f"{settings.output}: the trained model was not written ({one_line(error)})"
        raise CheckpointError(f"{what}; its checkpoint is whole, --resume writes it again") from error


def _write_priors(folder: Path, stage: Stage) -> None:
    write_json(folder / "priors.json", None if stage.priors is None else stage.priors.report())


def _scored(
    folder: RunFolder,
    settings: Settings,
    record: Record,
    seconds: Callable[[], float],
    tell: Callable[[str], None],
) -> Record:
    """Score the sets that have no scores yet, and keep each as it is done."""
    left = {name: files for name, files in settings.test.items() if name not in record.scored}
    if not left:
        return record
    extractor = Extractor.from_pretrained(folder.path, backend="torch")
    train = load_corpus(settings, settings.train).documents
    for name, files in left.items():
        # Without the vocabulary: a fact that the model cannot predict still has to be found.
        gold = load_documents(*files).documents
        tell(f"scoring {name}: {plural(len(gold), 'document')}")
        evaluation = evaluate_extractor(extractor, gold, train, benchmark=BENCHMARKS[settings.benchmark])
        documents = document_scores(gold, evaluation.predictions.by_key, train)
        scored = {**record.scored, name: Scored.of(evaluation, documents)}
        record = replace(record, seconds=seconds(), scored=scored)
        record.write(folder.path / RECORD)
        renew_card(folder.path)
        tell(f"{name}: F1 {100 * evaluation.overall.f1:.2f}")
    return record
