"""Cross-fitting: every training document judged by a model that never saw its labels.

The documents are cut into folds, and for each fold a model is trained on the others, as the settings say, and
scores it. From these scores probabilities are calibrated.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.models.model import RelationModel
from unnoted.training.ingredients import load_corpus, make_loss, model_of
from unnoted.training.optimisation import Optimisation
from unnoted.training.scored_documents import labelled_scores
from unnoted.training.settings import Settings
from unnoted.training.trainer import Trainer
from unnoted.training.training_labels import TrainingLabels, training_labels

FOLDS = "folds"
"""The part of a run's folder that belongs to cross-fitting."""

SCORES = "scores.npz"
"""What the models of all folds said, in that folder."""


def cross_fit(
    settings: Settings,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
) -> OutOfFoldScores:
    """The out-of-fold scores of the training documents.

    What is finished is not repeated: scores are kept in the run's folder, fold by fold.

    Args:
        settings: of a run; what is said there of the encoder, the architecture, the start and the steps holds
            for the models of the folds too.
        tell: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.

    Raises:
        ValueError: if there are fewer documents than folds.
    """
    kept = settings.output / FOLDS / SCORES
    if kept.is_file():
        return OutOfFoldScores.load(kept)
    labels = training_labels(settings, load_corpus(settings, settings.train))
    numbers = range(settings.folds)
    parts = [fit_fold(settings, number, tell, resume, labels) for number in numbers]
    joined = OutOfFoldScores.joined(parts)
    joined.save(kept)
    return joined


def fit_fold(
    settings: Settings,
    number: int,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
    labels: TrainingLabels | None = None,
) -> OutOfFoldScores:
    """The scores of one fold: of its documents, by a model of the others. Folds need not know of each other.

    Args:
        settings: as for `cross_fit`.
        number: of the fold, from 0.
        tell: is given lines for the user.
        resume: continue from the last checkpoint of this fold.
        labels: of the documents of the settings, if they were read already.
    """
    kept = settings.output / FOLDS / f"scores-{number}.npz"
    if not kept.is_file():
        labels = labels or training_labels(settings, load_corpus(settings, settings.train))
        corpus = labels.corpus
        held_out = fold_documents(corpus.documents, settings.folds, settings.seed)[number]
        checkpoints = settings.output / FOLDS / str(number)
        tell(f"fold {number + 1} of {settings.folds}: {len(corpus) - len(held_out):,} documents")
        model = fold_model(labels, held_out, checkpoints, tell, resume)
        labelled_scores(model, held_out).save(kept)
    return OutOfFoldScores.load(kept)


def fold_documents(documents: Sequence[Document], folds: int, seed: int) -> list[list[Document]]:
    """The documents in random folds of like size; each document is in one of them.

    Example:
        >>> from unnoted.data.synthetic import generate_documents
        >>> [len(fold) for fold in fold_documents(list(generate_documents(5)), folds=2, seed=0)]
        [3, 2]
    """
    if len(documents) < folds:
        raise ValueError(f"folds: found {folds} for {len(documents)} documents, expected at most as many")
    order = np.random.default_rng(seed).permutation(len(documents))
    return [[documents[index] for index in sorted(order[first::folds])] for first in range(folds)]


def fold_model(
    labels: TrainingLabels,
    held_out: Sequence[Document],
    folder: Path | None,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
) -> RelationModel:
    """A model trained on the documents outside a fold.

    Args:
        labels: all documents, and the settings.
        held_out: the documents of the fold.
        folder: for checkpoints, if there are to be any.
        tell: is given lines for the user.
        resume: continue from the last checkpoint.
    """
    settings, corpus = labels.settings, labels.corpus
    inside = set(map(id, held_out))
    rest = tuple(document for document in corpus if id(document) not in inside)
    train = Corpus(rest, corpus.relations, corpus.candidates)
    model = model_of(settings, corpus, lambda line: None)
    loss = make_loss(settings, labels.priors(train))
    values = {name: getattr(settings, name) for name in Optimisation.model_fields}
    optimisation = Optimisation(**{**values, "unlabelled_per_labelled": None})
    trainer = Trainer(
        model, loss, train, optimisation=optimisation, folder=folder, typed_relations=settings.typed_relations
    )
    trainer.train(resume=resume, tell=tell)
    return model
