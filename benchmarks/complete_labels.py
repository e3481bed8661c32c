"""DocRED's training documents that also have complete labels: what is judged by them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data import Document, RelationVocabulary, load_documents
from unnoted.data.compare import match_entities
from unnoted.data.corpus import Corpus
from unnoted.data.document import Triple

DATA = Path(__file__).parents[2] / "shared/data/docred"

Truth = dict[str, frozenset[Triple]]
"""All facts of documents, by document."""


def truth_of(noted: list[Document], complete: list[Document]) -> Truth:
    """All facts of the documents whose entities are the same in both labellings, by document."""
    others = {document.id: document for document in complete}
    truth = {}
    for document in noted:
        other = others.get(document.id)
        mapping = None if other is None else match_entities(document, other)
        if other is not None and mapping is not None:
            back = {index: own for own, index in enumerate(mapping)}
            truth[document.id] = frozenset((back[h], back[t], r) for h, t, r in other.labels)
    return truth


def read_truth(data: Path) -> tuple[Corpus, Truth]:
    """The documents with their original labels, and the truth of those that have it."""
    relations = RelationVocabulary.from_file(data / "rel_info.json")
    noted, complete = (
        load_documents(data / f"{name}.json", vocabulary=relations)
        for name in ("train_annotated", "train_revised")
    )
    return noted, truth_of(list(noted), list(complete))


def known_pairs(scores: OutOfFoldScores, truth: Truth) -> NDArray[np.bool_]:
    """Which pairs are of documents whose truth is known, bool [P]."""
    known = [number for number, name in enumerate(scores.documents) if name in truth]
    return np.isin(scores.document, known)
