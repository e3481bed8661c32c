"""Cross-fitting: every training document judged by a model that never saw its labels.

The documents are cut into folds, and for each fold a model is trained on the others, as the settings say, and
scores it. Where priors are to be estimated these models cannot know them: they learn how probable it is that
a fact was *noted*, by the likelihood of labels. From their scores priors are estimated, rules checked, and
probabilities calibrated. Where it is open how much a linear model counts (`lexical_share: fitted`), each fold
says that of its own model. Where it is open whether pairs that never meet are candidates
(`fitted_candidates`) the scores say that, too, and if they are not, the models of the folds are asked again,
about the other pairs only; an open share is then 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus
from unnoted.data.document import Document
from unnoted.io import read_json, write_json
from unnoted.losses import Risk
from unnoted.losses.losses import LabelLikelihoodLoss
from unnoted.models.model import RelationModel
from unnoted.priors.labelled_scores import LabelledScores
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

NARROWED = "in-one-sentence"
"""The part of that folder for what its models say if they are asked about pairs that meet only."""

SCORES = "scores.npz"
"""What the models of all folds said, in that folder."""

WORDS_ALONE = 1.0
"""What the linear model counts where labels do not go by the text: a network learns what they do go by, and
labels of other documents, which go by the same, cannot show that it is wrong."""

SHARE = "lexical-share-{}.json"
"""What the linear model counts in the model of a fold, by its number."""


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """What cross-fitting came to.

    Attributes:
        scores: of the models of the folds, out of fold.
        candidates: the pairs that the trained model is to be asked about; None if these are all.
        judged: the scores of these pairs.
        said: what a record should say of what was chosen.
    """

    scores: LabelledScores
    candidates: CandidatePairs | None
    judged: LabelledScores
    said: Mapping[str, Any]

    def tell_model(self, model: RelationModel, tell: Callable[[str], None]) -> None:
        """Let the trained model know what was chosen for it, and the user what words count."""
        if self.candidates is not None:
            model.candidates = self.candidates
        if (share := self.said.get("lexical_share")) is not None:
            model.set_lexical_share(share)
            tell(f"the linear model of words counts {share:.0%}, as cross-fitting tells")


def cross_fitted(settings: Settings, tell: Callable[[str], None], resume: bool = False) -> CrossFitted:
    """Cross-fit the documents of a run, and choose what is open in its settings.

    Args:
        settings: of a run.
        tell: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.
    """
    said = dict[str, Any]()
    scores = judged = cross_fit(settings, tell, resume)
    candidates = None
    if settings.fitted_candidates and settings.prior_file is None:  # which speaks of all pairs
        corpus = load_corpus(settings, settings.train)
        if not corpus.candidates.intra_sentence:
            documents = training_labels(settings, corpus).corpus.documents
            folds = fold_documents(documents, settings.folds, settings.seed)
            candidates, said["candidates"] = fit_candidates(scores, folds, corpus.candidates, tell)
    if candidates is not None:
        judged = cross_fit(settings, tell, resume, candidates)
    if settings.lexical_share == "fitted":
        said["lexical_share"] = fitted_share(_folder(settings, candidates), settings.folds)
    return CrossFitted(scores, candidates, judged, said)


def cross_fit(
    settings: Settings,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
    candidates: CandidatePairs | None = None,
) -> LabelledScores:
    """The out-of-fold scores of the training documents.

    What is finished is not repeated: scores are kept in the run's folder, fold by fold.

    Args:
        settings: of a run; what is said there of the encoder, the architecture, the start and the steps holds
            for the models of the folds too, and `fold_epochs` for how long they are trained.
        tell: is given lines for the user.
        resume: continue a fold that was interrupted from its last checkpoint.
        candidates: ask the models, which are trained already, about these pairs; without it, about all that
            they were trained on.

    Raises:
        ValueError: if there are fewer documents than folds.
    """
    kept = _folder(settings, candidates) / SCORES
    if kept.is_file():
        return LabelledScores.load(kept)
    labels = training_labels(settings, load_corpus(settings, settings.train))
    numbers = range(settings.folds)
    parts = [fit_fold(settings, number, tell, resume, labels, candidates) for number in numbers]
    joined = LabelledScores.joined(parts)
    joined.save(kept)
    return joined


def _folder(settings: Settings, candidates: CandidatePairs | None) -> Path:
    """Where scores of all pairs are kept, or of some candidates."""
    return settings.output / FOLDS / ("" if candidates is None else NARROWED)


def fit_fold(
    settings: Settings,
    number: int,
    tell: Callable[[str], None] = lambda line: None,
    resume: bool = False,
    labels: TrainingLabels | None = None,
    candidates: CandidatePairs | None = None,
) -> LabelledScores:
    """The scores of one fold: of its documents, by a model of the others. Folds need not know of each other.

    Args:
        settings: as for `cross_fit`.
        number: of the fold, from 0.
        tell: is given lines for the user.
        resume: continue from the last checkpoint of this fold.
        labels: of the documents of the settings, if they were read already.
        candidates: as for `cross_fit`.
    """
    folder = _folder(settings, candidates)
    kept = folder / f"scores-{number}.npz"
    if not kept.is_file():
        labels = labels or training_labels(settings, load_corpus(settings, settings.train))
        corpus = labels.corpus
        held_out = fold_documents(corpus.documents, settings.folds, settings.seed)[number]
        checkpoints = settings.output / FOLDS / str(number)
        if candidates is None:
            tell(f"fold {number + 1} of {settings.folds}: {len(corpus) - len(held_out):,} documents")
            model = fold_model(labels, held_out, checkpoints, tell, resume)
        else:
            # The training is over: the model is in its last checkpoint, and made anew only if that is gone.
            model = fold_model(labels, held_out, checkpoints, tell, resume=True)
            model.candidates = candidates
            folder.mkdir(exist_ok=True)
        if settings.lexical_share == "fitted":
            model.set_lexical_share(fit_share(model, held_out) if candidates is None else WORDS_ALONE)
            write_json(folder / SHARE.format(number), model.config.lexical_share)
        labelled_scores(model, held_out).save(kept)
    return LabelledScores.load(kept)


def fitted_share(folder: Path, folds: int) -> float:
    """What the linear model counts: the mean of what was best for each fold, once all are fitted."""
    shares = [read_json(folder / SHARE.format(number), ValueError) for number in range(folds)]
    return float(np.mean(shares).round(3))


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
