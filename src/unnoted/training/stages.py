"""What a run trains: a model, its documents as features, a loss.

All that can be refused is looked at while a plan is made, before anything is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.data.loading import require_facts
from unnoted.losses import Loss
from unnoted.models.features import FeatureSet
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.training.arguments import chosen_precision
from unnoted.training.calibrate import check_tunable, documents_with_pairs
from unnoted.training.distil import Teacher
from unnoted.training.entity_recognition import check_entity_recognition
from unnoted.training.evidence_guidance import check_evidence
from unnoted.training.further_views import check_scorer
from unnoted.training.ingredients import load_corpus, make_loss, model_of, tell_defects
from unnoted.training.optimisation import Optimisation
from unnoted.training.optimiser import check_map_learning_rate
from unnoted.training.preparing import check_sample, features_of, rate_note
from unnoted.training.settings import Settings
from unnoted.training.trainer import Trainer
from unnoted.training.training_labels import TrainingLabels, training_labels


@dataclass(frozen=True, slots=True)
class Stage:
    """One training of a model.

    Attributes:
        folder: where its checkpoints and logs go.
        task: the relations and candidate pairs, without the documents: these live on as features.
        features: of the documents.
        loss: what is minimised.
        optimisation: how.
        dev: documents that the model is scored on after every epoch.
        teacher: whose scores it learns from, beside the labels.
    """

    folder: Path
    task: Corpus
    features: FeatureSet
    loss: Loss
    optimisation: Optimisation
    dev: Sequence[Document] | None = None
    teacher: Teacher | None = None

    @property
    def priors(self) -> Priors | None:
        """The priors of the loss, if it has any."""
        return self.loss.decoder.priors

    def train(self, model: RelationModel, resume: bool, tell: Callable[[str], None]) -> dict[str, Any]:
        """Train a model, or continue it, and return what it came to."""
        trainer = Trainer(
            model,
            self.loss,
            self.task,
            optimisation=self.optimisation,
            folder=self.folder,
            features=self.features,
            dev=self.dev,
            teacher=self.teacher,
            typed_relations=False,  # the model has learnt them from all documents
        )
        output = trainer.train(resume=resume, tell=tell)
        report, log = self.features.report, trainer.state.log_history
        return {
            "steps": output.global_step,
            "epochs": self.optimisation.epochs,
            "precision": chosen_precision(self.optimisation.precision),
            "documents": report.documents,
            "features": asdict(report),
            "seconds_of_last_session": output.metrics["train_runtime"],
            "history": [entry for entry in log if "loss" in entry],
            "development": [entry for entry in log if "eval_f1" in entry],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A new model, and how it is trained.

    Attributes:
        model: not trained yet.
        main: the training.
    """

    model: RelationModel
    main: Stage


def plan_of(settings: Settings, tell: Callable[[str], None]) -> Plan:
    """What the settings ask for; every error that they or the data hold is raised here.

    Args:
        settings: of the run.
        tell: is given lines for the user.
    """
    corpus = load_corpus(settings, settings.train)
    require_facts(len(corpus), sum(len(document.facts) for document in corpus), settings.train)
    tell_defects(corpus, tell)
    labels = training_labels(settings, corpus, tell)
    model = model_of(settings, labels.corpus, tell)
    dev = None if settings.dev is None else load_corpus(settings, settings.dev).documents
    if settings.tuned_thresholds and dev is not None:
        documents_with_pairs(dev, corpus.candidates)
    teacher = None if settings.teacher is None else Teacher.from_folder(settings.teacher)
    main = _stage(labels, settings.output, settings, model, dev, tell, teacher)
    if settings.tuned_thresholds:
        check_tunable(main.loss.decoder)
    return Plan(model, main)


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
    loss = make_loss(labels.settings, labels.priors())
    check_sample(loss, optimisation)
    check_scorer(model, loss)
    if teacher is not None:
        teacher.check(model, loss)
    if note := rate_note(loss, optimisation):
        tell(f"note: {note}")
    features = features_of(model, labels.corpus)
    check_evidence(model, optimisation, features)
    for line in features.report.lines():
        tell(f"note: {line}")
    return Stage(folder, labels.corpus[:0], features, loss, optimisation, dev, teacher)
