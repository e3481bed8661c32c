"""Calibrates a trained model on out-of-fold scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unnoted.calibration import OutOfFoldScores, fit_calibration
from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.training.settings import Settings
from unnoted.utils import plural

DENSEST = 0.95
"""Among some pairs a relation is never thought to hold more often, unless it does so among all."""


def calibrate(
    model: RelationModel,
    settings: Settings,
    scores: OutOfFoldScores,
    train: Sequence[Document],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Give a trained model calibrated probabilities and the threshold of the best expected F1.

    Facts between pairs that are no candidates are missed at every threshold, and F1 counts them. They are
    assumed to be labelled as often as those of candidates.

    Args:
        model: a trained one.
        settings: of its run.
        scores: out of fold.
        train: the training documents with the labels that the scores have, of all pairs.
        tell: is given lines for the user.

    Returns:
        What a record should say of it.
    """
    model.check_relations(scores.relations)
    decoder = model.decoder
    priors = priors_among(scores, decoder.priors)
    missed = labels_elsewhere(train, model.candidates)
    elsewhere = missed * sum(priors.overall) / (sum(priors.labelled) or 1.0)
    fitted = fit_calibration(scores, priors, facts_elsewhere=elsewhere)
    model.decoder = replace(decoder, calibration=fitted)
    if missed:
        tell(f"note: {plural(missed, 'label')} of pairs that are no candidates; such facts are missed")
    tell(f"calibrated on {plural(scores.pairs, 'out-of-fold pair')}; threshold {fitted.threshold:.3f}")
    return {
        "pairs": scores.pairs,
        "threshold": fitted.threshold,
        "expected_f1": fitted.expected.best_f1,
        "propensity_slope": fitted.propensity_slope,
    }


def priors_among(scores: OutOfFoldScores, priors: Priors | None) -> Priors:
    """The priors of scored pairs: as many facts for each label as there are among all pairs.

    What people have said to be false is not counted.

    Args:
        scores: of all pairs, or of some.
        priors: of all pairs; without them no label is missing.

    Example:
        >>> scores = OutOfFoldScores(("spouse",), ("d1",), np.array([0, 0]), np.array([0, 1]),
        ...     np.array([1, 0]), np.array([[0.2], [-0.1]]), np.array([[True], [False]]))
        >>> priors_among(scores, Priors(("spouse",), (0.25,), (0.3,))).overall
        (0.6,)
    """
    labelled = scores.labelled_share
    if priors is None:
        return Priors(scores.relations, tuple(labelled), tuple(labelled))
    labelled_before, overall = np.array(priors.labelled), np.array(priors.overall)
    denser = np.divide(labelled, labelled_before, out=np.ones_like(labelled), where=labelled_before > 0)
    among = np.minimum(denser * overall, np.maximum(overall, DENSEST)).clip(min=labelled)
    return Priors(scores.relations, tuple(labelled), tuple(among))


def labels_elsewhere(documents: Iterable[Document], candidates: CandidatePairs) -> int:
    """How many labels are of pairs that are no candidates.

    Example:
        >>> from unnoted.data.candidates import CandidatePairs
        >>> from unnoted.data.synthetic import generate_documents
        >>> documents = list(generate_documents(20))
        >>> labels_elsewhere(documents, CandidatePairs())
        0
        >>> labels_elsewhere(documents, CandidatePairs(intra_sentence=True)) > 0
        True
    """
    return sum(
        not candidates.allows(document.entities[head], document.entities[tail])
        for document in documents
        for head, tail, _ in document.labels
    )
