"""Whether pairs that no sentence mentions both of are predicted, as labels of held-out documents say.

Facts reach over sentences, and where a model finds them such pairs stay. But labels from a database are
also of entities that never meet in the text, and little in the text tells which. A model then states what is
likely anywhere, and is mostly wrong. Out of fold it shows: the best F1 on labels hardly falls when only pairs
that meet are stated, though the labels of all others count as missed. Such pairs are left out if what they
add is less than its standard error, and labels are enough to tell.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unnoted.documents import candidates
from unnoted.documents.candidates import Candidates, InOneSentence
from unnoted.documents.schema import Document
from unnoted.evaluation.curve import precision_recall_curve
from unnoted.model import RelationModel
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training.settings import Settings

RESAMPLES = 200
"""Of the documents, for a standard error."""

TELLING = 0.01
"""With a larger standard error, labels are too few to say anything."""


class Gain(NamedTuple):
    """What the pairs that never meet add to the best F1 on labels, with its standard error."""

    f1: float
    error: float

    @property
    def is_worth_it(self) -> bool:
        """Whether it is more than chance gives, or cannot be told."""
        return self.f1 > self.error or self.error > TELLING


def fit_candidates(
    model: RelationModel,
    settings: Settings,
    scores: LabelledScores,
    train: Sequence[Document],
    tell: Callable[[str], None],
) -> tuple[LabelledScores, dict[str, Any]]:
    """Let a trained model predict the pairs that labels say are worth it; what is told is not widened.

    Args:
        model: its candidate pairs may be narrowed.
        settings: of its run.
        scores: out of fold, of all pairs.
        train: the training documents.
        tell: is given lines for the user.

    Returns:
        The scores of the pairs that it predicts, and what a record should say of it.
    """
    rule = candidates.from_json(model.config.candidates)
    near = rule if isinstance(rule, InOneSentence) else InOneSentence(rule)
    meet = rows_of(near, scores, train)
    if meet.all():
        return scores, {"kept": True}
    gain = gain_of_others(scores, meet, settings.seed)
    kept = gain.is_worth_it
    if not kept:
        model.config.candidates = near.to_json()
        scores = scores.of_pairs(meet)
    said = f"add {100 * gain.f1:.2f} to F1 on labels out of fold (standard error {100 * gain.error:.2f})"
    tell(f"pairs that no sentence mentions both of {said}: {'kept' if kept else 'left out'}")
    return scores, {"kept": kept, "gain": gain.f1, "standard_error": gain.error}


def rows_of(rule: Candidates, scores: LabelledScores, documents: Iterable[Document]) -> NDArray[np.bool_]:
    """Which scored pairs are candidates by a rule, bool [P]."""
    allowed = {document.id: set(rule.pairs(document)) for document in documents}
    of_document = [allowed[name] for name in scores.documents]
    pairs = zip(scores.document.tolist(), scores.head.tolist(), scores.tail.tolist(), strict=True)
    return np.array([(head, tail) in of_document[number] for number, head, tail in pairs], dtype=bool)


def gain_of_others(scores: LabelledScores, meet: NDArray[np.bool_], seed: int) -> Gain:
    """What the pairs that never meet add.

    Args:
        scores: out of fold.
        meet: bool [P], which pairs some sentence mentions both of.
        seed: of the resamples.
    """
    documents = len(scores.documents)

    def counted(facts: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.bincount(scores.document, facts.sum(1), documents).astype(float)  # [D]

    noted = counted(scores.labelled)
    stated = [scores.margin >= _best_line(scores, rows) for rows in (np.ones_like(meet), meet)]
    stated[1] &= meet[:, None]
    found = [(counted(each), counted(each & scores.labelled)) for each in stated]
    draws = np.random.default_rng(seed).multinomial(documents, np.full(documents, 1 / documents), RESAMPLES)
    weights = np.vstack([np.ones(documents), draws])  # [1 + resamples, D]; the first are the documents
    both, near = (
        2 * weights @ true / np.maximum(weights @ (all_told + noted), 1) for all_told, true in found
    )
    return Gain(float(both[0] - near[0]), float(np.std((both - near)[1:])))


def _best_line(scores: LabelledScores, rows: NDArray[np.bool_]) -> float:
    """The margin from which on some pairs are to be stated for the best F1 on the labels of all."""
    noted = int(scores.labelled.sum())
    best = precision_recall_curve(scores.margin[rows].ravel(), scores.labelled[rows].ravel(), noted).best
    return np.inf if best is None else best.threshold
