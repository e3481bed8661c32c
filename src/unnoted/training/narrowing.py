"""Whether pairs that no sentence mentions both of are candidates, as labels of held-out documents say.

Facts reach over sentences, and who reads finds them there. But a label from a database says that a fact is
known, not that the text states it: such labels are also of entities that never meet, and the text does not
tell which. Where people noted what they read, reading tells as much of pairs that never meet as of pairs that
do. Where it tells less, their labels go by something else than the text, and so would whatever is predicted
of them. The model still learns from all pairs; it is not asked about these. And where it is open how much the
network counts beside a linear model of words, it counts nothing: it has learnt what these labels go by.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training.reading_gain import PairKinds, what_reading_tells


def fit_candidates(
    scores: LabelledScores,
    folds: Sequence[Sequence[Document]],
    candidates: CandidatePairs,
    tell: Callable[[str], None],
) -> tuple[CandidatePairs | None, dict[str, Any]]:
    """The pairs that labels speak for, None if these are all; and what a record should say of it.

    Args:
        scores: out of fold.
        folds: the documents of each fold, with the labels that the scores have.
        candidates: what was scored; it is never widened.
        tell: is given lines for the user.
    """
    known = pair_kinds(scores, folds)
    found = what_reading_tells(scores, known)
    # A relation that all pairs that meet are labelled with leaves nothing to tell apart.
    if found is None or scores.labelled[known.meet].all(0).any():
        tell("labels do not say whether pairs that never meet should be left out: they are kept")
        return None, {"kept": True}
    kept = not found.tells_less_apart
    tell(
        f"reading tells {found.apart:.2f} bits a label of pairs that no sentence mentions both of, "
        f"{found.together:.2f} of others (standard error {found.error:.2f}): "
        f"such pairs are {'kept' if kept else 'left out'}"
    )
    return None if kept else CandidatePairs(candidates.types, intra_sentence=True), {
        "kept": kept,
        **asdict(found),
    }


def pair_kinds(scores: LabelledScores, folds: Sequence[Sequence[Document]]) -> PairKinds:
    """What is known without reading of the pairs of documents, which are in folds."""
    known = {
        document.id: (number, [(entity.sentences, entity.type) for entity in document.entities])
        for number, fold in enumerate(folds)
        for document in fold
    }
    of_document = [known[name] for name in scores.documents]
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for document, *pair in zip(
        scores.document.tolist(), scores.head.tolist(), scores.tail.tolist(), strict=True
    ):
        fold, entities = of_document[document]
        (sentences, type), (others, other_type) = (entities[each] for each in pair)
        kind = numbers.setdefault((type, other_type), len(numbers))
        found.append((not sentences.isdisjoint(others), kind, fold))
    meet, types, fold_of = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return PairKinds(meet > 0, types, fold_of)
