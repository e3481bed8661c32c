"""Scores and documents that belong together: scores of other documents would tell nonsense."""

from pathlib import Path

from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data.corpus import Corpus
from unnoted.errors import DataError, Defect, Kind


def require_same_documents(
    scores: OutOfFoldScores, corpus: Corpus, source: Path, *, labels: bool = True
) -> None:
    """Refuse scores of other documents or relations than these.

    Args:
        scores: of the documents.
        corpus: the documents.
        source: the file to name.
        labels: whether scores must not have more labels than the documents, either.

    Raises:
        DataError: names the file, what was found and what was expected.
    """
    columns = set(scores.relations)
    ids = {document.id for document in corpus}
    facts = sum(relation in columns for document in corpus for _, _, relation in document.labels)
    noted = int(scores.labelled.sum())
    if set(scores.documents) - ids or (labels and noted > facts):
        found = f"scores of {len(scores.documents)} documents with {noted} facts"
        expected = f"those of this file, {len(ids)} documents with {facts} facts"
    elif columns.isdisjoint(corpus.relations):
        found = f"scores of {', '.join(scores.relations[:3])}, ..."
        expected = f"those of {', '.join(corpus.relations.ids[:3])}, ..."
    else:
        return
    raise DataError(Defect(Kind.MALFORMED, str(source), None, "scores", found, expected))
