"""The stages of a run: one training, or two, of which the first is on distantly labelled documents.

All that can be refused is looked at while a plan is made, before anything is written; the trainers are made
one after the other, because transformers has one state a process for precision and accumulation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.data.loading import load_documents, require_facts
from unnoted.losses import Risk
from unnoted.models.features import FeatureCache, FeatureSet
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.training.arguments import chosen_precision
from unnoted.training.checkpoints import checkpoints
from unnoted.training.distil import Teacher
from unnoted.training.entity_recognition import check_entity_recognition
from unnoted.training.evidence_guidance import check_evidence
from unnoted.training.further_views import check_scorer
from unnoted.training.ingredients import load_corpus, model_of, risk_of, tell_defects
from unnoted.training.optimisation import Optimisation
from unnoted.training.optimiser import check_map_learning_rate
from unnoted.training.preparing import check_sample, features_of, rate_note
from unnoted.training.settings import Settings
from unnoted.training.trainer import CHECKPOINTS, Trainer
from unnoted.training.training_labels import TrainingLabels, training_labels
from unnoted.training.tuning import check_tunable, with_pairs

DISTILLATION = "distillation"
"""The part of a run's folder, and of its summary, that belongs to the first of two stages."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One training of a model.

    Attributes:
        folder: where its checkpoints and logs go.
        task: the relations and candidate pairs, without the documents: these live on as features.
        features: of the documents.
        risk: what is minimised.
        optimisation: how.
        dev: documents that the model is scored on after every epoch.
        teacher: whose scores it learns from, beside the labels.
    """

    folder: Path
    task: Corpus
    features: FeatureSet
    risk: Risk
    optimisation: Optimisation
    dev: Sequence[Document] | None = None
    teacher: Teacher | None = None

    @property
    def priors(self) -> Priors | None:
        """The priors of the risk, if it has any."""
        return self.risk.meaning.priors

    def train(self, model: RelationModel, resume: bool, tell: Callable[[str], None]) -> dict[str, Any]:
        """Train a model, or continue it, and return what it came to."""
        trainer = Trainer(
            model,
            self.risk,
            self.task,
            optimisation=self.optimisation,
            folder=self.folder,
            features=self.features,
            dev=self.dev,
            teacher=self.teacher,
            typed_relations=False,  # the model has learnt them from all documents
        )
        output = trainer.train(resume=resume, tell=tell)
        if self.teacher is not None:
            # What comes next needs the memory of the device.
            self.teacher.to(torch.device("cpu"))
        report, log = self.features.report, trainer.state.log_history
        return {
            "steps": output.global_step,
            "epochs": self.optimisation.epochs,
            "precision": chosen_precision(self.optimisation.precision),
            "documents": report.documents,
            "features": report.to_json(),
            "seconds_of_last_session": output.metrics["train_runtime"],
            "history": [entry for entry in log if "loss" in entry],
            "development": [entry for entry in log if "eval_f1" in entry],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A new model, and the stages that it goes through.

    Attributes:
        model: not trained yet.
        distillation: the first of two stages; None if there is one only, or it is over.
        main: the stage that the result comes from.
    """

    model: RelationModel
    distillation: Stage | None
    main: Stage


def is_distilled(settings: Settings) -> bool:
    """Whether a run has gone beyond its first stage: the second one has a checkpoint."""
    return bool(checkpoints(settings.output / CHECKPOINTS))


def plan_of(settings: Settings, tell: Callable[[str], None], distilled: bool = False) -> Plan:
    """What the settings ask for; every error that they or the data hold is raised here.

    Args:
        settings: of the run.
        tell: is given lines for the user.
        distilled: the first stage, if the settings have one, is over.
    """
    corpus = load_corpus(settings, settings.train)
    require_facts(len(corpus), sum(len(document.facts) for document in corpus), settings.train)
    tell_defects(corpus, tell)
    labels = training_labels(settings, corpus, tell)
    model = model_of(settings, labels.corpus, tell)
    dev = None if settings.dev is None else load_corpus(settings, settings.dev).documents
    if settings.tuned_thresholds and dev is not None:
        with_pairs(dev, corpus.candidates)
    main = _stage(labels, settings.output, settings, model, dev, tell)
    if settings.tuned_thresholds:
        check_tunable(main.risk.meaning)
    first = None if distilled else _distillation(settings, model, corpus, main.risk, dev, tell)
    return Plan(model, first, main)


def _distillation(
    settings: Settings,
    model: RelationModel,
    train: Corpus,
    risk: Risk,
    dev: Sequence[Document] | None,
    tell: Callable[[str], None],
) -> Stage | None:
    """The first of two stages, if the settings have one."""
    if settings.distillation is None or settings.teacher is None or settings.distant is None:
        return None
    teacher = Teacher.from_folder(settings.teacher, settings.distillation.weight)
    teacher.check(model, risk)
    # The relations, candidate pairs and types of entities are those that the result is for.
    distant = load_documents(*settings.distant, vocabulary=train.relations, candidates=train.candidates)
    tell_defects(distant, tell)
    folder = settings.output / DISTILLATION
    # Again, because a copy of settings may have other ones than those that were filled in.
    optimisation = settings.distillation.over(settings)
    labels = training_labels(settings, distant, tell)
    return _stage(labels, folder, optimisation, model, dev, tell, teacher)


def _stage(
    labels: TrainingLabels,
    folder: Path,
    optimisation: Optimisation,
    model: RelationModel,
    dev: Sequence[Document] | None,
    tell: Callable[[str], None],
    teacher: Teacher | None = None,
) -> Stage:
    chosen_precision(optimisation.precision)
    check_map_learning_rate(model, optimisation)
    check_entity_recognition(model, optimisation)
    risk = risk_of(labels.settings, labels.priors())
    check_sample(risk, optimisation)
    check_scorer(model, risk)
    if note := rate_note(risk, optimisation):
        tell(f"note: {note}")
    features = features_of(model, labels.corpus, FeatureCache())
    check_evidence(model, optimisation, features, teacher is not None)
    for line in features.report.lines():
        tell(f"note: {line}")
    return Stage(folder, labels.corpus[:0], features, risk, optimisation, dev, teacher)
