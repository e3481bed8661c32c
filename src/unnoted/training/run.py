"""A run: from settings to a folder with a trained model, and everything that tells how it came about."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safetensors import SafetensorError
from transformers import set_seed

from unnoted.documents import candidates as candidate_rules
from unnoted.documents.corpus import Corpus
from unnoted.documents.defects import Severity
from unnoted.documents.files import write_text
from unnoted.documents.loading import load_documents
from unnoted.documents.priors import Priors
from unnoted.documents.relations import RelationVocabulary
from unnoted.encoders import ENCODER_KINDS, make_encoder
from unnoted.features import FeatureCache
from unnoted.model import RelationModel
from unnoted.risks import PositiveUnlabelledRisk, Risk, make_risk
from unnoted.risks.surrogates import MARGIN
from unnoted.training.checkpoints import CheckpointError, one_line, whole_folder
from unnoted.training.environment import environment
from unnoted.training.progress import without_bars
from unnoted.training.run_folder import RunFolder, description
from unnoted.training.settings import Settings
from unnoted.training.trainer import Trainer

MODEL = ".model"
"""Where the trained model is put together before its files are moved into the run's folder."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run came to.

    Attributes:
        folder: the trained model's.
        trained: False if it had been finished before.
        steps: of the optimiser, in all.
        risk: the mean over the steps since the last report but one; None if nothing was reported.
    """

    folder: Path
    trained: bool
    steps: int
    risk: float | None


def train_from_settings(
    settings: Settings,
    *,
    resume: bool = False,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> RunReport:
    """Train as the settings say; the output folder then is a model for `RelationModel.from_pretrained`.

    Beside the weights are `settings.yaml` (resolved), `priors.json` (what was used for each relation),
    `environment.json` (versions and hardware), `training.json` (a summary with the risk over time), and
    `run.json` (settings and fingerprints of the data).

    Args:
        settings: what `load_settings` read.
        resume: go on with an unfinished run.
        overwrite: remove a run that is in the folder.
        tell: is given lines for the user, such as what was left out of the data.

    Raises:
        RunError: if the folder holds another run, or data changed since the run began.
        DataError: if a data file cannot be used.
        NotFinite: if a risk is not a finite number.
    """
    folder = RunFolder(settings.output)
    with folder.locked():
        run = description(settings)
        if folder.admit(run, resume, overwrite):
            trainer = trainer_of(settings, tell)
            # Not before the data and the encoder have proved to be usable: an error leaves all as it was.
            folder.claim(run, overwrite)
            return _report(folder, _train(folder, settings, trainer, resume), trained=True)
        tell(f"{settings.output}: this run is finished; nothing to do")
        return _report(folder, folder.summary(), trained=False)


def trainer_of(settings: Settings, tell: Callable[[str], None] = lambda line: None) -> Trainer:
    """The trainer that the settings ask for, with a new model."""
    corpus = load_corpus(settings, settings.train)
    _tell_defects(corpus, tell)
    with encoder_folder(settings, corpus, tell) as encoder:
        # Before the new layers are made: their first weights are random.
        set_seed(settings.seed)
        model = RelationModel.from_encoder(
            encoder,
            corpus.relations,
            encoder_layers=settings.encoder_layers,
            architecture=settings.model,
            entity_types=corpus.entity_types,
            embedding=settings.embedding,
            block=settings.block,
            candidates=corpus.candidates,
        )
    risk = risk_of(settings, priors_of(settings, corpus))
    trainer = Trainer(
        model,
        risk,
        corpus,
        optimisation=settings,
        folder=settings.output,
        cache=FeatureCache(),
        dev=None if settings.dev is None else load_corpus(settings, settings.dev).documents,
    )
    for line in trainer.features.report.lines():
        tell(f"note: {line}")
    return trainer


@contextmanager
def encoder_folder(settings: Settings, corpus: Corpus, tell: Callable[[str], None]) -> Iterator[str]:
    """Where the encoder is, or its name on the hub; one that is to be made is there only for a while."""
    if settings.encoder not in ENCODER_KINDS:
        yield settings.encoder
        return
    with TemporaryDirectory() as folder, without_bars():
        made = make_encoder(
            Path(folder),
            corpus,
            config=ENCODER_KINDS[settings.encoder](),
            vectors=settings.vectors,
            seed=settings.seed,
        )
        tell(f"note: encoder made: {made}")
        yield folder


def _train(folder: RunFolder, settings: Settings, trainer: Trainer, resume: bool) -> dict[str, Any]:
    output = trainer.train(resume=resume)
    report, risk = trainer.features.report, trainer.risk
    priors = risk.priors if isinstance(risk, PositiveUnlabelledRisk) else None
    summary = {
        "finished": True,
        "steps": output.global_step,
        "epochs": settings.epochs,
        "documents": report.documents,
        "features": report.to_json(),
        "seconds_of_last_session": output.metrics["train_runtime"],
        "history": [entry for entry in trainer.state.log_history if "loss" in entry],
        "development": [entry for entry in trainer.state.log_history if "eval_f1" in entry],
    }
    try:
        with without_bars(), whole_folder(settings.output / MODEL) as staged:
            trainer.relation_model.save_pretrained(staged)
            settings.save(staged / "settings.yaml")
            _write_json(staged / "priors.json", None if priors is None else priors.report())
            _write_json(staged / "environment.json", environment())
        folder.place(settings.output / MODEL, summary)
    except (OSError, SafetensorError) as error:
        what = f"{settings.output}: the trained model was not written ({one_line(error)})"
        raise CheckpointError(f"{what}; its checkpoint is whole, --resume writes it again") from error
    return summary


def load_corpus(settings: Settings, files: Sequence[Path]) -> Corpus:
    """Documents, with the relations and candidate pairs that the settings say, or that occur."""
    vocabulary = None if settings.vocabulary is None else RelationVocabulary.from_file(settings.vocabulary)
    rule = None if settings.candidates is None else candidate_rules.parse(settings.candidates)
    return load_documents(*files, vocabulary=vocabulary, candidates=rule)


def priors_of(settings: Settings, corpus: Corpus) -> Priors | None:
    """The priors that the settings ask for; None for a method without."""
    if settings.prior_file is not None:
        return Priors.from_file(settings.prior_file, corpus.labelled_priors)
    if settings.prior_multiplier is not None:
        return corpus.labelled_priors * settings.prior_multiplier
    return None


def risk_of(settings: Settings, priors: Priors | None) -> Risk:
    """The risk that the settings ask for."""
    if priors is None:
        return make_risk(settings.method)
    return make_risk(
        settings.method,
        priors,
        margin=MARGIN if settings.margin is None else settings.margin,
        correction=str(settings.correction),
        normalisation=str(settings.normalisation),
        class_weight=bool(settings.class_weight),
    )


def _tell_defects(corpus: Corpus, tell: Callable[[str], None]) -> None:
    counts = {kind: count for kind, count in corpus.log.counts.items() if kind.severity is Severity.DEFECT}
    if counts:
        kinds = ", ".join(f"{count} {kind.slug}" for kind, count in counts.items())
        tell(f"note: {sum(counts.values())} defects met ({kinds}); `unnoted data check` lists them")


def _write_json(path: Path, content: object) -> None:
    with write_text(path) as stream:
        json.dump(content, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def _report(folder: RunFolder, summary: dict[str, Any], trained: bool) -> RunReport:
    history = summary["history"]
    return RunReport(folder.path, trained, summary["steps"], history[-1]["loss"] if history else None)
