"""What out-of-fold scores are for: probabilities and the line after the main training."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training.settings import Settings
from unnoted.utils import plural

DENSEST = 0.95
"""Among some pairs a relation is never thought to hold more often, unless it does so among all."""


def calibrate(
    model: RelationModel,
    settings: Settings,
    scores: LabelledScores,
    train: Sequence[Document],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Let a trained model show calibrated probabilities, and decide where the expected F1 is best.

    The curves are fitted on out-of-fold scores. One multiplier for all says nothing of single relations, and
    then there is one curve for all.

    Facts between pairs that are no candidates are missed wherever the line is, and F1 counts them. That there
    are as many for each of their labels as there are among candidates is assumed.

    Args:
        model: a trained one.
        settings: of its run.
        scores: out of fold.
        train: the training documents with the labels that the scores have, of all pairs.
        tell: is given lines for the user.

    Returns:
        What a record should say of it.
    """
    meaning = model.meaning
    priors = priors_among(scores, meaning.priors)
    by_relation = settings.prior_file is not None
    missed = labels_elsewhere(train, model.candidates)
    elsewhere = missed * sum(priors.overall) / (sum(priors.labelled) or 1.0)
    model.meaning = meaning.calibrated(scores, priors, by_relation=by_relation, elsewhere=elsewhere)
    fitted = model.meaning.calibration
    assert fitted is not None, "it was just made"
    for each in fitted.disagreements()[:5]:
        times = each.stated / each.prior if each.prior else float("inf")
        tell(f"note: {each.relation} is stated {times:.1f} times as often as its prior says")
    if missed:
        tell(f"note: {plural(missed, 'label')} of pairs that are no candidates; such facts are missed")
    tell(f"calibrated on {plural(scores.pairs, 'pair')}; line at {fitted.line:.3f}")
    return {
        "pairs": scores.pairs,
        "line": fitted.line,
        "expected_f1": fitted.expected.best_f1,
        "selection": fitted.selection,
    }


def priors_among(scores: LabelledScores, priors: Priors | None) -> Priors:
    """The priors of scored pairs: as many facts for each label as there are among all pairs.

    What people have said to be false is not counted.

    Args:
        scores: of all pairs, or of some.
        priors: of all pairs; without them no label is missing.

    Example:
        >>> scores = LabelledScores(("spouse",), ("d1",), np.array([0, 0]), np.array([0, 1]),
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
