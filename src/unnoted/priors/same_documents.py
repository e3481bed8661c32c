"""Scores and documents that belong together: those of other documents would tell nonsense."""

from pathlib import Path

from unnoted.common.errors import DataError, Defect, Kind
from unnoted.documents.corpus import Corpus
from unnoted.priors.labelled_scores import LabelledScores


def require_same_documents(scores: LabelledScores, corpus: Corpus, source: Path) -> None:
    """Refuse scores of other documents than these, or beside more labels than these have.

    Raises:
        DataError: names the file of the documents, what was found and what was expected.
    """
    noted = int(scores.labelled.sum())
    columns = set(scores.relations)
    ids = {document.id for document in corpus}
    facts = sum(relation in columns for document in corpus for _, _, relation in document.labels)
    if set(scores.documents) - ids or noted > facts:
        found = f"scores of {len(scores.documents)} documents with {noted} facts"
        expected = f"those of this file, {len(ids)} documents with {facts} facts"
        raise DataError(Defect(Kind.MALFORMED, str(source), None, "scores", found, expected))
