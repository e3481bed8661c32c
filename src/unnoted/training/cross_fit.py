"""Cross-fitting: every training document judged by a model that never saw its labels.

The documents are cut into folds, and for each fold a model is trained on the others, as the settings say, and
scores it. Where priors are to be estimated these models cannot know them: they learn how probable it is that
a fact was *noted*, by the likelihood of labels. From their scores priors are estimated, rules checked, and
probabilities calibrated. Where it is open how much a linear model counts (`lexical_share: fitted`), each fold
says that of its own model. Where it is open whether pairs that never meet are candidates
(`fitted_candidates`) the scores say that, too, and if they are not, the folds are fitted again without them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unnoted.common.foreign import read_json
from unnoted.common.outputs import write_json
from unnoted.documents.candidates import InOneSentence
from unnoted.documents.corpus import Corpus
from unnoted.documents.schema import Document
from unnoted.model import RelationModel
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.risks import Risk
from unnoted.risks.losses import LabelLikelihoodLoss
from unnoted.training.ingredients import load_corpus, model_of, risk_of
from unnoted.training.lexical_share import fit_share
from unnoted.training.narrowing import fit_candidates
from unnoted.training.optimisation import Optimisation
from unnoted.training.scored_documents import labelled_scores
from unnoted.training.settings import Settings
from unnoted.training.trainer import Trainer
from unnoted.training.training_labels import TrainingLabels, training_labels

FOLDS = "folds"
"""The part of a run's folder that belongs to cross-fitting."""

NARROWED = "folds-in-one-sentence"
"""The same for folds that were fitted again, without pairs that never meet."""

SCORES = "scores.npz"
"""What the models of all folds said, in that folder."""

SHARE = "lexical-share-{}.json"
"""What the linear model counts in the model of a fold, by its number."""


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """What cross-fitting came to.

    Attributes:
        settings: of the run, with the candidate pairs that were chosen; the same object if all are kept.
        scores: of the models of the folds, out of fold.
        lexical_share: what the linear model counts, if that was open.
        said: what a record should say of what was chosen.
    """

    settings: Settings
    scores: LabelledScores
    lexical_share: float | None
    said: Mapping[str, Any]


def cross_fitted(settings: Settings, tell: Callable[[str], None], resume: bool = False) -> CrossFitted:
    """Cross-fit the documents of a run, and choose what is open in its settings.

    Args:
        settings: of a run.
        tell: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.
    """
    chosen, folds = settings, FOLDS
    said: dict[str, Any] = {}
    scores = cross_fit(settings, tell, resume)
    if settings.fitted_candidates and settings.prior_file is None:  # which speaks of all pairs
        corpus = training_labels(settings, load_corpus(settings, settings.train)).corpus
        documents = fold_documents(corpus.documents, settings.folds, settings.seed)
        if not isinstance(corpus.candidates, InOneSentence):
            chosen, said["candidates"] = fit_candidates(settings, scores, documents, corpus.candidates, tell)
    if chosen is not settings:
        folds = NARROWED
        scores = cross_fit(chosen, tell, resume, folds)
    share = fitted_share(chosen, folds) if settings.lexical_share == "fitted" else None
    if share is not None:
        said["lexical_share"] = share
    return CrossFitted(chosen, scores, share, said)


def cross_fit(
    settings: Settings,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
    folds: str = FOLDS,
) -> LabelledScores:
    """The out-of-fold scores of the training documents.

    What is finished is not repeated: scores are kept in the run's folder, fold by fold.

    Args:
        settings: of a run; what is said there of the encoder, the architecture, the start and the steps holds
            for the models of the folds too, and `fold_epochs` for how long they are trained.
        tell: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.
        folds: the part of the run's folder for them.

    Raises:
        ValueError: if there are fewer documents than folds.
    """
    folder = settings.output / folds
    if (folder / SCORES).is_file():
        return LabelledScores.load(folder / SCORES)
    labels = training_labels(settings, load_corpus(settings, settings.train))
    parts = [fit_fold(settings, number, tell, resume, folds, labels) for number in range(settings.folds)]
    joined = LabelledScores.joined(parts)
    joined.save(folder / SCORES)
    return joined


def fit_fold(
    settings: Settings,
    number: int,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
    folds: str = FOLDS,
    labels: TrainingLabels | None = None,
) -> LabelledScores:
    """The scores of one fold: of its documents, by a model of the others. Folds need not know of each other.

    Args:
        settings: as for `cross_fit`.
        number: of the fold, from 0.
        tell: is given lines for the user.
        resume: continue from the last checkpoint of this fold.
        folds: as for `cross_fit`.
        labels: of the documents of the settings, if they were read already.
    """
    folder = settings.output / folds
    kept = folder / f"scores-{number}.npz"
    if not kept.is_file():
        labels = labels or training_labels(settings, load_corpus(settings, settings.train))
        corpus = labels.corpus
        held_out = fold_documents(corpus.documents, settings.folds, settings.seed)[number]
        tell(f"fold {number + 1} of {settings.folds}: {len(corpus) - len(held_out):,} documents")
        model = fold_model(labels, held_out, folder / str(number), tell, resume)
        if settings.lexical_share == "fitted":
            model.set_lexical_share(fit_share(model, held_out))
            write_json(folder / SHARE.format(number), model.config.lexical_share)
        labelled_scores(model, held_out).save(kept)
    return LabelledScores.load(kept)


def fitted_share(settings: Settings, folds: str = FOLDS) -> float:
    """What the linear model counts: the mean of what was best for each fold, once all are fitted."""
    folder = settings.output / folds
    shares = [read_json(folder / SHARE.format(number), ValueError) for number in range(settings.folds)]
    return float(np.mean(shares).round(3))


def fold_documents(documents: Sequence[Document], folds: int, seed: int) -> list[list[Document]]:
    """The documents in random folds of like size; each document is in one of them.

    Example:
        >>> from unnoted.documents.generator import generate_documents
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
    if settings.priors == "estimated":
        risk: Risk = LabelLikelihoodLoss(train.labelled_priors)
    else:
        risk = risk_of(settings, labels.priors(train))
    values = {name: getattr(settings, name) for name in Optimisation.model_fields}
    epochs = settings.fold_epochs or settings.epochs
    optimisation = Optimisation(**{**values, "epochs": epochs, "unlabelled_per_labelled": None})
    trainer = Trainer(
        model, risk, train, optimisation=optimisation, folder=folder, typed_relations=settings.typed_relations
    )
    trainer.train(resume=resume, tell=tell)
    return model
